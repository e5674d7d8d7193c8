"""Served versions beside one another: what conversion None does to objects that travel."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

from crdlint.compatibility import CHANGED, LOSSY, REFUSED, Row, compare
from crdlint.rule import Problem, lint

if TYPE_CHECKING:
    from crdlint.rule import Problems
    from crdlint.tree import Node

SHOWN = 3


@lint("conversion-none-lossy", "conversion-none-differs", on="crd")
def conversion_none(crd: Node) -> Problems:
    """Report served versions whose schemas differ although nothing converts between them.

    One finding a pair of versions and direction. Source: conversion None only changes apiVersion.
    """
    spec = crd.crd.spec
    if (spec.get("conversion") or {}).get("strategy", "None") != "None":
        return
    if crd.crd.hoisted("schema"):
        return
    served = [node for node in crd.children() if node.get("served")]
    for a, b in combinations(served, 2):
        schemas = [next(iter(node.children()), None) for node in (a, b)]
        if schemas[0] is None or schemas[1] is None:
            continue
        rows = list(compare(schemas[0].data, schemas[1].data))
        for lacking, node, other in (("a", a, b), ("b", b, a)):
            lost = [row for row in rows if row.verdict == LOSSY and row.lacking == lacking]
            if lost:
                name, full = node.get("name"), other.get("name")
                message = (
                    f"{name} lacks {_listed(lost)} of {full}, and conversion is None: "
                    f"an update through {name} drops {'them' if len(lost) > 1 else 'it'}"
                )
                related = [(other.at("name"), "declared in this version")]
                yield Problem(
                    node.at("name"), message, rule="conversion-none-lossy", related=related
                )
        refused = [row for row in rows if row.verdict == REFUSED]
        if refused:
            first = refused[0]
            more = f", and {len(refused) - 1} more fields differ" if len(refused) > 1 else ""
            message = (
                f"{first.field or 'the root'} {first.what} of {a.get('name')} and {b.get('name')}, "
                f"and conversion is None: objects that one takes the other refuses{more}"
            )
            related = [(a.at("name"), "the other version")]
            yield Problem(b.at("name"), message, rule="conversion-none-differs", related=related)


@lint("default-differs-between-versions", on="crd")
def default_differs(crd: Node) -> Problems:
    """Note fields that one served version defaults otherwise than another.

    Source: https://git.k8s.io/community/contributors/devel/sig-architecture/api_changes.md
    """
    if crd.crd.hoisted("schema"):
        return
    served = [node for node in crd.children() if node.get("served") and not node.get("deprecated")]
    for a, b in combinations(served, 2):
        schemas = [next(iter(node.children()), None) for node in (a, b)]
        if schemas[0] is None or schemas[1] is None:
            continue
        rows = [r for r in compare(schemas[0].data, schemas[1].data) if r.verdict == CHANGED]
        if rows:
            more = f" and {len(rows) - 1} more" if len(rows) > 1 else ""
            message = (
                f"{rows[0].field or 'the root'}{more} {rows[0].what} than in {a.get('name')}: what"
                " an object means depends on the version that it was written in"
            )
            related = [(a.at("name"), "the other version")]
            yield Problem(b.at("name"), message, related=related)


def _listed(rows: list[Row]) -> str:
    names = [row.field for row in rows]
    more = f" and {len(names) - SHOWN} more fields" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more
