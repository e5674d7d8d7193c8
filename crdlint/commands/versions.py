"""The `versions` command: what conversion None does between the versions of a CRD."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from crdlint import options
from crdlint.helping import Command

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from crdlint.reading import Subject
    from crdlint.source import Source
    from crdlint.tree import Node
    from crdlint.versiontable import Line, Table

_SIGNS = {"lossless": "=", "changed": "~", "refused": "x", "lossy": "-"}
_LEGEND = "= lossless   ~ other default   x values may be refused   - dropped"


@click.command(
    cls=Command,
    short_help="Show which fields conversion None loses between versions.",
    examples=(
        ("crdlint versions config/crd/widgets.yaml", "fields that not all versions have alike"),
        (
            "crdlint versions --all --format markdown config/crd > VERSIONS.md",
            "all fields, as a page",
        ),
    ),
    statuses=(("0", "shown"), ("2", "wrong usage, or input that cannot be read")),
)
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option("--all", "every", is_flag=True, help="List fields too that no version changes.")
@options.style("text", "markdown", "json")
def versions(paths: tuple[str, ...], every: bool, style: str) -> int:
    """Compare the versions of a CRD field by field, each with every other, both ways.

    Under conversion None the API server only rewrites apiVersion: what the other version lacks is
    dropped, what it forbids is refused at the next write. The table says which fields that hits,
    and what a conversion webhook has to do.
    """
    from crdlint import source

    tables: list[tuple[str, Table]] = []
    unread = 0
    try:
        for name, found in _tables(source.find(paths)):
            if isinstance(found, str):
                unread += 1
                click.echo(f"error: {found}", err=True)
            else:
                tables.append((name, found))
    except source.SourceError as error:
        raise click.ClickException(str(error)) from None
    if not tables and not unread:
        options.note("no CustomResourceDefinition found")
    if style == "json":
        import json

        shown = [_as_json(name, table, every=every) for name, table in tables]
        click.echo(json.dumps({"version": 1, "crds": shown}, indent=1, ensure_ascii=False))
    elif tables:
        lines = _markdown if style == "markdown" else _text
        click.echo("\n\n".join("\n".join(lines(n, t, every=every)) for n, t in tables))
    return options.WRONG if unread else options.CLEAN


def _tables(sources: Iterable[Source]) -> Iterator[tuple[str, Table | str]]:
    """Yield the file and the table of each CRD, or why there is none."""
    from crdlint import document, kubernetes, reading, versiontable

    for source in sources:
        for part in document.read(source.read(), source.name, wanted=reading.WANTED):
            if part.skipped:
                continue
            for subject in reading.subjects(part, kubernetes.NEWEST):
                if subject.partial:
                    continue
                if why := _unread(subject):
                    yield source.name, why
                elif subject.crd is not None:
                    yield source.name, versiontable.table(subject.crd)


def _unread(subject: Subject) -> str:
    """Say where and why the versions of a CRD cannot be held against each other, or ""."""
    name, crd = subject.document.name, subject.crd
    if crd is None:
        hit = subject.hits[0]
        old = hit.rule == "api-version-not-served" and "v1beta1" in hit.message
        cure = f"crdlint convert --write {name}" if old else "crdlint lint says more"
        return f"{name}:{hit.span.line}: {hit.message}; {cure}"
    names = [version.get("name") for version in crd.root.children()]
    why = ""
    if not names or not all(names):
        why = "a version has no name" if names else "there is no version"
    elif len(set(names)) < len(names):
        why = f"two versions are named {max(names, key=names.count)}"
    line = subject.locate(("spec", "versions"), key=True).line
    return f"{name}:{line}: {why}; crdlint lint says more" if why else ""


def _names(table: Table) -> list[str]:
    return [str(version.get("name")) for version in table.versions]


def _ways(table: Table) -> list[tuple[str, str]]:
    from itertools import permutations

    return list(permutations(_names(table), 2))


def _lines_of(table: Table, *, every: bool) -> list[Line]:
    return [line for line in table.lines.values() if every or line.differs]


def _state(version: Node) -> str:
    words = ["served" if version.get("served") else "not served"]
    words += ["storage version"] if version.get("storage") else []
    words += ["deprecated"] if version.get("deprecated") else []
    return ", ".join(words)


def _strategy(table: Table) -> str:
    return str((table.crd.spec.get("conversion") or {}).get("strategy") or "None")


def _heading(table: Table) -> str:
    """Say in a sentence whether objects can travel between the versions."""
    names = _names(table)
    if len(names) == 1:
        return f"{names[0]} is the only version"
    bad = [f"{a} to {b}" for a, b in _ways(table) if table.worst(a, b) != "lossless"]
    if not bad:
        return "objects travel between all versions unharmed"
    if _strategy(table) == "None":
        return f"under conversion None objects are harmed from {', '.join(bad)}"
    return f"the conversion webhook has work to do from {', '.join(bad)}"


def _text(name: str, table: Table, *, every: bool) -> Iterator[str]:
    yield f"{table.crd.name} ({name}): {_heading(table)}"
    for version in table.versions:
        yield f"  {version.get('name')}: {_state(version)}"
    lines = _lines_of(table, every=every)
    if not lines:
        return
    ways = _ways(table)
    heads = [f"{a}->{b}" for a, b in ways]
    width = max(len(line.field or "the root") for line in lines)
    yield ""
    yield f"  {'field':{width}}  {'  '.join(heads)}"
    for line in lines:
        signs = [f"{_sign(line, way):^{len(head)}}" for way, head in zip(ways, heads, strict=True)]
        yield f"  {line.field or 'the root':{width}}  {'  '.join(signs)}".rstrip()
        for name_of in _names(table):
            yield f"      {name_of}: {_cell(line, name_of)}"
        for way in ways:
            for why in line.ways[way].why if way in line.ways else ():
                yield f"      {way[0]}->{way[1]}: {why}"
    yield f"  {_LEGEND}"
    yield from _duties(lines, ways, "  ")


def _sign(line: Line, way: tuple[str, str]) -> str:
    return _SIGNS[line.ways[way].verdict] if way in line.ways else "="


def _cell(line: Line, version: str) -> str:
    from crdlint.versiontable import described

    if version not in line.schemas:
        return "absent"
    schema, required = line.schemas[version]
    return described(schema, required=required)


def _duties(lines: list[Line], ways: list[tuple[str, str]], indent: str) -> Iterator[str]:
    """Yield what a conversion webhook has to do, way by way."""
    from crdlint.versiontable import duty

    for source, target in ways:
        duties = [text for line in lines if (text := duty(line, source, target))]
        if duties:
            yield f"{indent}A webhook from {source} to {target} has to"
            yield from (f"{indent}- {text}" for text in duties)


def _markdown(name: str, table: Table, *, every: bool) -> Iterator[str]:
    names, ways = _names(table), _ways(table)
    yield f"### `{table.crd.name}`"
    yield ""
    yield f"`{name}`: {_heading(table)}."
    yield ""
    yield from (f"- `{v.get('name')}`: {_state(v)}" for v in table.versions)
    lines = _lines_of(table, every=every)
    if not lines:
        return
    yield ""
    heads = ["field", *names, *(f"{a} → {b}" for a, b in ways)]
    yield f"| {' | '.join(heads)} |"
    yield "|" + " --- |" * len(heads)
    for line in lines:
        cells = [f"`{line.field or 'the root'}`"]
        cells += [_escaped(_cell(line, version)) for version in names]
        cells += [line.ways[way].verdict if way in line.ways else "lossless" for way in ways]
        yield f"| {' | '.join(cells)} |"
    duties = list(_duties(lines, ways, ""))
    if duties:
        yield ""
    yield from (text if text.startswith("- ") else f"\n{text}\n" for text in duties)


def _escaped(text: str) -> str:
    for char in "\\|<*_`":
        text = text.replace(char, "\\" + char)
    return text


def _as_json(name: str, table: Table, *, every: bool) -> dict[str, Any]:
    from crdlint.versiontable import duty

    return {
        "file": name,
        "document": table.crd.document.index,
        "crd": table.crd.name,
        "conversion": _strategy(table),
        "versions": [
            {
                "name": version.get("name"),
                "served": bool(version.get("served")),
                "storage": bool(version.get("storage")),
                "deprecated": bool(version.get("deprecated")),
            }
            for version in table.versions
        ],
        "fields": [
            {
                "field": line.field,
                "versions": {
                    version: {"required": required, "says": _cell(line, version)}
                    for version, (_, required) in line.schemas.items()
                },
                "ways": [
                    {
                        "from": source,
                        "to": target,
                        "verdict": way.verdict,
                        "why": way.why,
                        "webhook": duty(line, source, target) or None,
                    }
                    for (source, target), way in line.ways.items()
                ],
            }
            for line in _lines_of(table, every=every)
        ],
    }
