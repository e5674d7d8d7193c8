"""Conversion between versions: strategy, webhook and review versions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crdlint import gourl, objectmeta
from crdlint.rule import SPEC, Problem, lint

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crdlint.rule import Problems
    from crdlint.tree import Node, Place

REVIEW_VERSIONS = ("v1", "v1beta1")
CA_BUNDLE_CHECKED = 31  # from this minor on a CRD with a bad bundle is never established
WEBHOOK = ("spec", "conversion", "webhook")
CLIENT = (*WEBHOOK, "clientConfig")


def _conversion(node: Node) -> Mapping[str, Any]:
    return node.crd.spec.get("conversion") or {}


def _webhook(node: Node) -> tuple[Mapping[str, Any] | None, list[str]]:
    """Return the client config, None where there is none, and the review versions."""
    webhook = _conversion(node).get("webhook") or {}
    return webhook.get("clientConfig"), webhook.get("conversionReviewVersions") or []


@lint("conversion-strategy", on="crd", stage=SPEC)
def conversion_strategy(node: Node) -> Problems:
    """Refuse a strategy that is neither None nor Webhook; source: CRD conversion validation.

    Without strategy Webhook the server refuses the webhook's parts as well.
    """
    conversion = node.crd.spec.get("conversion")
    if conversion is None:
        return
    strategy = conversion.get("strategy") or ""
    place = node.at("spec", "conversion", "strategy")
    if not strategy:
        message = "conversion needs a strategy: None or Webhook"
        yield Problem(place, message, refused=["Required", *_forbidden(node)])
    elif strategy not in ("None", "Webhook"):
        message = f"{strategy!r} is neither None nor Webhook"
        yield Problem(place, message, refused=["NotSupported", *_forbidden(node)])


def _forbidden(node: Node) -> list[Any]:
    client, versions = _webhook(node)
    refused: list[Any] = []
    if client is not None:
        refused.append(("Forbidden", node.at(*CLIENT)))
    if versions:
        refused.append(("Forbidden", node.at(*WEBHOOK, "conversionReviewVersions")))
    return refused


@lint("conversion-none-webhook", on="crd", stage=SPEC)
def conversion_none_webhook(node: Node) -> Problems:
    """Refuse a webhook that strategy None does not call; source: CRD conversion validation."""
    if _conversion(node).get("strategy") == "None" and (refused := _forbidden(node)):
        message = "is refused beside strategy None, which calls no webhook"
        related = [(node.at("spec", "conversion", "strategy"), "the strategy")]
        yield Problem(node.at(*WEBHOOK), message, refused=refused, related=related)


@lint("conversion-webhook-client-config", on="crd", stage=SPEC)
def client_config(node: Node) -> Problems:
    """Refuse a webhook without exactly one address; source: CRD conversion validation."""
    if _conversion(node).get("strategy") != "Webhook":
        return
    client, _ = _webhook(node)
    place = node.at(*CLIENT)
    if client is None:
        message = "strategy Webhook needs the address of a webhook"
        yield Problem(place, message, refused=["Required"])
    elif (client.get("url") is None) == (client.get("service") is None):
        message = "has url and service, and one of them may be given"
        if client.get("url") is None:
            message = "has neither url nor service, so there is nothing to call"
        yield Problem(place, message, refused=["Required"])


def _only(node: Node, key: str) -> Any:
    """Return the url or the service of a webhook when the server looks at it."""
    if _conversion(node).get("strategy") != "Webhook":
        return None
    client, _ = _webhook(node)
    other = "service" if key == "url" else "url"
    return None if client is None or client.get(other) is not None else client.get(key)


@lint("conversion-webhook-url", on="crd", stage=SPEC)
def webhook_url(node: Node) -> Problems:
    """Refuse URLs that are not https://host/path; source: ValidateWebhookURL."""
    text = _only(node, "url")
    if text is None:
        return
    place = node.at(*CLIENT, "url")
    try:
        url = gourl.parse(text)
    except gourl.URLError as error:
        # the server gives an unreadable URL the type of a missing one
        yield Problem(place, f"{text!r} is no URL: {error}", refused=["Required"])
        return
    wrong = []
    if url.scheme != "https":
        wrong.append("its scheme is not https")
    if not url.host:
        wrong.append("it names no host")
    if url.user is not None:
        wrong.append("it has a user")
    if url.fragment:
        wrong.append("it has a fragment")
    if url.query:
        wrong.append("it has a query")
    if wrong:
        message = f"{text!r} is refused: {' and '.join(wrong)}"
        yield Problem(place, message, refused=["Invalid"])


@lint("conversion-webhook-service", on="crd", stage=SPEC)
def webhook_service(node: Node) -> Problems:
    """Refuse a service without name or namespace, or with a bad port.

    The server has the two names swapped and reports one at the place of the other. Source:
    ValidateWebhookService and its caller.
    """
    service = _only(node, "service")
    if service is None:
        return

    def at(key: str) -> Place:
        return node.at(*CLIENT, "service", key)

    for key, said in (("name", "namespace"), ("namespace", "name")):
        if not service.get(key):
            message = f"a service needs its {key}"
            yield Problem(at(key), message, refused=[("Required", at(said))])
    port = service.get("port", 443)
    if not 1 <= port <= 65535:
        yield Problem(at("port"), f"{port} is no port: 1 to 65535", refused=["Invalid"])


@lint("conversion-webhook-path", on="crd", stage=SPEC)
def webhook_path(node: Node) -> Problems:
    """Refuse paths whose segments are no DNS names; source: ValidateWebhookService."""
    path = (_only(node, "service") or {}).get("path") or ""
    if path in ("", "/"):
        return
    place = node.at(*CLIENT, "service", "path")
    if not path.startswith("/"):
        yield Problem(place, f"{path!r} does not start with /", refused=["Invalid"])
        return
    for step in path[1:].removesuffix("/").split("/"):
        if not step or objectmeta.dns1123_subdomain(step):
            what = f"{step!r} is no lower-case DNS name" if step else "it has an empty segment"
            yield Problem(place, f"{path!r} is refused: {what}", refused=["Invalid"])
            return


@lint("conversion-review-versions", on="crd", stage=SPEC)
def review_versions(node: Node) -> Problems:
    """Refuse review versions that the server cannot send; source: CRD conversion validation."""
    if _conversion(node).get("strategy") != "Webhook":
        return
    _, versions = _webhook(node)
    keys = (*WEBHOOK, "conversionReviewVersions")
    if not versions:
        message = "strategy Webhook needs the ConversionReview versions that the webhook reads"
        yield Problem(node.at(*keys), message, refused=["Required"])
        return
    seen: set[str] = set()
    for i, version in enumerate(versions):
        if version in seen:
            yield Problem(node.at(*keys, i), f"{version!r} is listed twice", refused=["Invalid"])
        elif wrong := objectmeta.dns1035_label(version):
            message = f"{version!r} is refused: {wrong[0]}"
            yield Problem(node.at(*keys, i), message, refused=["Invalid"])
        seen.add(version)
    if not seen.intersection(REVIEW_VERSIONS) and not _always_unknown(node):
        message = f"{', '.join(versions)}: the API server sends v1 or v1beta1"
        yield Problem(node.at(*keys), message, refused=["Invalid"])


def _always_unknown(node: Node) -> bool:
    """Tell whether the stored CRD has no known review version either, which excuses an update."""
    if node.crd.old is None:
        return False
    _, old = _webhook(node.crd.old.root)
    return bool(old) and not set(old).intersection(REVIEW_VERSIONS)


@lint("conversion-review-v1-missing", on="crd")
def review_v1_missing(node: Node) -> Problems:
    """Report webhooks that read only v1beta1 reviews, whose removal would break them."""
    _, versions = _webhook(node)
    called = _conversion(node).get("strategy") == "Webhook"
    if called and "v1beta1" in versions and "v1" not in versions:
        message = "only v1beta1 is listed, which has been deprecated since Kubernetes 1.16"
        yield Problem(node.at(*WEBHOOK, "conversionReviewVersions"), message)


@lint("conversion-webhook-needless", on="crd")
def webhook_needless(node: Node) -> Problems:
    """Report a webhook for a CRD that has nothing to convert."""
    versions = node.crd.versions
    if _conversion(node).get("strategy") == "Webhook" and len(versions) == 1:
        message = (
            f"Webhook, but {versions[0].get('name')} is the only version, so it is never called"
        )
        yield Problem(node.at("spec", "conversion", "strategy"), message)


@lint("ca-bundle-placeholder", "ca-bundle-invalid", on="crd")
def ca_bundle(node: Node) -> Problems:
    """Report bundles without a certificate: an injector must fill them in, or no call succeeds."""
    client, _ = _webhook(node)
    bundle = (client or {}).get("caBundle")
    if not isinstance(bundle, str) or not bundle:
        return
    place = node.at(*CLIENT, "caBundle")
    import base64
    import binascii

    try:
        pem = base64.b64decode(bundle, validate=False)
    except (binascii.Error, ValueError):
        return
    if b"-----BEGIN CERTIFICATE-----" in pem:
        return
    late = node.crd.minor >= CA_BUNDLE_CHECKED
    if len(pem.strip()) < 32:
        message = "a placeholder, with no certificate in it"
        rule = "ca-bundle-placeholder"
    else:
        message = "no PEM certificate in it"
        rule = "ca-bundle-invalid"
    consequence = "the API is never served" if late else "every call of the webhook fails"
    yield Problem(place, f"{message}: until it is replaced, {consequence}", rule=rule)
