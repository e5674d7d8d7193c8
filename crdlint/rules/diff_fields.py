"""Comparisons of which fields exist, which are required, and what happens to unknown ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crdlint.changes import (
    DOCUMENTATION,
    LIST_TYPE,
    PRESERVE,
    Change,
    bare,
    json_equal,
    kinds_of,
    type_name,
)
from crdlint.diffrule import ALWAYS, OWNER, VALUE, Problem, diff, property_of, settle, show, step
from crdlint.tree import ABSENT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crdlint.changes import Pair
    from crdlint.diffrule import Problems
    from crdlint.tree import Node

_BY_ITSELF = frozenset(("apiVersion", "kind", "metadata"))  # what every object has, named or not


def keeps_unknown(node: Node) -> bool:
    """Tell whether fields that this node does not name survive pruning."""
    return bool(
        node.get(PRESERVE)
        or is_open(node.get("additionalProperties"))
        or node.crd.spec.get("preserveUnknownFields")
    )


def is_open(value: Any) -> bool:
    """Tell whether a value of additionalProperties lets any name in."""
    return isinstance(value, dict) or value is True


def _implicit(node: Node, name: str) -> bool:
    """Tell whether objects have this field whatever the schema says."""
    top = node.is_root or bool(node.get("x-kubernetes-embedded-resource"))
    return top and name in _BY_ITSELF


def _in_metadata(node: Node) -> bool:
    """Tell whether a node is metadata of an object, or inside: the server knows its form."""
    inner: Node | None = node
    while inner is not None and inner.parent is not None and inner.kind == "schema":
        owner = inner.parent
        whole = owner.is_root or owner.get("x-kubernetes-embedded-resource")
        if whole and inner.step == ("properties", "metadata"):
            return True
        inner = owner
    return False


def _map_to_struct(pair: Pair) -> bool:
    old, new = pair.old, pair.new
    return is_open(old.get("additionalProperties")) and not is_open(new.get("additionalProperties"))


def _last(field: str) -> str:
    """Return the last name of a field: siblings below it fold, in each place the type is used."""
    return field.rpartition(".")[2]


def _field(change: Change) -> str:
    return f"{change.new.field}.{change.name}"


@diff(
    "field-removed",
    "field-removed-unpruned",
    "field-renamed",
    "field-moved",
    "condition-relaxed",
    "condition-tightened",
    on="schema.properties",
)
def field_removed(change: Change) -> Problems:
    if change.new.junctor:
        yield from _condition(change)
        return
    if not change.removed or _implicit(change.new, change.name) or _in_metadata(change.new):
        return
    renamed = renames(change.pair).get(change.name)
    if renamed is not None:
        spot = Change(
            change.pair,
            "properties",
            old_keys=change.old_keys,
            new_keys=("properties", renamed),
            name=renamed,
        )
        yield Problem(
            spot,
            f"seems to be {show(change.name)} renamed to {show(renamed)}: what is stored under the"
            " old name is pruned",
            rule="field-renamed",
            field=_field(spot),
        )
    elif not keeps_unknown(change.new):
        yield Problem(
            change,
            "the field is gone: stored values are pruned on the next read, and readers miss them",
            rule="field-removed",
            field=_field(change),
        )
    elif not _struct_to_map(change.pair):
        yield Problem(
            change,
            "no longer described: values are kept, but neither validated nor defaulted",
            rule="field-removed-unpruned",
            field=_field(change),
        )


def _struct_to_map(pair: Pair) -> bool:
    old, new = pair.old, pair.new
    return is_open(new.get("additionalProperties")) and not is_open(old.get("additionalProperties"))


def _condition(change: Change) -> Problems:
    """Yield what a change of a schema below a junctor does: more demanded, or less."""
    if change.added:
        text = f"{change.key} {show(change.name)} is now part of the condition"
        yield Problem(change, text, rule="condition-tightened")
    else:
        text = f"{change.key} {show(change.name)} is no longer part of the condition"
        yield Problem(change, text, rule="condition-relaxed")


def renames(pair: Pair) -> dict[str, str]:
    """Guess which fields of an object were renamed: old name to new name.

    A pair counts when the schemas agree and the names are alike, or when a schema of some size is
    equal and only one new field has it.
    """
    old, new = pair.old.get("properties") or {}, pair.new.get("properties") or {}
    gone = [name for name in old if name not in new]
    come = [name for name in new if name not in old]
    if not gone or not come or len(gone) * len(come) > 400:
        return {}
    scored = []
    for a in gone:
        for b in come:
            score = _renamed(a, b, old[a], new[b])
            if score:
                scored.append((-score, a, b))
    found: dict[str, str] = {}
    for _, a, b in sorted(scored):
        if a not in found and b not in found.values():
            found[a] = b
    return found


def _renamed(a: str, b: str, x: Mapping[str, Any], y: Mapping[str, Any]) -> float:
    from difflib import SequenceMatcher

    if kinds_of(x) != kinds_of(y):
        return 0
    likeness = SequenceMatcher(None, a.lower(), b.lower()).ratio()
    p, q = bare(x), bare(y)
    if json_equal(p, q):
        if likeness >= 0.65 or a.lower() in b.lower() or b.lower() in a.lower():
            return 1 + likeness
        return 0.9 if len(p.get("properties") or {}) >= 3 else 0
    return likeness if likeness >= 0.8 else 0


@diff(
    "field-added",
    "field-added-with-default",
    "field-added-required",
    "field-added-required-with-default",
    "field-added-over-free-form",
    on="schema.properties",
    tightens=OWNER,
)
def field_added(change: Change) -> Problems:
    if change.new.junctor or not change.added or _implicit(change.new, change.name):
        return
    schema: Mapping[str, Any] = change.after
    default = schema.get("default")
    field = _field(change)
    if change.name in (change.new.get("required") or []):
        if default is None:
            text = "the new field is required and has no default: objects without it are refused"
            yield Problem(change, text, rule="field-added-required", field=field)
        else:
            text = f"the new field is required, but has the default {show(default)}"
            yield Problem(change, text, rule="field-added-required-with-default", field=field)
        return
    if change.name in renames(change.pair).values() or _map_to_struct(change.pair):
        return
    if keeps_unknown(change.old) and _demands(schema):
        text = "it could hold anything before; now it must match its schema, and is pruned by it"
        yield Problem(
            change,
            text,
            rule="field-added-over-free-form",
            field=field,
            together=_last(change.new.field),
            prunes=True,
        )
    elif default is not None:
        text = f"new, with the default {show(default)}: objects show it on the next read"
        yield Problem(change, text, rule="field-added-with-default", field=field)
    else:
        text = f"new and optional ({_said(schema)}): a rollback prunes it"
        yield Problem(change, text, rule="field-added", field=field)


def _demands(schema: Mapping[str, Any]) -> bool:
    """Tell whether a schema refuses or prunes anything."""
    return any(key not in DOCUMENTATION and key != PRESERVE for key in schema)


def _said(schema: Mapping[str, Any]) -> str:
    return type_name(schema) or "any value"


@diff(
    "required-added",
    "required-added-with-default",
    "required-removed",
    "required-removed-with-default",
    on="schema.required",
    tightens=OWNER,
)
def required_changed(change: Change) -> Problems:
    before, after = list(change.before or []), list(change.after or [])
    fields = change.new.get("properties") or {}
    known_before = change.old.get("properties") or {}
    junctor = change.new.junctor
    for name in after:
        if name in before or _implicit(change.new, name):
            continue
        if not junctor and name in fields and name not in known_before:
            continue
        at = _required_at(change, name)
        field = f"{change.new.field}.{name}"
        default = (_owner_fields(change.new).get(name) or {}).get("default")
        if default is None:
            yield Problem(
                at,
                f"required now: objects without it are refused{_inside(change)}",
                rule="required-added",
                field=field,
            )
        else:
            yield Problem(
                at,
                f"required now, but it has the default {show(default)}",
                rule="required-added-with-default",
                field=field,
            )
    for name in before:
        if name in after or _implicit(change.new, name) or (not junctor and name not in fields):
            continue
        at = _required_at(change, name)
        field = f"{change.new.field}.{name}"
        default = (_owner_fields(change.new).get(name) or {}).get("default")
        if default is None:
            text = f"optional now: readers may meet objects without it{_inside(change)}"
            together = _last(change.new.field)
            yield Problem(at, text, rule="required-removed", field=field, together=together)
        else:
            text = f"optional now, but it has the default {show(default)}"
            yield Problem(at, text, rule="required-removed-with-default", field=field)


def _inside(change: Change) -> str:
    return " (inside `not`)" if change.pair.reversed else ""


def _owner_fields(node: Node) -> Mapping[str, Any]:
    """Return the fields of the object that a condition speaks of."""
    owner: Node | None = node
    while owner is not None and owner.kind == "schema" and owner.junctor:
        if owner.step[0] not in ("allOf", "anyOf", "oneOf", "not"):
            return {}
        owner = owner.parent
    return (owner.get("properties") or {}) if owner is not None else {}


def _required_at(change: Change, name: str) -> Change:
    spots = []
    for node in (change.old, change.new):
        names = node.get("required") or []
        spots.append(("required", names.index(name)) if name in names else ("required",))
    return Change(change.pair, "required", old_keys=spots[0], new_keys=spots[1], name=name)


@diff(
    "map-to-struct",
    "struct-to-map",
    "additional-properties-forbidden",
    "additional-properties-opened",
    "map-value-schema-added",
    "map-value-schema-removed",
    on="schema.additionalProperties",
    tightens=OWNER,
)
def additional_properties_changed(change: Change) -> Problems:
    if change.new.junctor:
        yield from _junctor_value(change)
        return
    before, after = change.before, change.after
    kept = change.new.get(PRESERVE)
    if is_open(before) and is_open(after):
        if isinstance(after, dict) and _demands(after):
            text = f"any value was taken before; now each must be {_said(after)}"
            yield Problem(change, text, rule="map-value-schema-added", prunes=True)
        elif isinstance(before, dict) and _demands(before):
            yield Problem(change, "values may be anything now", rule="map-value-schema-removed")
    elif is_open(before):
        if change.new.get("properties"):
            text = "a map became an object with fixed fields: all other keys are pruned"
            if not kept:
                yield Problem(change, text, rule="map-to-struct")
        elif after is False:
            text = "no key is allowed any more: objects that have some lose them or are refused"
            yield Problem(change, text, rule="additional-properties-forbidden", prunes=True)
        elif not kept:
            text = "the map is no longer described: its keys are pruned on the next read"
            yield Problem(change, text, rule="map-to-struct")
    elif is_open(after):
        if change.old.get("properties") and not change.new.get("properties"):
            said = _said(after) if isinstance(after, dict) else "any value"
            text = f"fixed fields became a map of {said}: typed readers break"
            yield Problem(change, text, rule="struct-to-map")
        else:
            text = "any key is allowed now: readers meet keys that they do not know"
            yield Problem(change, text, rule="additional-properties-opened")
    elif after is False and change.old.get(PRESERVE):
        text = "keys that the schema does not name were kept before; now they are refused"
        yield Problem(change, text, rule="additional-properties-forbidden", prunes=True)


def _junctor_value(change: Change) -> Problems:
    before, after = change.before, change.after
    text = step(change)
    if before is False or (after is not ABSENT and after is not False and before is ABSENT):
        loosens = before is False
    else:
        loosens = after is ABSENT or after is True
    rule = "condition-relaxed" if loosens else "condition-tightened"
    yield Problem(change, f"{change.key}: {text}", rule=rule)


@diff("items-schema-added", "items-schema-removed", on="schema.items", tightens=VALUE)
def items_changed(change: Change) -> Problems:
    if change.new.junctor:
        yield from _junctor_value(change)
    elif change.removed:
        text = "items are no longer described: they are neither validated nor defaulted"
        yield Problem(change, text, rule="items-schema-removed")
    else:
        said = _said(change.after) if isinstance(change.after, dict) else "of a list of types"
        text = f"items could be anything before; now each must be {said}"
        yield Problem(change, text, rule="items-schema-added", prunes=True)


_SCALARS = frozenset(("string", "integer", "number", "boolean"))


@diff("preserve-unknown-fields-removed", "preserve-unknown-fields-added", on=f"schema.{PRESERVE}")
def preserve_changed(change: Change) -> Problems:
    if _SCALARS.issuperset((change.old.get("type"), change.new.get("type"))):
        return  # nothing inside that could be kept
    if change.after is ABSENT:
        if is_open(change.new.get("additionalProperties")):
            return
        text = "fields that the schema does not name are pruned on the next read"
        parent = change.new.parent
        together = _last(parent.field) if parent is not None and parent.kind == "schema" else None
        yield Problem(change, text, rule="preserve-unknown-fields-removed", together=together)
    else:
        text = "unknown fields are kept now: misspelt ones go unnoticed, and a rollback prunes them"
        yield Problem(change, text, rule="preserve-unknown-fields-added")


@diff(
    "embedded-resource-added",
    "embedded-resource-removed",
    on="schema.x-kubernetes-embedded-resource",
    tightens=ALWAYS,
)
def embedded_changed(change: Change) -> Problems:
    if change.after is ABSENT:
        text = "apiVersion, kind and metadata of the object inside are no longer checked"
        yield Problem(change, text, rule="embedded-resource-removed")
    else:
        text = (
            "the object inside must have apiVersion, kind and valid metadata; no update is excused"
        )
        yield Problem(change, text, rule="embedded-resource-added")


@diff("schema-removed", "schema-added", on="version.schema")
def schema_changed(change: Change) -> Problems:
    if change.removed:
        text = "the schema is gone: nothing is validated or defaulted any more"
        yield Problem(change, text, rule="schema-removed")
    elif not change.old.crd.spec.get("preserveUnknownFields"):
        text = "the schema is new: what it does not name is pruned, what breaks it is refused"
        yield Problem(change, text, rule="schema-added")
    elif change.new.crd.spec.get("preserveUnknownFields") or _refuses(change.after):
        # Where pruning begins, it does so for all versions, which is reported of the CRD.
        yield Problem(
            change,
            "the schema is new: what breaks it is refused",
            rule="schema-added",
            help="Send the stored objects through it first, with --objects.",
        )


def _refuses(schema: Mapping[str, Any]) -> bool:
    """Tell whether the schema of a version refuses any object."""
    harmless = {"type", "properties", PRESERVE, *DOCUMENTATION}
    fields = schema.get("properties") or {}
    return not harmless.issuperset(schema) or any(
        _demands(field) for name, field in fields.items() if name not in _BY_ITSELF
    )


_REFUSED = "$ref $schema id definitions dependencies patternProperties additionalItems uniqueItems"


@diff("refused-keyword-changed", on=" ".join(f"schema.{key}" for key in _REFUSED.split()))
def refused_keyword_changed(change: Change) -> Problems:
    words = "appeared" if change.added else "is gone" if change.removed else "changed"
    yield Problem(change, f"{change.key} {words}; the API server has it in no v1 schema")


@settle
def field_moved(problems: list[Problem]) -> list[Problem]:
    """Turn a removal and an addition of the same field with the same schema into one move."""
    gone: dict[tuple[str, str], list[Problem]] = {}
    come: dict[tuple[str, str], list[Problem]] = {}
    for problem in problems:
        table = {"field-removed": gone, "field-added": come}.get(problem.rule)
        if table is not None:
            change = problem.change
            table.setdefault((change.pair.version, change.name), []).append(problem)
    dropped: set[int] = set()
    for key, (first, *more) in gone.items():
        others = come.get(key) or []
        if more or len(others) != 1:
            continue
        other = others[0]
        x, y = bare(first.change.before), bare(other.change.after)
        if json_equal(x, y):
            first.rule = "field-moved"
            first.message = f"seems to have moved to {other.field}: what is stored here is pruned"
            first.related.append((other.place, "where it is now"))
            dropped.add(id(other))
    return [problem for problem in problems if id(problem) not in dropped]


def is_map_key(node: Node) -> bool:
    """Tell whether a field is a key of the items of a list of type map."""
    name, item = property_of(node), node.parent
    if name is None or item is None or item.step != ("items",) or item.parent is None:
        return False
    owner = item.parent
    return owner.get(LIST_TYPE) == "map" and name in (owner.get("x-kubernetes-list-map-keys") or [])
