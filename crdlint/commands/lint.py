"""The `lint` command: what a server says to CRDs on create, and what hurts later."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from crdlint import options, settings
from crdlint.helping import STATUSES, Command, option

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crdlint.api import Report
    from crdlint.baseline import Baseline
    from crdlint.settings import Chosen, Settings

_KNOWN = "Known findings"
EXAMPLES = (
    ("crdlint lint config/crd", "all .yaml, .yml and .json files below a folder"),
    ("helm template . | crdlint lint -", "what a chart renders"),
    ("crdlint lint --kubernetes-version 1.28..1.37 crd.yaml", "ten servers at once"),
    ("crdlint lint --format sarif=crdlint.sarif --format text .", "two reports in one run"),
    ("crdlint lint --new-since origin/main config/crd", "only what a pull request adds"),
    (
        "crdlint lint --baseline known.json --update-baseline .",
        "start with what there is, and hear of new findings only",
    ),
)


@click.command(
    cls=Command,
    short_help="Check CRDs as the API server does, and for what hurts later.",
    examples=EXAMPLES,
    statuses=STATUSES,
)
@click.argument("paths", nargs=-1, metavar="[PATH]...")
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
@option(
    "--baseline",
    "baseline_file",
    metavar="FILE",
    group=_KNOWN,
    help="Leave out the findings in this file; say which of them are no more.",
)
@option(
    "--update-baseline",
    is_flag=True,
    group=_KNOWN,
    help="Write all findings into the baseline, so that only new ones count from now on.",
)
@option(
    "--new-since",
    metavar="REV",
    group=_KNOWN,
    help="Leave out the findings that the files had in this git revision.",
)
@settings.shared()
def lint(
    paths: tuple[str, ...],
    stdin_filename: str | None,
    files_from: str | None,
    jobs: int,
    baseline_file: str | None,
    update_baseline: bool,
    new_since: str | None,
    chosen: Chosen,
) -> int:
    """Check CRDs as the API server does on create, and for what hurts later.

    PATH is a file, a folder (all .yaml, .yml and .json below it) or - for stdin. Without one, the
    paths of the configuration are read.
    """
    from crdlint.baseline import BaselineError
    from crdlint.config import ConfigError
    from crdlint.source import SourceError

    run = chosen.settle([*paths, *([stdin_filename] if stdin_filename else [])])
    progress = options.Progress()
    try:
        named = list(paths) or (run.config.paths() if run.config and not files_from else [])
        if not named and not files_from:
            raise click.UsageError("name a file, a folder, or - for stdin: crdlint lint config/crd")
        report = _lint(run, named, stdin_filename, files_from, jobs, progress)
        _judge_configured_ignores(report, run, whole=not paths and not files_from)
        if new_since is not None:
            _old_findings(run, new_since, named, files_from).apply(report, run.policy)
        file = baseline_file or (run.config.file_of("baseline") if run.config else "")
        if update_baseline:
            return _update(file, report, chosen)
        if file:
            from crdlint import baseline

            baseline.read(file).apply(report, run.policy)
    except (SourceError, ConfigError, BaselineError) as error:
        raise click.ClickException(str(error)) from None
    finally:
        progress.clear()
    return run.finish(report)


def _lint(
    run: Settings,
    paths: Sequence[str],
    stdin_filename: str | None,
    files_from: str | None,
    jobs: int,
    progress: options.Progress,
) -> Report:
    from crdlint import api, source

    sources = list(source.find(paths, stdin_filename=stdin_filename or "", files_from=files_from))
    for each in sources:
        run.policy.for_file(each.name)  # a broken configuration is for this process to report
    return api.lint(
        sources,
        minors=run.minors,
        policy=run.policy,
        progress=progress.tick if progress.on else None,
        jobs=jobs,
    )


def _judge_configured_ignores(report: Report, run: Settings, *, whole: bool) -> None:
    """Report the ignores of the configuration without use, where all they speak of was read.

    That is a `whole` project, or the one CRD that an entry names.
    """
    from crdlint import api

    for ignore in run.policy.ignores if run.policy.heed else ():
        if whole or ignore.crd in report.names:
            report.findings += report.ignores.unused(ignore, run.policy, api.of_lint)
    report.close()


def _old_findings(
    run: Settings, revision: str, paths: Sequence[str], files_from: str | None
) -> Baseline:
    """Return what the same paths have in a revision, by the rules of today."""
    from crdlint import api, baseline, source
    from crdlint.revision import before

    named = [path for path in paths if path != source.STDIN]
    if files_from is not None:
        if files_from == source.STDIN:
            raise click.UsageError("--new-since cannot read the list of files from stdin")
        named += source.listed_paths(files_from)
    if len(named) < len(paths):
        raise click.UsageError("--new-since needs files in git; stdin is none")
    found = api.lint(before(revision, named), minors=run.minors, policy=run.policy)
    return baseline.of_findings(found.findings, f"{revision} has it too")


def _update(file: str, report: Report, chosen: Chosen) -> int:
    """Write the findings of a run into the baseline."""
    import os

    from crdlint import baseline

    if not file:
        raise click.UsageError("--update-baseline needs --baseline FILE, here or in crdlint.toml")
    known = baseline.read(file) if os.path.exists(file) else baseline.Baseline((), file=file)
    options.write(file, known.updated(report))
    if not chosen.quiet:
        count = len(report.findings)
        options.note(f"{file} has {count} {'finding' if count == 1 else 'findings'} now")
    for line in report.errors:
        click.echo(f"error: {line}", err=True)
    return options.WRONG if report.errors else options.CLEAN
