"""A witness in words: the object as YAML, and what the API server says to it now."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from crdlint.report import count

if TYPE_CHECKING:
    from crdlint.finding import Finding

MOST_LINES = 24  # of an object that are shown
_MOST_WORDS = 100  # characters of a value in a sentence
_SENT = {
    "create": "creating it",
    "update": "this update of it",
    "status": "writing its status",
    "convert": "it",
}


def says(finding: Finding) -> str:
    """Return in one sentence what becomes of the witness of a finding."""
    through = finding.witnessed.get("through")
    return f"asked for as {through}, {_says(finding)}" if through else _says(finding)


def _says(finding: Finding) -> str:
    after = finding.witnessed["after"]
    if "gone" in after:
        return f"its endpoint is gone: {after['gone']}"
    if "refused" in after:
        first, *more = after["refused"]
        others = f" (and {count(len(more), 'more error')})" if more else ""
        sent = _SENT[finding.witnessed["request"]]
        return f"{sent} is refused now: {first['field']}: {first['message']}{others}"
    if "pruned" in after:
        fields = after["pruned"]
        named = ", ".join(fields[:3]) + (", ..." if len(fields) > 3 else "")
        return f"{named} {'is' if len(fields) == 1 else 'are'} dropped now"
    return "; ".join(
        f"{change['field']} is {_value(change, 'before')} before, {_value(change, 'after')} now"
        for change in after["changed"][:3]
    )


def _value(change: dict[str, Any], side: str) -> str:
    if side not in change:
        return "absent"
    text = json.dumps(change[side], ensure_ascii=False)
    return text if len(text) <= _MOST_WORDS else text[: _MOST_WORDS - 1] + "…"


def lines(finding: Finding, *, most: int = MOST_LINES) -> list[str]:
    """Return the object as lines of YAML, the object that it updates before it."""
    stored = finding.witnessed.get("from")
    found = _yaml(finding.witness)
    if stored is None:
        return _cut(found, most)
    return [*_cut(_yaml(stored), most), "--- # updated to", *_cut(found, most)]


def _yaml(value: Any) -> list[str]:
    import yaml

    text = yaml.safe_dump(
        json.loads(json.dumps(value)), sort_keys=False, allow_unicode=True, width=100
    )
    return str(text).splitlines()


def _cut(found: list[str], most: int) -> list[str]:
    if len(found) <= most:
        return found
    return [*found[: most - 1], f"# and {len(found) - most + 1} more lines"]
