"""What the XML reports share: elements with attributes that any text may be put into."""

from __future__ import annotations

from xml.sax.saxutils import escape, quoteattr

from crdlint.report.terminal import clean

HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n'

# Characters that `clean` lets through and XML 1.0 does not, not even as a reference.
_NEVER = dict.fromkeys((0xFFFE, 0xFFFF), "\ufffd")


def element(name: str, content: str | None = None, /, **attributes: object) -> str:
    """Return an element; its content is XML already, its attributes are plain text."""
    words = "".join(f" {key}={quoteattr(plain(str(value)))}" for key, value in attributes.items())
    return f"<{name}{words}/>" if content is None else f"<{name}{words}>{content}</{name}>"


def text(content: str) -> str:
    """Return the XML of a plain text, line by line."""
    return escape("\n".join(plain(line) for line in content.split("\n")))


def plain(content: str) -> str:
    """Return a text on one line without characters that XML forbids."""
    return clean(content).translate(_NEVER)
