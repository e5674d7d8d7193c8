"""Rule pages: `rules/<id>.md` read into Page objects, one file at a time and only when asked."""

# pathlib costs more start-up than a clean run may.

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

SEVERITIES = ("error", "warning", "info")
PROFILES = ("default", "api", "strict")
FIXES = ("safe", "unsafe")
EFFECTS = (
    "server-refuses",
    "stored-objects",
    "writers",
    "readers",
    "gitops",
    "rollback",
    "depends-on-webhook",
)
ROLES = ("before", "after", "crd", "object", "old")
URL = "https://github.com/crdlint/crdlint/blob/main/rules/{}.md"
SERVER_SAYS = "The server says"

_HERE = os.path.dirname(os.path.abspath(__file__))
# Patterns are compiled when they are first used: a clean run reads no page.
_ID = r"[a-z0-9]+(?:-[a-z0-9]+)*\Z"
_HEAD_LINE = r"([a-z]+):[ ]*(.*?)[ ]*\Z"
_MINOR = r"1\.([0-9]{1,3})\Z"
_FENCE = r"[ ]{0,3}(`{3,}|~{3,})[ ]*(.*?)[ ]*\Z"
# A block that is a whole document, not the schema of one.
_WHOLE = r"(?m)^kind:|kind[\"']?[ ]*:[ ]*[\"']?CustomResourceDefinition"
_WRAPPED = r"(?<=\w)-\n(?=\w)"  # a word with hyphens, broken at one
_MARK = r"# finding(?:\[([a-z0-9, -]+)\])?\s*\Z"
# The end of a sentence: not after an abbreviation or inside a number, version or field name.
_SENTENCE = r"(?<!\be\.g)(?<!\bi\.e)(?<!\betc)[.!?][`*_)\"']*(?=\s+[A-Z`*\"'(\[]|\s*\Z)"
_WRAP = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: widgets.example.com
spec:
  group: example.com
  scope: Namespaced
  names:
    plural: widgets
    singular: widget
    kind: Widget
    listKind: WidgetList
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
"""
_WRAP_INDENT = " " * 8


class PageError(Exception):
    """A page that is missing or not written as pages are; the message names file and line."""


class Example:
    """A YAML block of a page, as the document it stands for.

    `document` is the whole text of a CRD: the block itself where it has a kind, else the block as
    the openAPIV3Schema of version v1 of widgets.example.com. `marks` gives the rules expected on
    each line of `document` (1-based), in the order of the text, a rule as often as it is marked.
    `role` is `before` or `after` on pages of `diff` rules, `crd`, `object` or `old` (the object
    that another one updates) on those of objects, else "". `minor` is the Kubernetes minor that
    the block holds for, or None. `line` is the page's line of the block's first line.
    """

    __slots__ = ("document", "line", "marks", "minor", "role", "section", "text")

    def __init__(self, section: str, line: int, role: str, minor: int | None, text: str) -> None:
        self.section = section
        self.line = line
        self.role = role
        self.minor = minor
        self.text = text
        self.document = text
        self.marks: dict[int, list[str]] = {}


class Page:
    """What `rules/<id>.md` says of a rule; the parts of the body are read when asked for."""

    __slots__ = (
        "_sections",
        "body",
        "body_line",
        "effects",
        "file",
        "fix",
        "id",
        "profile",
        "server",
        "severity",
        "since",
        "summary",
    )

    def __init__(self, rule: str, file: str) -> None:
        self.id = rule
        self.file = file
        self.summary = ""
        self.severity = ""
        self.since = ""
        self.server = False
        self.profile = "default"
        self.fix = ""
        self.effects: tuple[str, ...] = ()
        self.body = ""  # everything below the title
        self.body_line = 0  # the line of the file that the body starts on
        self._sections: dict[str, str] | None = None

    @property
    def url(self) -> str:
        """Return where the page stands on the web."""
        return URL.format(self.id)

    @property
    def of_diff(self) -> bool:
        """Tell whether the rule is one that only `diff` looks for: its examples are pairs."""
        return re.search(r"(?m)^`{3,}yaml before", self.body) is not None

    @property
    def of_objects(self) -> bool:
        """Tell whether the rule is one that `validate` looks for: its examples have objects."""
        return re.search(r"(?m)^`{3,}yaml object", self.body) is not None

    @property
    def sections(self) -> dict[str, str]:
        """Return the text of each `## ` section by its title, in the order of the page.

        What stands between the title and the first section has the title "".
        """
        if self._sections is None:
            parts: dict[str, list[str]] = {"": []}
            current = parts[""]
            for number, line, at in lines(self.body, self.body_line):
                if not at and line.startswith("## "):
                    title = line[3:].strip()
                    if title in parts:
                        raise PageError(
                            f"{self.file}:{number}: the section {title!r} is there twice"
                        )
                    current = parts[title] = []
                else:
                    current.append(line)
            self._sections = {title: "\n".join(text).strip("\n") for title, text in parts.items()}
        return self._sections

    @property
    def why(self) -> str:
        """Return the paragraphs between the title and the first section."""
        return self.sections[""].strip()

    @property
    def cure(self) -> str:
        """Return the first sentence of `## Fix` on one line: what to do, in the imperative."""
        paragraph = self.sections.get("Fix", "").strip().partition("\n\n")[0]
        text = " ".join(re.sub(_WRAPPED, "-", paragraph).split())
        end = re.search(_SENTENCE, text)
        return text[: end.end()] if end else text

    @property
    def wordings(self) -> list[str]:
        """Return what the API server says, one wording an item, `…` standing for what varies."""
        found = []
        for line in self.sections.get(SERVER_SAYS, "").splitlines():
            item = line.strip()
            if item.startswith(("- ", "* ")):
                found.append(_code_span(item[2:].strip()))
        return found

    @property
    def examples(self) -> list[Example]:
        """Return the YAML blocks of the page in the order of the text."""
        return list(_examples(self))


def folder() -> str:
    """Return the folder that holds the pages: of the wheel, else of the checkout."""
    packed = os.path.join(_HERE, "_pages")
    return packed if os.path.isdir(packed) else os.path.join(os.path.dirname(_HERE), "rules")


def ids() -> list[str]:
    """Return the ids of all pages, sorted."""
    try:
        names = os.listdir(folder())
    except OSError as error:
        raise PageError(f"{folder()}: the rule pages cannot be read: {error.strerror}") from error
    return sorted(name[:-3] for name in names if name.endswith(".md") and name != "README.md")


_READ: dict[str, Page] = {}


def page(rule: str) -> Page:
    """Return the page of a rule; raise PageError where there is none or it is malformed.

    Reads one file, once.
    """
    known = _READ.get(rule)
    if known is None:
        file = os.path.join(folder(), f"{rule}.md")
        if not re.match(_ID, rule) or not os.path.isfile(file):
            raise PageError(f"there is no rule {rule!r}")
        known = _READ[rule] = read(file)
    return known


def load() -> list[Page]:
    """Return all pages, sorted by id."""
    return [page(rule) for rule in ids()]


def read(file: str) -> Page:
    """Read one page from a file; raise PageError that names file and line where it is malformed."""
    try:
        with open(file, encoding="utf-8") as stream:
            text = stream.read()
    except (OSError, UnicodeDecodeError) as error:
        raise PageError(f"{file}: the page cannot be read: {error}") from error
    return parse(text, file)


def parse(text: str, file: str) -> Page:
    """Parse the text of a page; `file` names the rule (its base name) and the place of errors."""
    rule = os.path.basename(file).removesuffix(".md")
    if not re.match(_ID, rule):
        raise PageError(f"{file}:1: {rule!r} is no rule id: lower case words joined by hyphens")
    lines = text.split("\n")
    found = Page(rule, file)
    end = _parse_head(found, lines)
    _parse_title(found, lines, end)
    return found


def _parse_head(into: Page, lines: list[str]) -> int:
    """Read the front matter and return the index of the line below it."""
    file = into.file
    if lines[0].rstrip() != "---":
        raise PageError(f"{file}:1: a page starts with a line `---`, then severity and the like")
    seen: set[str] = set()
    for i, line in enumerate(lines[1:], start=1):
        if line.rstrip() == "---":
            if "severity" not in seen:
                raise PageError(f"{file}:{i + 1}: the head says no severity")
            return i + 1
        match = re.match(_HEAD_LINE, line)
        if match is None:
            raise PageError(f"{file}:{i + 1}: expected `key: value`, not {line!r}")
        key, value = match.groups()
        if key in seen:
            raise PageError(f"{file}:{i + 1}: {key} is there twice")
        seen.add(key)
        complaint = _set(into, key, _unquoted(value))
        if complaint:
            raise PageError(f"{file}:{i + 1}: {complaint}")
    raise PageError(f"{file}:{len(lines)}: the head does not end: a line `---` is missing")


def _unquoted(value: str) -> str:
    if len(value) >= 2 and value[0] == value[-1] and value[0] in "\"'":
        return value[1:-1]
    return value


def _set(into: Page, key: str, value: str) -> str:
    """Set one field of the head and return what is wrong with it, or ""."""
    choices = {"severity": SEVERITIES, "profile": PROFILES, "fix": FIXES}.get(key)
    if choices is not None:
        if value not in choices:
            return f"{key} is {value!r}, not one of {', '.join(choices)}"
        setattr(into, key, value)
    elif key == "since":
        if not re.match(_MINOR, value):
            return f'since is {value!r}, not a Kubernetes version such as "1.30"'
        into.since = value
    elif key == "server":
        if value not in ("true", "false"):
            return f"server is {value!r}, not true or false"
        into.server = value == "true"
    elif key == "effects":
        effects = tuple(value.split())
        unknown = [effect for effect in effects if effect not in EFFECTS]
        if unknown or not effects or len(set(effects)) != len(effects):
            return f"effects is {value!r}, not different words out of {', '.join(EFFECTS)}"
        into.effects = effects
    else:
        return f"unknown key {key!r}: a head has severity, since, server, profile, fix and effects"
    return ""


def _parse_title(into: Page, lines: list[str], start: int) -> None:
    i = start
    while i < len(lines) and not lines[i].strip():
        i += 1
    line = lines[i].rstrip() if i < len(lines) else ""
    prefix = f"# {into.id}: "
    if not line.startswith(prefix) or not line[len(prefix) :].strip():
        raise PageError(f"{into.file}:{i + 1}: expected the title `{prefix}...`, not {line!r}")
    into.summary = line[len(prefix) :].strip()
    into.body = "\n".join(lines[i + 1 :]).rstrip("\n") + "\n"
    into.body_line = i + 2


def lines(text: str, first: int) -> Iterator[tuple[int, str, str]]:
    """Yield the number and text of each line of a body, and what it is to a fenced block.

    That is "" outside of one, else `open`, `inside` or `close`.
    """
    fence = ""
    for number, line in enumerate(text.split("\n"), start=first):
        match = re.match(_FENCE, line)
        if not fence:
            fence = match[1] if match else ""
            yield number, line, "open" if match else ""
        elif match and match[1].startswith(fence) and not match[2]:
            fence = ""
            yield number, line, "close"
        else:
            yield number, line, "inside"


def _code_span(item: str) -> str:
    """Return the text of a Markdown code span, or the text as it is where it is none."""
    ticks = len(item) - len(item.lstrip("`"))
    if ticks and item.endswith("`" * ticks) and len(item) > 2 * ticks:
        inner = item[ticks:-ticks]
        # A span of several backticks may pad with a space so that its text can start with one.
        if ticks > 1 and inner.startswith(" ") and inner.endswith(" "):
            inner = inner[1:-1]
        return inner
    return item


def _examples(of: Page) -> Iterator[Example]:
    section = info = ""
    start = 0
    block: list[str] = []
    at = ""
    for number, line, at in lines(of.body, of.body_line):
        if not at and line.startswith("## "):
            section = line[3:].strip()
        elif at == "open":
            info = line.strip().lstrip("`~").strip()
            start = number + 1
            block = []
        elif at == "inside":
            block.append(line)
        elif at == "close" and info.split()[:1] == ["yaml"]:
            yield _example(of, section, start, info, block)
    if at in ("open", "inside"):
        raise PageError(f"{of.file}:{start - 1}: the block that starts here does not end")


def _example(of: Page, section: str, start: int, info: str, lines: list[str]) -> Example:
    role = ""
    minor = None
    for word in info.split()[1:]:
        key, equals, value = word.partition("=")
        version = re.match(_MINOR, value)
        if word in ROLES:
            role = word
        elif key == "kubernetes" and equals and version:
            minor = int(version[1])
        else:
            raise PageError(
                f"{of.file}:{start - 1}: {word!r} after `yaml`: only "
                f"{', '.join(ROLES)} and kubernetes=1.30 may stand there"
            )
    example = Example(section, start, role, minor, "\n".join(lines) + "\n")
    shift = 0
    if not re.search(_WHOLE, example.text):
        shift = _WRAP.count("\n")
        body = "".join(f"{_WRAP_INDENT}{line}\n" if line.strip() else "\n" for line in lines)
        example.document = _WRAP + body
    for i, line in enumerate(lines):
        if "# finding" in line:
            match = re.search(_MARK, line)
            if match is None:
                raise PageError(
                    f"{of.file}:{start + i}: a mark is `# finding` or `# finding[rule, rule]` at "
                    "the end of its line"
                )
            rules = [rule.strip() for rule in (match[1] or of.id).split(",")]
            example.marks[i + 1 + shift] = rules
    return example


def index() -> str:
    """Return the text of rules/README.md: every rule with its severity and title."""
    pages = load()
    counts = ", ".join(f"{sum(p.severity == word for p in pages)} {word}" for word in SEVERITIES)
    lines = [
        "# Rules",
        "",
        "<!-- Written by `python -m crdlint.pages` from the pages; do not edit. -->",
        "",
        f"{len(pages)} rules: {counts}. `server` says that the API server itself speaks of it;",
        "`profile` says from which profile on a rule is on.",
        "",
        "| rule | severity | server | profile | what it reports |",
        "|---|---|---|---|---|",
    ]
    lines += [
        f"| [{page.id}]({page.id}.md) | {page.severity} | {'yes' if page.server else ''} "
        f"| {page.profile} | {page.summary.replace('|', chr(92) + '|')} |"
        for page in pages
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Rewrite rules/README.md."""
    with open(os.path.join(folder(), "README.md"), "w", encoding="utf-8", newline="\n") as stream:
        stream.write(index())


if __name__ == "__main__":
    main()
