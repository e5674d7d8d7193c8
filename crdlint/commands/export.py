"""The `export` command: the schemas of CRDs for editors, checkers and client generators."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from crdlint import options

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from crdlint.source import Source
    from crdlint.tree import Crd, Node

DIALECTS = ("draft-04", "draft-07", "2020-12")
# What kubeconform's -schema-location and the CRD catalogs of yaml-language-server look for.
TEMPLATE = "{group}/{kind}_{version}.json"
_PLACES = ("group", "kind", "version", "plural")


@click.command(
    epilog="Examples: crdlint export config/crd --output schemas; "
    "kubeconform -schema-location default -schema-location "
    "'schemas/{{.Group}}/{{.ResourceKind}}_{{.ResourceAPIVersion}}.json' samples/; "
    "crdlint export --format openapi --only v1 widgets.yaml > openapi.json"
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
        raise click.UsageError(str(error)) from None
    if not versions:
        raise click.UsageError(f"{', '.join(paths)}: there is no such version of a CRD here")
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
            written[_name(version, template)] = text
    for name, text in written.items():
        file = os.path.join(output or "", name)
        _folder(os.path.dirname(file))
        options.write(file, text)
    if output is not None:
        options.note(f"wrote {len(written)} files below {output}")
    return options.CLEAN


def _versions(sources: Iterable[Source], wanted: str | None) -> Iterator[Node]:
    """Yield the versions of every CRD; raise UsageError for one that the server refuses."""
    from crdlint import document, kubernetes, reading

    for source in sources:
        for part in document.read(source.read(), source.name, wanted=reading.WANTED):
            for subject in reading.subjects(part, kubernetes.NEWEST) if not part.skipped else ():
                if subject.partial:
                    continue
                if subject.crd is None or _refused(subject.crd):
                    raise click.UsageError(
                        f"{source.name}: the API server refuses {subject.name or 'this CRD'};"
                        f" put it right first: crdlint lint {source.name}"
                    )
                yield from (
                    version
                    for version in subject.crd.root.children()
                    if wanted in (None, version.get("name"))
                )


def _refused(crd: Crd) -> bool:
    from crdlint import engine, server

    said = (claim for problem in engine.lint(crd) for claim in server.claims(crd, problem))
    return any(kind not in ("Warning", "Strict") for kind, _ in said)


def _jsonschema(version: Node, dialect: str, closed: bool) -> str:
    """Return the JSON Schema of a version, once its metaschema has taken it."""
    import jsonschema

    from crdlint.exporting import as_jsonschema

    made = as_jsonschema.export(version, dialect=dialect, closed=closed)
    jsonschema.validators.validator_for(made.schema).check_schema(made.schema)
    for field, what in made.unsaid:
        options.note(f"{made.kind} {made.version}: JSON Schema cannot say {what} of {field}")
    return _text(made.schema)


def _openapi(version: Node) -> str:
    """Return the OpenAPI document of a version, once the validator has taken it."""
    import openapi_spec_validator

    from crdlint.exporting import as_openapi

    made: Any = as_openapi.export(version)
    openapi_spec_validator.validate(made)
    return _text(made)


def _text(made: Any) -> str:
    import json

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
    try:
        name = template.format(**values)
    except (KeyError, IndexError, ValueError, AttributeError):
        places = ", ".join(f"{{{place}}}" for place in _PLACES)
        raise click.BadParameter(f"{template!r} is no file name with {places}") from None
    if os.path.isabs(name) or ".." in name.split("/"):
        raise click.BadParameter(f"{name!r} leads out of the folder")
    return name


def _folder(name: str) -> None:
    try:
        os.makedirs(name or ".", exist_ok=True)
    except OSError as error:
        raise click.UsageError(f"{name} cannot be made: {error.strerror}") from None
