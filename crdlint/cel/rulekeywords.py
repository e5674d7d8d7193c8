"""What the server says of the fields of a rule before it looks at CEL."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from crdlint.cel import fieldpath
from crdlint.cel.context import RULES, convertible
from crdlint.cel.rulereport import KEYWORDS, CelProblem

if TYPE_CHECKING:
    from collections.abc import Mapping

    Path = tuple[str | int, ...]
    Schema = Mapping[str, Any]

REASONS = (
    "FieldValueDuplicate",
    "FieldValueForbidden",
    "FieldValueInvalid",
    "FieldValueRequired",
)
# The minors that brought fields of a rule; older servers drop them.
_MESSAGE_EXPRESSION, _REASON, _FIELD_PATH = 27, 28, 28

SPACE = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
_LINE_BREAK = re.compile(r"[\n\r]")


def keyword_problems(schema: Schema, *, minor: int) -> list[CelProblem]:
    """Return what the server says of a node's rules before it compiles any, junctors included."""
    return [
        problem
        for i, rule in enumerate(schema.get(RULES) or ())
        for problem in rule_problems((), schema, i, rule, minor)
    ]


def rule_problems(
    path: Path, schema: Schema, index: int, rule: Mapping[str, Any], minor: int
) -> list[CelProblem]:
    """Return what the server says of a rule before it looks at CEL."""
    found: list[CelProblem] = []

    def say(rule_id: str, error_type: str, field: str, message: str) -> None:
        suffix = (RULES, index, field)
        found.append(CelProblem(rule_id, error_type, path, suffix, message, stage=KEYWORDS))

    text = (rule.get("rule") or "").strip(SPACE)
    message = rule.get("message") or ""
    trimmed = message.strip(SPACE)
    if not text:
        say("cel-rule-required", "Required", "rule", "a rule is needed")
    elif message and not trimmed:
        say("cel-message-blank", "Invalid", "message", "the message is blank")
    elif _LINE_BREAK.search(trimmed):
        say("cel-message-newline", "Invalid", "message", "the message has a line break")
    elif _LINE_BREAK.search(text) and not trimmed:
        say(
            "cel-message-required",
            "Required",
            "message",
            "a rule with line breaks needs a message",
        )
    expression = rule.get("messageExpression") or ""
    if expression and not expression.strip(SPACE) and minor >= _MESSAGE_EXPRESSION:
        say(
            "cel-message-expression-blank",
            "Required",
            "messageExpression",
            "the messageExpression is blank",
        )
    reason = rule.get("reason")
    if reason is not None and reason not in REASONS and minor >= _REASON:
        say(
            "cel-reason",
            "NotSupported",
            "reason",
            f"{reason!r} is not one of {', '.join(REASONS)}",
        )
    field_path = rule.get("fieldPath") or ""
    if field_path and minor >= _FIELD_PATH:
        if not field_path.strip(SPACE):
            say("cel-field-path-blank", "Invalid", "fieldPath", "the fieldPath is blank")
        if _LINE_BREAK.search(field_path):
            say(
                "cel-field-path-newline",
                "Invalid",
                "fieldPath",
                "the fieldPath has a line break",
            )
        _field_path(path, schema, index, field_path, found)
    return found


def _field_path(
    path: Path, schema: Schema, index: int, field_path: str, found: list[CelProblem]
) -> None:
    suffix: Path = (RULES, index, "fieldPath")
    try:
        if convertible(schema):
            fieldpath.check(field_path, schema)
    except fieldpath.FieldPathError as e:
        message = f"{field_path!r} leads to no field: {e}"
        found.append(CelProblem("cel-field-path", "Invalid", path, suffix, message, stage=KEYWORDS))
    except fieldpath.FieldPathPanic:
        message = f"the API server fails on {field_path!r}, which steps through an open map"
        found.append(CelProblem("cel-field-path", "Panic", path, suffix, message, stage=KEYWORDS))
