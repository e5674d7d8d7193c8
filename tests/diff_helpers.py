"""Comparing two texts in tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crdlint import differ, document, kubernetes

if TYPE_CHECKING:
    from crdlint.finding import Finding


def compare(
    before: str,
    after: str,
    *,
    minor: int = kubernetes.NEWEST,
    fold: bool = True,
    names: tuple[str, str] = ("old.yaml", "new.yaml"),
) -> list[Finding]:
    """Return what `diff` finds between two texts."""
    old, new = (
        document.read(text.encode(), name)
        for text, name in zip((before, after), names, strict=True)
    )
    return differ.diff(old, new, differ.Options(minor, fold=fold))[0]


def schema(body: str, name: str = "v1") -> str:
    """Return a small CRD with a schema, given as YAML."""
    indented = "".join(f"        {line}\n" for line in body.splitlines())
    return (
        "apiVersion: apiextensions.k8s.io/v1\n"
        "kind: CustomResourceDefinition\n"
        "metadata:\n  name: widgets.example.com\n"
        "spec:\n  group: example.com\n  scope: Namespaced\n"
        "  names: {plural: widgets, singular: widget, kind: Widget, listKind: WidgetList}\n"
        "  versions:\n"
        f"  - name: {name}\n    served: true\n    storage: true\n"
        "    schema:\n      openAPIV3Schema:\n"
        f"{indented}"
    )
