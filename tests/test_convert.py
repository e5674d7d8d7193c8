"""`crdlint convert`: v1beta1 CRDs become v1, and nothing that was kept is lost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from crdlint import converting, document
from crdlint.cli import cli
from crdlint.edits import plain, same
from crdlint.objects.prune import prune
from crdlint.shape import from_v1beta1, shape

if TYPE_CHECKING:
    from pathlib import Path

    from click.testing import Result

OLD = """\
# A widget.
apiVersion: apiextensions.k8s.io/v1beta1
kind: CustomResourceDefinition
metadata:
  name: widgets.example.com
spec:
  group: example.com
  names:
    kind: Widget   # camel
    plural: widgets
  version: v1
  versions:
  - name: v1
    served: true
    storage: true
  additionalPrinterColumns:
  # how big
  - JSONPath: .spec.size
    name: "Size"
    type: integer
  subresources:
    status: {}
  validation:
    # the whole
    openAPIV3Schema:
      properties:
        spec:
          type: object
          description: |
            What is wanted.

              Indented.
          properties:
            size: {type: integer}
            any: {}
            open:
              type: object
              additionalProperties: true
"""
NEW = """\
# A widget.
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: widgets.example.com
spec:
  group: example.com
  names:
    kind: Widget   # camel
    plural: widgets
  scope: Namespaced
  preserveUnknownFields: false
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      # the whole
      openAPIV3Schema:
        properties:
          spec:
            type: object
            x-kubernetes-preserve-unknown-fields: true
            description: |
              What is wanted.

                Indented.
            properties:
              size: {type: integer}
              any: {x-kubernetes-preserve-unknown-fields: true}
              open:
                type: object
                x-kubernetes-preserve-unknown-fields: true
        type: object
        x-kubernetes-preserve-unknown-fields: true
    subresources:
      status: {}
    additionalPrinterColumns:
    # how big
    - jsonPath: .spec.size
      name: "Size"
      type: integer
"""
HEAD = OLD[: OLD.index("  version: v1")]


def run(*arguments: str, text: str | None = None) -> Result:
    return CliRunner().invoke(cli, ["convert", *arguments], input=text, standalone_mode=False)


def converted(text: str, *, keep: bool = True) -> dict[str, Any]:
    result = converting.convert(text.encode(), "crd.yaml", keep=keep)
    assert result.count == 1, result.failed
    (new,) = document.read(result.data, "crd.yaml")
    assert new.error is None
    data: dict[str, Any] = plain(new.data)
    return data


def test_comments_and_order_stay() -> None:
    result = converting.convert(OLD.encode(), "crd.yaml")
    assert result.data.decode() == NEW
    assert not result.left
    assert not result.failed
    again = converting.convert(NEW.encode(), "crd.yaml")
    assert (again.data.decode(), again.count) == (NEW, 0)


CONVERSION = (
    HEAD
    + """\
  scope: Cluster
  versions:
  - {name: v2, served: true, storage: true}
  - name: v1
    served: true
    storage: false
  conversion:
    strategy: Webhook  # ours
    webhookClientConfig:
      service: {name: hook, namespace: system}
  preserveUnknownFields: false
  validation:
    openAPIV3Schema:
      type: object
      properties:
        spec: {type: object}
"""
)
OWN = (
    HEAD
    + """\
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema: {type: object, properties: {spec: {type: object}}}
    additionalPrinterColumns:
    - {name: A, type: string, JSONPath: .spec.a}
  - name: v1beta1
    served: true
    storage: false
    schema:
      openAPIV3Schema: {type: object, properties: {spec: {type: object}}}
"""
)
BARE = HEAD + "  version: v1alpha1\n"
NULLS = (
    HEAD + "  version: v1\n  validation:\n  subresources: null\n  additionalPrinterColumns: []\n"
)


@pytest.mark.parametrize(
    "text", [OLD, CONVERSION, OWN, BARE, NULLS], ids="old conversion own bare nulls".split()
)
def test_the_new_crd_means_what_the_old_one_did(text: str) -> None:
    """Without the marks that keep unknown fields, and with the same defaults."""
    new = converted(text, keep=False)
    (old,) = document.read(text.encode(), "")
    meant = plain(from_v1beta1(plain(old.data)))
    meant["spec"]["preserveUnknownFields"] = False
    for version in meant["spec"]["versions"]:
        root = ((version.get("schema") or {}).get("openAPIV3Schema")) or {
            "x-kubernetes-preserve-unknown-fields": True
        }
        root["type"] = "object"
        version["schema"] = {"openAPIV3Schema": root}
    assert same(shape(new).crd, shape(meant).crd)


def test_a_webhook_moves_and_says_its_review_version() -> None:
    conversion = converted(CONVERSION)["spec"]["conversion"]
    assert conversion == {
        "strategy": "Webhook",
        "webhook": {
            "clientConfig": {"service": {"name": "hook", "namespace": "system"}},
            "conversionReviewVersions": ["v1beta1"],
        },
    }


@pytest.mark.parametrize("text", [OLD, OWN, BARE], ids="old own bare".split())
def test_what_was_kept_is_kept(text: str) -> None:
    extra = {"x": [{"y": {"z": 1}}]}
    thing = {
        "apiVersion": "example.com/v1",
        "kind": "Widget",
        "metadata": {"name": "a"},
        "more": extra,
        "spec": {"size": 1, "any": extra, "open": extra, "more": extra},
    }
    for version in shape(converted(text)).crd["spec"]["versions"]:
        schema = version["schema"]["openAPIV3Schema"]
        assert prune(thing, schema, root=True) == (thing, [])


def test_what_was_pruned_is_pruned() -> None:
    text = OLD.replace("  version: v1\n", "  version: v1\n  preserveUnknownFields: false\n")
    assert "x-kubernetes-preserve" not in str(
        converted(text)["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"][
            "properties"
        ].get("size")
    )
    assert converted(text) == converted(text, keep=False)


def test_flow_style_and_json() -> None:
    import json

    data = plain(next(document.read(OLD.encode(), "")).data)
    assert same(converted(json.dumps(data)), converted(OLD))
    assert same(converted(json.dumps(data, indent=1)), converted(OLD))
    import yaml

    assert same(converted(yaml.safe_dump(data, default_flow_style=None)), converted(OLD))


def test_schemas_become_structural_where_that_is_safe() -> None:
    text = HEAD + (
        "  version: v1\n"
        "  validation:\n"
        "    openAPIV3Schema:\n"
        "      properties:\n"
        "        metadata: {type: object, required: [name]}\n"
        "        spec:\n"
        "          properties:\n"
        "            port:\n"
        "              anyOf:\n"
        "              - type: string\n"
        "              - type: integer\n"
        "            size: {oneOf: [{type: integer, minimum: 1}, {type: integer, maximum: -1}]}\n"
    )
    result = converting.convert(text.encode(), "crd.yaml")
    assert not result.left
    (new,) = document.read(result.data, "")
    schema = new.data["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]
    assert schema["metadata"] == {"type": "object"}
    port = schema["spec"]["properties"]["port"]
    assert plain(port) == {"x-kubernetes-int-or-string": True}


NOT_STRUCTURAL = OLD.replace("any: {}", "any: {oneOf: [{type: string}, {type: object}]}")


def test_what_is_left_is_named_and_the_rest_done(tmp_path: Path) -> None:
    file = tmp_path / "crd.yaml"
    file.write_text(NOT_STRUCTURAL)
    result = run("--write", str(file))
    assert result.return_value == 1
    assert f"{file}:" in result.stderr
    assert "junctor-keyword: .spec.any type cannot stand inside oneOf" in result.stderr
    assert "apiextensions.k8s.io/v1\n" in file.read_text()


def test_one_file_goes_to_stdout(tmp_path: Path) -> None:
    file = tmp_path / "crd.yaml"
    file.write_text(OLD)
    result = run(str(file))
    assert (result.stdout, result.return_value) == (NEW, 0)
    assert file.read_text() == OLD
    assert run("-", text=OLD).stdout == NEW
    assert "+apiVersion: apiextensions.k8s.io/v1\n" in run("--diff", str(file)).stdout


def test_several_files_are_not_mixed_on_stdout(tmp_path: Path) -> None:
    for name in ("a.yaml", "b.yaml"):
        (tmp_path / name).write_text(OLD)
    assert "cannot all go to stdout" in str(run(str(tmp_path)).exception)
    assert run("--write", str(tmp_path)).return_value == 0
    assert (tmp_path / "b.yaml").read_text() == NEW


def test_other_documents_stay() -> None:
    other = "kind:  ConfigMap\ndata: {a: yes}\n"
    text = f"{other}---\n{OLD}---\n{other}"
    new = converting.convert(text.encode(), "x").data.decode()
    assert new == f"{other}---\n{NEW}---\n{other}"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (HEAD.replace("  group: example.com\n", "  group: x\n"), "it has no version"),
        (
            "apiVersion: apiextensions.k8s.io/v1beta1\nkind: CustomResourceDefinition\n",
            "it has no spec",
        ),
        (HEAD + "  versions: 1\n", "its versions are no list of versions"),
        (
            HEAD + "  version: v1\n  additionalPrinterColumns: [1]\n",
            "its printer columns are no list of columns",
        ),
    ],
)
def test_what_cannot_be_converted_stays(text: str, why: str) -> None:
    result = converting.convert(text.encode(), "x")
    assert result.data.decode() == text
    assert [reason for _, _, reason in result.failed] == [why]


def test_a_document_that_does_not_parse_is_not_passed_over() -> None:
    text = HEAD + "  version: v1\n  x: [\n"
    result = converting.convert((text + "---\n" + HEAD + "  version: v1\n").encode(), "x")
    assert result.data.decode().startswith(text)
    ((line, _, why),) = result.failed
    assert line >= text.count("\n")
    assert "did not find" in why
    assert result.count == 1
    v1 = text.replace("v1beta1", "v1")
    assert converting.convert(v1.encode(), "x").failed == []
