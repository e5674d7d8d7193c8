"""The `export` command: the schemas of CRDs for editors, checkers and client generators."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from crdlint import options
from crdlint.helping import Command

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from crdlint.reading import Subject
    from crdlint.source import Source
    from crdlint.tree import Node

DIALECTS = ("draft-04", "draft-07", "2020-12")
# What kubeconform's -schema-location and the CRD catalogs of yaml-language-server look for.
TEMPLATE = "{group}/{kind}_{version}.json"
# What the server says of CRDs that it has all the same; a bad request is one that kubectl printed.
_TAKEN = ("Warning", "Strict", "BadRequest")
_KUBECONFORM = "'schemas/{{.Group}}/{{.ResourceKind}}_{{.ResourceAPIVersion}}.json'"
_PLACES = ("group", "kind", "version", "plural")


@click.command(
    cls=Command,
    short_help="Write the schemas of CRDs for editors and other tools.",
    examples=(
        ("crdlint export config/crd --output schemas", "a JSON Schema for each version, then"),
        (
            f"kubeconform -schema-location default -schema-location \\\n  {_KUBECONFORM} samples",
            "checks objects by them",
        ),
        (
            "crdlint export --format openapi --only v1 widgets.yaml > openapi.json",
            "for client generators",
        ),
    ),
    statuses=(
        ("0", "written"),
        ("2", "wrong usage, or a CRD that the API server refuses"),
    ),
)
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option(
    "--format",
    "style",
    type=click.Choice(("jsonschema", "openapi")),
    default="jsonschema",
    show_default=True,
    help="Standalone JSON Schemas, or OpenAPI 3.0 documents as the API server publishes them.",
)
@click.option("--output", metavar="DIR", help="Write a file for each version below this folder.")
@click.option(
    "--file-name",
    "template",
    default=TEMPLATE,
    show_default=True,
    metavar="TEMPLATE",
    help="How files are named; there are {group}, {kind} (in lower case), {version}, {plural}.",
)
@click.option("--only", "wanted", metavar="VERSION", help="Only this version of each CRD.")
@click.option(
    "--dialect",
    type=click.Choice(DIALECTS),
    default="draft-07",
    show_default=True,
    help="Of JSON Schema. draft-07 is what kubeconform, yaml-language-server and VS Code read.",
)
@click.option("--closed", is_flag=True, help="Refuse fields that the API server would prune.")
def export(
    paths: tuple[str, ...],
    style: str,
    output: str | None,
    template: str,
    wanted: str | None,
    dialect: str,
    closed: bool,
) -> int:
    """Write the schemas of CRDs for other tools.

    What the API server accepts is valid under the JSON Schema; what that cannot say (CEL rules,
    keys of list maps, some formats) is listed on stderr. Every schema is checked before it is
    written.
    """
    from crdlint import source

    try:
        versions = list(_versions(source.find(paths), wanted))
    except source.SourceError as error:
        raise click.ClickException(str(error)) from None
    if not versions:
        raise click.ClickException(f"{', '.join(paths)}: there is no such version of a CRD here")
    if output == "":
        raise click.UsageError("--output names no folder; write --output . for this one")
    if output is None and len(versions) > 1:
        raise click.UsageError(
            f"there are {len(versions)} versions to write; name a folder with --output, or one"
            " version with --only"
        )
    written: dict[str, str] = {}
    for version in versions:
        text = _openapi(version) if style == "openapi" else _jsonschema(version, dialect, closed)
        if output is None:
            click.echo(text, nl=False)
        else:
            name = _name(version, template)
            if written.setdefault(name, text) != text:
                raise click.UsageError(
                    f"two versions would be written to {name}; tell them apart with --file-name"
                    " (or export one of them alone)"
                )
    for name, text in written.items():
        file = os.path.join(output or "", name)
        _folder(os.path.dirname(file))
        options.write(file, text)
    if output is not None:
        files = "1 file" if len(written) == 1 else f"{len(written)} files"
        options.note(f"wrote {files} below {output}")
    return options.CLEAN


def _versions(sources: Iterable[Source], wanted: str | None) -> Iterator[Node]:
    """Yield the versions of every CRD; raise ClickException for one that the server refuses."""
    from crdlint import document, kubernetes, reading

    for source in sources:
        for part in document.read(source.read(), source.name, wanted=reading.WANTED):
            for subject in reading.subjects(part, kubernetes.NEWEST) if not part.skipped else ():
                if subject.partial:
                    continue
                if (said := _refusal(subject)) or subject.crd is None:
                    raise click.ClickException(said)
                yield from (
                    version
                    for version in subject.crd.root.children()
                    if wanted in (None, version.get("name"))
                )


def _refusal(subject: Subject) -> str:
    """Say where and why the API server refuses a CRD, and what to do, or ""."""
    from crdlint import engine, server

    crd, name = subject.crd, subject.document.name
    if crd is None:
        hit = subject.hits[0]
        old = hit.rule == "api-version-not-served" and "v1beta1" in hit.message
        cure = f"crdlint {'convert --write' if old else 'lint'} {name}"
        return f"{name}:{hit.span.line}: {hit.message}; put it right first: {cure}"
    for problem in engine.lint(crd):
        if any(kind not in _TAKEN for kind, _ in server.claims(crd, problem)):
            return (
                f"{name}:{subject.locate(problem.place.path).line}: the API server refuses"
                f" {crd.name or 'this CRD'}: {problem.message}; put it right first: crdlint lint"
                f" {name}"
            )
    return ""


def _jsonschema(version: Node, dialect: str, closed: bool) -> str:
    """Return the JSON Schema of a version, once its metaschema has taken it."""
    import jsonschema

    from crdlint.exporting import as_jsonschema
    from crdlint.objects.guard import deep

    with deep():
        made = as_jsonschema.export(version, dialect=dialect, closed=closed)
    check = jsonschema.validators.validator_for(made.schema).check_schema
    _check(check, made.schema, f"{made.kind} {made.version}")
    for field, what in made.unsaid:
        options.note(f"{made.kind} {made.version}: JSON Schema cannot say {what} of {field}")
    return _text(made.schema)


def _openapi(version: Node) -> str:
    """Return the OpenAPI document of a version, once the validator has taken it.

    The server publishes patterns as they are, so those that only Go reads are not held against it.
    """
    import openapi_spec_validator

    from crdlint.exporting import as_openapi
    from crdlint.objects.guard import deep

    what = f"{version.crd.names.get('kind')} {version.get('name')}"
    unread: dict[str, None] = {}
    with deep():
        made: Any = as_openapi.export(version)
        readable = _without_patterns(made, unread)
    _check(openapi_spec_validator.validate, readable, what)
    for pattern in unread:
        options.note(f"{what}: the pattern {pattern} is read by Go, and not by all other readers")
    return _text(made)


def _without_patterns(value: Any, unread: dict[str, None]) -> Any:
    """Return a document without the patterns that Python does not read; list them."""
    import re

    if isinstance(value, list):
        return [_without_patterns(item, unread) for item in value]
    if not isinstance(value, dict):
        return value
    kept = {}
    for key, item in value.items():
        if key == "pattern" and isinstance(item, str):
            try:
                re.compile(item)
            except re.error:
                unread[item] = None
                continue
        kept[key] = _without_patterns(item, unread)
    return kept


def _check(check: Callable[[Any], Any], made: Any, what: str) -> None:
    """Have a document checked; say so where it is too deep for the one who checks."""
    try:
        check(made)
    except RecursionError:
        options.note(f"{what}: it is nested too deeply for its validator, and so was not checked")


def _text(made: Any) -> str:
    import json

    from crdlint.objects.guard import deep

    with deep():
        return json.dumps(made, indent=2, ensure_ascii=False) + "\n"


def _name(version: Node, template: str) -> str:
    """Return the file name of a version; it stays below the folder."""
    spec, names = version.crd.spec, version.crd.names
    values = {
        "group": str(spec.get("group")),
        "kind": str(names.get("kind")).lower(),
        "version": str(version.get("name")),
        "plural": str(names.get("plural")),
    }
    places = [
        (place, spec, conversion)
        for _, place, spec, conversion in _parsed(template)
        if place is not None
    ]
    if any(place not in values or spec or conversion for place, spec, conversion in places):
        listed = ", ".join(f"{{{place}}}" for place in _PLACES)
        raise click.BadParameter(f"{template!r} is no file name with {listed}")
    name = template.format(**values)
    if not os.path.basename(name):
        raise click.BadParameter(f"{template!r} names no file")
    if os.path.isabs(name) or ".." in name.split("/"):
        raise click.BadParameter(f"{name!r} leads out of the folder")
    return name


def _parsed(template: str) -> list[Any]:
    from string import Formatter

    try:
        return list(Formatter().parse(template))
    except ValueError:
        return [("", "", "", None)]


def _folder(name: str) -> None:
    try:
        os.makedirs(name or ".", exist_ok=True)
    except OSError as error:
        raise click.UsageError(
            f"{name} cannot be made: {error.strerror}; name another folder with --output"
        ) from None
