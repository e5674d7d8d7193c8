"""The `lint` command: what a server says to CRDs on create, and what hurts later."""

from __future__ import annotations

import click

from crdlint import options


@click.command(
    epilog="Examples: crdlint lint config/crd; helm template . | crdlint lint -; "
    "crdlint lint --kubernetes-version 1.28..1.37 --format sarif=crdlint.sarif crd.yaml"
)
@click.argument("paths", nargs=-1, metavar="PATH...")
@click.option("--stdin-filename", metavar="NAME", help="Name to show for what comes from stdin.")
@click.option(
    "--files-from", metavar="FILE", help="Read more paths from FILE (or -), one a line or NUL."
)
@click.option(
    "--jobs",
    type=click.IntRange(min=0),
    default=0,
    metavar="N",
    help="Processes for large inputs; 0 (default) for as many as there are processors.",
)
@options.findings
def lint(
    paths: tuple[str, ...],
    stdin_filename: str | None,
    files_from: str | None,
    jobs: int,
    minors: list[int] | None,
    outputs: list[tuple[str, str]],
    fail_on: str,
    profile: str,
    color: str,
) -> int:
    """Check CRDs as the API server does on create, and for what hurts later.

    PATH is a file, a folder (all .yaml, .yml and .json below it) or - for stdin.
    """
    from crdlint import api, source
    from crdlint.policy import Policy, fails

    if not paths and not files_from:
        raise click.UsageError("name a file, a folder, or - for stdin: crdlint lint config/crd")
    progress = options.Progress()
    try:
        sources = source.find(paths, stdin_filename=stdin_filename or "", files_from=files_from)
        report = api.lint(
            sources,
            minors=minors,
            policy=Policy(profile),
            progress=progress.tick if progress.on else None,
            jobs=jobs,
        )
    except source.SourceError as error:
        progress.clear()
        raise click.UsageError(str(error)) from None
    progress.clear()
    return options.finish(report, outputs, color, fails(report.findings, fail_on))
