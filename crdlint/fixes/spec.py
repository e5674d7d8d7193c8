"""Cures for what stands in spec outside of schemas: versions, conversion, unknown fields."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crdlint.fixes.cure import cure, drop, put, rename, schema_path
from crdlint.rules.versions import WARNING_BYTES, priority

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crdlint.document import Path
    from crdlint.edits import Change
    from crdlint.fixes.cure import Case

CONVERSION = ("spec", "conversion")
WEBHOOK = (*CONVERSION, "webhook")
PRESERVE = "x-kubernetes-preserve-unknown-fields"
KEPT = ("unknown-fields-kept-root", "opaque-root")  # what is said of a schema that keeps all
META_FIELDS = ("apiVersion", "kind", "metadata")


def versions_of(case: Case) -> list[Any]:
    versions = case.get("spec", "versions")
    return versions if isinstance(versions, list) else []


@cure("storage-version", safe=False)
def storage_version(case: Case) -> Iterator[Change]:
    """Store one version: of those that are marked, else of those served, what clients prefer."""
    versions = versions_of(case)
    if not versions or not all(isinstance(version, dict) for version in versions):
        return
    marked = [i for i, version in enumerate(versions) if version.get("storage") is True]
    among = marked or [i for i, v in enumerate(versions) if v.get("served")] or range(len(versions))
    lasting = [i for i in among if not versions[i].get("deprecated")] or among
    best = max(lasting, key=lambda i: priority(str(versions[i].get("name") or "")))
    if not marked:
        yield put(("spec", "versions", best, "storage"), True, after="served")
    for i in marked:
        if i != best:
            yield put(("spec", "versions", i, "storage"), False)


@cure("deprecation-warning")
def deprecation_warning(case: Case) -> Iterator[Change]:
    """Deprecate the version that has a warning, and write the warning on one line."""
    text, version = case.value, case.path[:-1]
    if not isinstance(text, str):
        return
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    if not line:
        yield drop(case.path)
        return
    if len(line.encode("utf-8", "surrogatepass")) > WARNING_BYTES:
        return
    if line != text:
        yield put(case.path, line)
    if case.get(*version, "deprecated") is not True:
        yield put((*version, "deprecated"), True, after="storage")


@cure("preserve-unknown-fields-true", brings=KEPT)
def keep_in_schemas(case: Case) -> Iterator[Change]:
    """Keep unknown fields by the schema instead, everywhere where they were kept."""
    yield drop(("spec", "preserveUnknownFields"))
    for i, _ in enumerate(versions_of(case)):
        root = ("spec", "versions", i, "schema", "openAPIV3Schema")
        schema = case.get(*root)
        if isinstance(schema, dict):
            for path, key, value in open_objects(schema):
                where = (*root, *path, key)
                yield drop(where) if value is None else put(where, value, after="type")


def open_objects(root: dict[str, Any]) -> Iterator[tuple[Path, str, Any]]:
    """Yield what to set so that nothing below a schema is pruned: (way, keyword, value or None).

    None says that the keyword goes. x-kubernetes-preserve-unknown-fields speaks for one level:
    fields of an object that declares some are pruned again, and so are those of objects in a map
    of anything. The metadata of a resource is never pruned by its schema.
    """
    stack: list[tuple[Path, dict[str, Any], bool]] = [((), root, True)]
    while stack:
        path, schema, resource = stack.pop()
        kind, extra = schema.get("type"), schema.get("additionalProperties")
        if kind == "array" and not schema.get("items"):
            yield path, "items", {PRESERVE: True}
        if kind in ("object", None) and not isinstance(extra, dict):
            if extra is not None:
                yield path, "additionalProperties", None
            if not schema.get(PRESERVE) and not schema.get("x-kubernetes-int-or-string"):
                yield path, PRESERVE, True
        properties = schema.get("properties")
        whole = resource or schema.get("x-kubernetes-embedded-resource") is True
        for name, below in properties.items() if isinstance(properties, dict) else ():
            if isinstance(below, dict) and not (whole and name in META_FIELDS):
                stack.append(((*path, "properties", name), below, False))
        stack += [
            ((*path, key), schema[key], False)
            for key in ("items", "additionalProperties")
            if isinstance(schema.get(key), dict) and (schema[key] or key != "items")
        ]


@cure("conversion-none-webhook")
def no_webhook(case: Case) -> Iterator[Change]:
    """Take away what only strategy Webhook reads."""
    if case.get(*WEBHOOK, "clientConfig"):
        case.doubt()
    yield drop(WEBHOOK)


@cure("conversion-strategy")
def conversion_strategy(case: Case) -> Iterator[Change]:
    """Spell the strategy as the server does; take it from what else conversion has."""
    value = case.get(*CONVERSION, "strategy")
    word = value.strip().lower() if isinstance(value, str) else ""
    known = {"none": "None", "webhook": "Webhook"}.get(word)
    if known is None:
        known = "Webhook" if case.get(*WEBHOOK, "clientConfig") else ""
        if word:
            case.doubt()
    if known == "Webhook" and not case.get(*WEBHOOK, "clientConfig"):
        case.doubt()
        known = "None"
    if known:
        yield put((*CONVERSION, "strategy"), known)
        if known == "None" and case.has(*WEBHOOK):
            case.doubt()
            yield drop(WEBHOOK)
    elif case.has(*CONVERSION):
        if case.has(*WEBHOOK):
            case.doubt()
        yield drop(CONVERSION)


@cure("conversion-review-versions", safe=False)
def review_versions(case: Case) -> Iterator[Change]:
    """Say that the webhook reads v1."""
    if isinstance(case.get(*WEBHOOK), dict):
        yield put((*WEBHOOK, "conversionReviewVersions"), ["v1"], after="clientConfig")


@cure("conversion-webhook-needless", safe=False)
def no_conversion(case: Case) -> Iterator[Change]:
    """Take a conversion away that is never called."""
    yield drop(case.path[:2])


@cure("ca-bundle-placeholder", safe=False)
def no_placeholder(case: Case) -> Iterator[Change]:
    """Take a caBundle away that an injector is to write."""
    yield drop(case.path)


@cure("unknown-field", "unknown-field-dropped", safe=False)
def unknown_field(case: Case) -> Iterator[Change]:
    """Correct the spelling of a field, else take away what the server drops."""
    if not case.path or not case.has(*case.path):
        return
    key, around = str(case.path[-1]), case.path[:-1]
    near = _meant(key, _known_fields(around))
    if near and not case.has(*around, near):
        yield rename(case.path, near)
    else:
        yield drop(case.path)


def _meant(key: str, known: list[str]) -> str:
    """Return the field that a misspelt one stands for, "" where none is near."""
    from difflib import get_close_matches

    same = [name for name in known if name.lower() == key.lower()]
    return next(iter(same or get_close_matches(key, known, n=1, cutoff=0.8)), "")


def _known_fields(around: Path) -> list[str]:
    """Return the fields of the API object that a path leads to."""
    from crdlint import shape

    if "openAPIV3Schema" in around:
        if schema_path(around) == around:
            return list(shape.JSON_SCHEMA)
        return list(shape.VALIDATION) if "x-kubernetes-validations" in around else []
    steps = tuple(step for step in around if isinstance(step, str))
    return list(_OBJECTS.get(steps, ()))


def _objects() -> dict[tuple[str, ...], Any]:
    from crdlint import shape

    version = ("spec", "versions")
    return {
        (): shape.CRD,
        ("metadata",): shape.OBJECT_META,
        ("spec",): shape.SPEC,
        ("spec", "names"): shape.NAMES,
        version: shape.VERSION,
        (*version, "subresources", "scale"): shape.SCALE,
        (*version, "additionalPrinterColumns"): shape.COLUMN,
        CONVERSION: shape.CONVERSION,
        (*WEBHOOK, "clientConfig"): shape.CLIENT_CONFIG,
    }


_OBJECTS = _objects()
