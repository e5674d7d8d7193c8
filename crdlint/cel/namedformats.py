"""The named formats of CEL and what they say of a text that is wrong."""

from __future__ import annotations

import re

from crdlint import formats
from crdlint.cel import urls
from crdlint.cel.values import EvalError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Validate = Callable[[str], list[str]]

_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = rf"{_LABEL}(\.{_LABEL})*"
_DNS1035 = "[a-z]([-a-z0-9]*[a-z0-9])?"
_KEY = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_VALUE = f"({_KEY})?"

_LABEL_RULE = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', "
    "and must start and end with an alphanumeric character"
)
_SUBDOMAIN_RULE = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, "
    "'-' or '.', and must start and end with an alphanumeric character"
)
_DNS1035_RULE = (
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', "
    "start with an alphabetic character, and end with an alphanumeric character"
)
_KEY_RULE = (
    "must consist of alphanumeric characters, '-', '_' or '.', "
    "and must start and end with an alphanumeric character"
)
_VALUE_RULE = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or "
    "'.', and must start and end with an alphanumeric character"
)


class NamedFormat:
    """A format that a text may have."""

    __slots__ = ("name", "validate")
    type_name = "kubernetes.NamedFormat"

    def __init__(self, name: str, validate: Validate) -> None:
        self.name = name
        self.validate = validate

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NamedFormat) and self.name == other.name

    def __hash__(self) -> int:
        return hash(self.name)

    def __str__(self) -> str:
        return self.name


def _wrong(rule: str, pattern: str, *examples: str) -> str:
    shown = " or ".join(f"'{example}', " for example in examples)
    return f"{rule} (e.g. {shown}regex used for validation is '{pattern}')"


def _size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def _too_long(text: str, limit: int, unit: str = "characters") -> list[str]:
    return [f"must be no more than {limit} {unit}"] if _size(text) > limit else []


def _dns1123_label(text: str) -> list[str]:
    wrong = _too_long(text, 63)
    if re.fullmatch(_LABEL, text):
        return wrong
    if re.fullmatch(_SUBDOMAIN, text):
        return [*wrong, "must not contain dots"]
    return [*wrong, _wrong(_LABEL_RULE, _LABEL, "my-name", "123-abc")]


def _dns1123_subdomain(text: str, unit: str = "characters") -> list[str]:
    wrong = _too_long(text, 253, unit)
    if not re.fullmatch(_SUBDOMAIN, text):
        wrong.append(_wrong(_SUBDOMAIN_RULE, _SUBDOMAIN, "example.com"))
    return wrong


def _dns1035_label(text: str) -> list[str]:
    wrong = _too_long(text, 63)
    if not re.fullmatch(_DNS1035, text):
        wrong.append(_wrong(_DNS1035_RULE, _DNS1035, "my-name", "abc-123"))
    return wrong


def _prefix(validate: Validate) -> Validate:
    """Return the check of what generated characters will be added to."""

    def check(text: str) -> list[str]:
        if text.endswith("-") and len(text) > 1:
            # A final dash may be followed by anything; the byte before it is not looked at.
            text = text.encode("utf-8", "surrogatepass")[:-2].decode("utf-8", "replace") + "a"
        return validate(text)

    return check


def _qualified_name(text: str) -> list[str]:
    rule = _wrong(_KEY_RULE, _KEY, "MyName", "my.name", "123-abc")
    parts = text.split("/")
    if len(parts) > 2:
        more = "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
        return [f"a valid label key {rule} {more}"]
    wrong = []
    if len(parts) == 2:
        prefix = parts[0]
        messages = _dns1123_subdomain(prefix, "bytes") if prefix else ["must be non-empty"]
        wrong += [f"prefix part {message}" for message in messages]
    name = parts[-1]
    messages = _too_long(name, 63, "bytes") if name else ["must be non-empty"]
    if not re.fullmatch(_KEY, name):
        messages.append(rule)
    return wrong + [f"name part {message}" for message in messages]


def _label_value(text: str) -> list[str]:
    wrong = _too_long(text, 63, "bytes")
    if not re.fullmatch(_VALUE, text):
        wrong.append(_wrong(_VALUE_RULE, _VALUE, "MyValue", "my_value", "12345"))
    return wrong


def _uri(text: str) -> list[str]:
    try:
        urls.parse_request(text)
    except EvalError as error:
        return [error.message]
    return []


def _known(name: str, message: str) -> Validate:
    return lambda text: [] if formats.matches(name, text) else [message]


# The name in an expression, the name of the format itself and its check.
# Source: ConstantFormats of k8s.io/apiserver/pkg/cel/library.
FORMATS = {
    key: NamedFormat(name, validate)
    for key, name, validate in (
        ("dns1123Label", "DNS1123Label", _dns1123_label),
        ("dns1123Subdomain", "DNS1123Subdomain", _dns1123_subdomain),
        ("dns1035Label", "DNS1035Label", _dns1035_label),
        ("qualifiedName", "QualifiedName", _qualified_name),
        ("dns1123LabelPrefix", "DNS1123LabelPrefix", _prefix(_dns1123_label)),
        ("dns1123SubdomainPrefix", "DNS1123SubdomainPrefix", _prefix(_dns1123_subdomain)),
        ("dns1035LabelPrefix", "DNS1035LabelPrefix", _prefix(_dns1035_label)),
        ("labelValue", "LabelValue", _label_value),
        ("uri", "URI", _uri),
        ("uuid", "uuid", _known("uuid", "does not match the UUID format")),
        ("byte", "byte", _known("byte", "invalid base64")),
        ("date", "date", _known("date", "invalid date")),
        ("datetime", "datetime", _known("datetime", "invalid datetime")),
    )
}
