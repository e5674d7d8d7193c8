"""Rules written in CEL that are sure to hold for every object that an older schema took."""

from __future__ import annotations

from itertools import islice, product
from typing import TYPE_CHECKING, Any

from crdlint.cel.syntax import CALL, COMPREHENSION, LIST, LITERAL, SELECT, CelError, deep
from crdlint.cel.types import escape
from crdlint.govalues import same_go
from crdlint.objects.prune import META_FIELDS
from crdlint.objects.sample import PRESERVE, open_
from crdlint.objects.steer import EACH, Ways

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from crdlint.cel.syntax import Comprehension, Node

    Schema = Mapping[str, Any]
    Way = tuple[str, ...]
    Case = dict[Way, Any]  # what is assumed of fields: their value, or whether they are there

_MOST_CASES = 64
_THERE, _NOT_THERE = object(), object()
_OPEN = object()


def holds(text: str, old: Schema, new: Schema, minor: int, *, keeps: bool = False) -> bool:
    """Tell whether a rule of a node is sure to hold for all that its old schema took.

    Looked at are `has`, comparisons with literals and what connects them, for fields that are new,
    required, of an enum, or in a oneOf or anyOf of required fields.

    Args:
        text: the rule.
        old: the schema of the node before.
        new: its schema now.
        minor: whose CEL it is.
        keeps: whether fields that no schema names were kept before.

    Returns:
        False also where it cannot be decided.
    """
    from crdlint.cel.parser import parse

    try:
        tree = parse(text, minor)
    except CelError:
        return False
    cases = list(islice(_cases(old, new), _MOST_CASES + 1))
    if len(cases) > _MOST_CASES:
        cases = [{}]
    with deep():
        return all(_Folder(old, new, case, keeps=keeps).value(tree) is True for case in cases)


def _cases(old: Schema, new: Schema) -> Iterator[Case]:
    """Yield assumptions of which one is true of every object: of enums, of oneOf and anyOf."""
    splits: list[list[Case]] = []
    for name, schema in (old.get("properties") or {}).items():
        now = (new.get("properties") or {}).get(name) or {}
        values = list(schema.get("enum") or [])
        sure = name in (old.get("required") or ()) or now.get("default") is not None
        if not values or not sure or not now or schema.get("nullable"):
            continue
        if now.get("default") is not None:
            values.append(now["default"])
        splits.append([{(name,): value} for value in values])
    for key in ("oneOf", "anyOf"):
        names = [_only_required(branch) for branch in old.get(key) or ()]
        if names and all(names) and all(_plain(name, old, new) for name in names):
            splits.append([_chosen(names, i, alone=key == "oneOf") for i in range(len(names))])
    for parts in product(*splits):
        case: Case = {}
        for part in parts:
            case.update(part)
        yield case


def _plain(name: str, old: Schema, new: Schema) -> bool:
    """Tell whether a field comes through as it is: not pruned, defaulted, or null."""
    now = (new.get("properties") or {}).get(name)
    before = (old.get("properties") or {}).get(name) or {}
    if now is None or now.get("default") is not None:
        return False
    return not now.get("nullable") and not before.get("nullable")


def _only_required(branch: Schema) -> str:
    """Return the field that is all that a branch requires, else ""."""
    names = branch.get("required") or []
    return str(names[0]) if len(names) == 1 and len(branch) == 1 else ""


def _chosen(names: list[str], i: int, *, alone: bool) -> Case:
    case: Case = {(name,): _NOT_THERE for name in names} if alone else {}
    return {**case, (names[i],): _THERE}


class _Folder:
    """Folds a rule in three values: True and False where sure and without error, else None."""

    def __init__(self, old: Schema, new: Schema, case: Case, *, keeps: bool) -> None:
        self.old = old
        self.new = new
        self.case = case
        self.keeps = keeps
        self.ways = Ways()

    def value(self, node: Node) -> bool | None:
        """Return what an expression is for all these objects, None where that is open."""
        if node.kind == LITERAL:
            return node.value if isinstance(node.value, bool) else None
        if node.kind == SELECT and node.value:
            return self._has(node)
        if node.kind == COMPREHENSION:
            return self._loop(node)  # type: ignore[arg-type]
        if node.kind == CALL:
            return self._call(node)
        return None

    def _has(self, node: Node) -> bool | None:
        way = self.ways.way(node)
        if way is None:
            return None
        assumed = self.case.get(way, _OPEN)
        if assumed is not _OPEN:
            return assumed is not _NOT_THERE
        return self._there(way)

    def _there(self, way: Way) -> bool | None:
        """Tell whether a field is there: surely, surely not, or None where that is open."""
        old: Any = self.old
        new: Any = self.new
        if not META_FIELDS.isdisjoint(way):
            return None  # what every object has, named or not
        for i, name in enumerate(way):
            if name == EACH:
                old, new = _each(old), _each(new)
                if old is None or new is None:
                    return None
                continue
            closed = not self.keeps and not old.get(PRESERVE) and not open_(old)
            key = _actual(new, name)
            before = (old.get("properties") or {}).get(key)
            now = (new.get("properties") or {}).get(key)
            last = i == len(way) - 1
            if before is None:
                absent = closed and now is not None and now.get("default") is None
                return False if absent and last else None
            if now is None or key not in (old.get("required") or ()) or now.get("nullable"):
                return None
            if before.get("nullable"):
                return None
            old, new = before, now
        return True

    def _call(self, node: Node) -> bool | None:
        if node.name in ("_==_", "_!=_", "@in"):
            return self._compared(node)
        parts = [self.value(part) for part in node.args]
        if node.name == "_&&_":
            return False if False in parts else None if None in parts else True
        if node.name == "_||_":
            return True if True in parts else None if None in parts else False
        if node.name == "!_":
            return None if parts[0] is None else not parts[0]
        if node.name == "_?_:_" and parts[0] is not None:
            return parts[1 if parts[0] else 2]
        return None

    def _compared(self, node: Node) -> bool | None:
        """Compare a field of an enum with literals."""
        one, other = node.args
        assumed = self.case.get(self.ways.way(one) or (), _OPEN)
        if assumed is _OPEN or assumed is _THERE or assumed is _NOT_THERE:
            return None
        if node.name == "@in":
            items = list(other.args) if other.kind == LIST and not other.value else []
            if not items or any(item.kind != LITERAL for item in items):
                return None
            return any(same_go(item.value, assumed) for item in items)
        if other.kind != LITERAL:
            return None
        return bool(same_go(other.value, assumed)) == (node.name == "_==_")

    def _loop(self, node: Comprehension) -> bool | None:
        """Fold `all` over what cannot lack: self, or each item of it."""
        way = self.ways.way(node.target)
        step = node.step
        if way is None or (way and way[-1] != EACH) or node.init.value is not True:
            return None
        if step.kind != CALL or step.name != "_&&_":
            return None
        self.ways.enter(node, way)
        return True if self.value(step.args[1]) is True else None


def _each(schema: Any) -> Any:
    """Return the schema of the items of a list; None for a map, whose loops go over its keys."""
    below = schema.get("items")
    return below if isinstance(below, dict) else None


def _actual(schema: Any, name: str) -> str:
    for field in schema.get("properties") or {}:
        if field == name or escape(field) == name:
            return str(field)
    return name
