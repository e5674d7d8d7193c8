"""The `validate` command: what a server does with custom resources."""

from __future__ import annotations

import click

from crdlint import options


@click.command(
    epilog="Examples: crdlint validate --crds config/crd config/samples; "
    "kubectl get widgets -A -o yaml | crdlint validate --crds HEAD:config/crd -; "
    "crdlint validate --crds crd.yaml --old stored.yaml --kubernetes-version 1.29 new.yaml"
)
@click.argument("paths", nargs=-1, required=True, metavar="OBJECT...")
@click.option(
    "--crds",
    multiple=True,
    required=True,
    metavar="PATH",
    help="CRDs of the objects: a file, a folder, -, REVISION:PATH of git or cluster:NAME. "
    "Repeatable.",
)
@click.option("--strict", is_flag=True, help="Refuse unknown fields, as kubectl asks for.")
@click.option("--strict-kinds", is_flag=True, help="Refuse objects whose kind no CRD has.")
@click.option(
    "--subresource", type=click.Choice(("status",)), help="Write to this subresource instead."
)
@options.findings
def validate(
    paths: tuple[str, ...],
    crds: tuple[str, ...],
    strict: bool,
    strict_kinds: bool,
    subresource: str | None,
    minors: list[int] | None,
    outputs: list[tuple[str, str]],
    fail_on: str,
    profile: str,  # noqa: ARG001 - what the server does has no profile
    color: str,
) -> int:
    """Send custom resources the API server's way: prune, default, validate.

    OBJECT is a file, a folder, - for stdin, or REVISION:PATH of git; files may hold several
    objects, and Lists as `kubectl get -o yaml` prints them.
    """
    from crdlint import validating
    from crdlint.policy import fails
    from crdlint.revision import side
    from crdlint.source import SourceError

    try:
        report = validating.validate(
            [source for path in crds for source in side(path)],
            [source for path in paths for source in side(path)],
            minors=minors,
            strict=strict,
            strict_kinds=strict_kinds,
            status=subresource == "status",
        )
    except (SourceError, validating.ValidateError) as error:
        raise click.UsageError(str(error)) from None
    return options.finish(report, outputs, color, fails(report.findings, fail_on))
