"""The steps of a plan in the words of NEW's file: its comments, order and quotes are kept."""

from __future__ import annotations

import io
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from crdlint import document, shape, yaml_text
from crdlint.emit import is_plain
from crdlint.keywords import same_json

if TYPE_CHECKING:
    from crdlint.planning.stages import Data

_FOLDED, _WIDE = 80, 1 << 16  # where generators fold long texts, and where nobody does


def write(step: Data, new: Data, text: str, *, minor: int) -> str:
    """Write the CRD of a step as an edit of the text of NEW.

    Args:
        step: the CRD of the step.
        new: NEW, decoded and clean.
        text: the document that NEW is read from.
        minor: the Kubernetes minor that reads it.

    Returns:
        NEW's text where only what the step has otherwise is changed; a plain rendering where the
        text cannot be edited so, or would not read back as the step.
    """
    if same_json(step, new):
        return text
    try:
        edited = _edited(step, new, text)
    except Exception:  # noqa: BLE001 - whatever the editor cannot read, the server can
        return yaml_text.dump(step)
    return edited if _reads_as(edited, step, minor) else yaml_text.dump(step)


def _reads_as(text: str, step: Data, minor: int) -> bool:
    documents = list(document.read(text.encode(), "step.yaml"))
    if len(documents) != 1 or documents[0].error is not None:
        return False
    read = shape.shape(documents[0].data, minor=minor)
    return read.error is None and same_json(read.crd.get("spec"), step["spec"])


def _edited(step: Data, new: Data, text: str) -> str:
    """Change in NEW's text what the step has otherwise."""
    from ruamel.yaml import YAML

    editor = YAML(typ="rt")
    editor.preserve_quotes = True
    longest = max(map(len, text.splitlines()), default=0)
    editor.width = _FOLDED if longest <= _FOLDED + 10 else _WIDE
    if not _indentless(text):
        editor.indent(mapping=2, sequence=4, offset=2)
    tree = editor.load(text)
    tree.pop("status", None)
    spec = tree["spec"]
    for key in {**step["spec"], **new["spec"]}:
        if key != "versions":
            _set(spec, key, step["spec"].get(key), new["spec"].get(key))
    known = {str(node.get("name")): node for node in spec["versions"]}
    before = {str(version.get("name")): version for version in new["spec"]["versions"]}
    entries = [
        _version(known.get(str(wanted["name"])), wanted, before.get(str(wanted["name"])))
        for wanted in step["spec"]["versions"]
    ]
    del spec["versions"][:]
    spec["versions"].extend(entries)
    out = io.StringIO()
    editor.dump(tree, out)
    return out.getvalue()


def _version(node: Any, wanted: Data, before: Data | None) -> Any:
    """Return a version's node of NEW with the step's values, or a new one."""
    if node is None or before is None:
        return _plain(wanted)
    for key in {**wanted, **before}:
        _set(node, key, wanted.get(key), before.get(key))
    return node


def _set(node: Any, key: str, wanted: Any, before: Any) -> None:
    if same_json(wanted, before):
        return
    if wanted is None:
        node.pop(key, None)
    else:
        node[key] = _plain(wanted)


def _plain(value: Any) -> Any:
    """Return data for the editor, texts in quotes that a reader could take for something else."""
    from ruamel.yaml.scalarstring import DoubleQuotedScalarString, LiteralScalarString

    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, str) and not is_plain(value):
        lines = "\n" in value and not value.startswith((" ", "\n"))
        return LiteralScalarString(value) if lines else DoubleQuotedScalarString(value)
    return value


def _indentless(text: str) -> bool:
    """Tell whether dashes stand below the first letter of their key."""
    lines = text.splitlines()
    for line, below in pairwise(lines):
        if line.rstrip().endswith("versions:"):
            return len(below) - len(below.lstrip()) == len(line) - len(line.lstrip())
    return True
