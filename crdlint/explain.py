"""`crdlint explain` and `crdlint rules`: a rule's page, and the rule behind an error message."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

from crdlint import pages
from crdlint.pages import PageError
from crdlint.report.terminal import Style, cut

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from crdlint.pages import Page

MOST_TEXT = 200_000  # characters of a pasted text that are looked at
MOST_FOUND = 8  # rules that are named for a text
_LEAST = 8  # letters that a wording must have to be found by
_STARTS = 200  # occurrences of a wording's beginning that are tried
_ALIKE = 0.7  # part of a wording's weight in words that makes a text like it
_SPEAKS = 0.75  # part of a question's weight in words that a page must have

_BULLET = re.compile(r"(?m)^[\s|│┃]*[*•][ \t]")
_MARGIN = re.compile(r"(?m)^[ \t]*(?:[|│┃>][ \t]?)+|[ \t]*[|│┃][ \t]*$")
_ESCAPE = re.compile(r"\\+u([0-9a-fA-F]{4})|\\+([nrt])")
_NOISE = re.compile(r"[\s\"'`\\\u2018\u2019\u201c\u201d]+")
_BREAK = "\0"  # stands between the errors of a list
_NAMED = re.compile(r"(?:error|warning|info)\[([a-z0-9-]+)\]")
_WORD = re.compile(r"[a-z$][a-z0-9$-]*[a-z0-9]")
_SPAN = re.compile(r"(`+) ?(.+?) ?\1(?!`)")


def explain(what: str, *, color: bool = False) -> str | None:
    """Return what there is to say on a rule id or a message of the API server, else None."""
    what = what.strip()
    try:
        return explain_rule(what, color=color)
    except PageError:
        found = explain_text(what)
    if not found:
        return None
    if len(found) == 1:
        page, how = found[0]
        return f"{how}\n\n{render(page, color=color)}"
    return "\n".join(_short(page, how, Style(color=color)) for page, how in found)


def explain_rule(rule: str, *, color: bool = False) -> str:
    """Return the page of a rule for a terminal; raise PageError where there is none."""
    return render(pages.page(rule), color=color)


def unknown(what: str) -> str:
    """Say that something is no rule and no known message, and what was perhaps meant."""
    import difflib

    close = difflib.get_close_matches(what.strip().lower(), pages.ids(), n=3, cutoff=0.6)
    if close:
        return f"there is no rule {what!r}; did you mean {' or '.join(close)}?"
    return (
        f"no rule and no known message of the API server is {cut(what, 80)!r}; "
        "`crdlint rules` lists all rules"
    )


def render(page: Page, *, color: bool = False) -> str:
    """Return a page as plain text: its head in words, its sections, its examples indented."""
    style = Style(color=color)
    facts = [style(page.severity, page.severity)]
    if page.server:
        facts.append("said by the API server itself")
    if page.since:
        facts.append(f"since Kubernetes {page.since}")
    if page.profile != "default":
        facts.append(f"on from the profile {page.profile}")
    if page.effects:
        facts.append(f"hurts {', '.join(page.effects)}")
    if page.fix:
        facts.append(f"{page.fix} fix")
    lines = [style(f"{page.id}: {page.summary}", "bold"), " - ".join(facts)]
    lines += _plain(page.body, style)
    lines += ["", page.url]
    return "\n".join(lines) + "\n"


def _plain(body: str, style: Style) -> Iterator[str]:
    """Yield the lines of a body without its Markdown signs."""
    yield ""
    for _, line, at in pages.lines(body.strip("\n"), 1):
        if at == "open":
            words = line.strip().strip("`~ ").split()[1:]
            if words:
                yield style(f"    # {' '.join(words)}", "dim")
        elif at == "inside":
            kind = "error" if "# finding" in line else ""
            yield style(f"    {line}", kind).rstrip() if kind else f"    {line}".rstrip()
        elif at == "" and line.startswith("#"):
            yield style(line.lstrip("# "), "bold")
        elif at == "":
            yield _SPAN.sub(lambda m: style(m[2], "code"), line) if style.color else line


def _short(page: Page, how: str, style: Style) -> str:
    head = style(f"{page.severity}[{page.id}]", page.severity) + style(f": {page.summary}", "bold")
    why = page.why.partition("\n\n")[0]
    body = "".join(f"  {line}\n" for line in [how, *why.splitlines(), f"help: {page.cure}"])
    return f"{head}\n{body}"


def explain_text(text: str) -> list[tuple[Page, str]]:
    """Return the pages for a pasted error message, best first, each with how it was found.

    Takes what kubectl, Helm, Argo CD and crdlint print: several errors at once, wrapped anywhere,
    quoted or escaped once more. Where no page has the wording, pages with much the same words.
    """
    text = text[:MOST_TEXT]
    known = pages.load()
    named = set(_NAMED.findall(text))
    found = [(page, f"The text names the rule {page.id}.") for page in known if page.id in named]
    if not found:
        found = [(hit.page, f"The API server says: {hit.wording}") for hit in _said(text, known)]
    return (found or _alike(text, known))[:MOST_FOUND]


class _Hit:
    """A wording found in a text: where, how much of it is literal, how close its page is."""

    __slots__ = ("end", "near", "page", "score", "start", "wording")

    def __init__(self, page: Page, wording: str, span: tuple[int, int], score: int) -> None:
        self.page = page
        self.wording = wording
        self.start, self.end = span
        self.score = score
        self.near = 0


def _said(text: str, known: list[Page]) -> list[_Hit]:
    """Return the wordings that the text has, the longest first, none inside a longer one."""
    plain = _squeeze(text)
    hits: list[_Hit] = []
    for page in known:
        best: dict[tuple[int, int], _Hit] = {}
        for wording in page.wordings:
            pieces = [piece for piece in map(_squeeze, wording.split("…")) if piece]
            score = sum(char.isalnum() for piece in pieces for char in piece)
            if score < _LEAST:
                continue
            for span in _spans(plain, pieces):
                if span not in best or best[span].score < score:
                    best[span] = _Hit(page, wording, span, score)
        hits += best.values()
    for hit in hits:
        # Of pages with the same wording the one whose name the field has is meant.
        around = plain[max(0, hit.start - 100) : hit.end]
        hit.near = sum(len(word) for word in hit.page.id.split("-") if word in around)
    hits.sort(key=lambda hit: (-hit.score, hit.end - hit.start, -hit.near, hit.page.id))
    kept: list[_Hit] = []
    for hit in hits:
        inside = any(
            other.start <= hit.start and hit.end <= other.end and other.score > hit.score
            for other in kept
        )
        if not inside and all(other.page is not hit.page for other in kept):
            kept.append(hit)
    return kept


def _squeeze(text: str) -> str:
    """Return a text without all that quoting, escaping and wrapping add or take away."""
    text = _ESCAPE.sub(_unescaped, text.replace(_BREAK, ""))
    text = _BULLET.sub(_BREAK, text)
    text = _MARGIN.sub("", text)
    text = text.replace("&#34;", "").replace("&quot;", "").replace("&#39;", "")
    text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
    return _NOISE.sub("", text).lower()


def _unescaped(escape: re.Match[str]) -> str:
    if escape[1]:
        return chr(int(escape[1], 16))
    return "\n" if escape[2] == "n" else " "


def _spans(text: str, pieces: list[str]) -> Iterator[tuple[int, int]]:
    """Yield where the pieces stand one after the other within one error, the tightest way."""
    tightest: dict[int, int] = {}  # start by end: of several starts the last is the tightest
    start = text.find(pieces[0])
    for _ in range(_STARTS):
        if start < 0:
            break
        end = start + len(pieces[0])
        for piece in pieces[1:]:
            at = text.find(piece, end)
            if at < 0 or _BREAK in text[end:at]:
                break
            end = at + len(piece)
        else:
            tightest[end] = start
        start = text.find(pieces[0], start + 1)
    for end, begin in tightest.items():
        yield begin, end


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.lower()))


def _alike(text: str, known: list[Page]) -> list[tuple[Page, str]]:
    """Return pages with words like those of the text, weighed by how rare the words are."""
    asked = _words(text)
    bags = [_words(f"{p.id.replace('-', ' ')} {p.summary} {' '.join(p.wordings)}") for p in known]
    often: dict[str, int] = {}
    for bag in bags:
        for word in bag:
            often[word] = often.get(word, 0) + 1

    def weight(words: set[str]) -> float:
        # A word that no page has says only that the text is about something else.
        return sum((1.0 / math.sqrt(1 + often.get(word, 0)) for word in words), 0.0)

    found = []
    for page, bag in zip(known, bags, strict=True):
        speaks = weight(asked & bag) / max(weight(asked), 1e-9)
        alike, wording = max(
            ((_likeness(asked, _words(wording), weight), wording) for wording in page.wordings),
            default=(0.0, ""),
        )
        if alike >= _ALIKE:
            found.append((alike + 1, page, f"The API server says something like it: {wording}"))
        elif speaks >= _SPEAKS:
            found.append((speaks, page, "The page speaks of it."))
    found.sort(key=lambda entry: (-entry[0], entry[1].id))
    return [(page, how) for _, page, how in found]


def _likeness(asked: set[str], words: set[str], weight: Callable[[set[str]], float]) -> float:
    """Return which part of a wording the text has; one of a few words is like nothing."""
    if len(words) < 4:
        return 0.0
    return weight(asked & words) / weight(words)


def table(style: str = "text", *, color: bool = False) -> str:
    """Return all rules as a table for people (`text`) or as `json`, without an end of line."""
    known = pages.load()
    if style == "json":
        import json

        rows = ",\n".join(json.dumps(_as_dict(page)) for page in known)
        return f'{{"version": 1, "rules": [{rows}]}}'
    paint = Style(color=color)
    wide = max((len(page.id) for page in known), default=0)
    lines = [f"{'rule':{wide}}  {'severity':8}  {'profile':7}  {'server':6}  what it reports"]
    lines += [
        f"{page.id:{wide}}  {paint(f'{page.severity:8}', page.severity)}  {page.profile:7}  "
        f"{'yes' if page.server else '-':6}  {page.summary}"
        for page in known
    ]
    return "\n".join(lines)


def _as_dict(page: Page) -> dict[str, Any]:
    return {
        "id": page.id,
        "severity": page.severity,
        "summary": page.summary,
        "profile": page.profile,
        "server": page.server,
        "since": page.since or None,
        "fix": page.fix or None,
        "effects": list(page.effects),
        "help": page.cure,
        "url": page.url,
    }
