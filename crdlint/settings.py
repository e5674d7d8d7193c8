"""What the commands are told: options, over the configuration, over the defaults."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from crdlint import options
from crdlint.helping import option
from crdlint.options import FAIL_ON, PROFILES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from crdlint.api import Report
    from crdlint.config import Config, Finder
    from crdlint.inforce import InForce

EFFECTS = (
    "server-refuses",
    "stored-objects",
    "writers",
    "readers",
    "gitops",
    "rollback",
    "depends-on-webhook",
)
LEVELS = ("error", "warning", "info", "on", "off")
_LOOK, _CONFIG, _OUT, _STATUS = "What to look for", "Configuration", "Output", "Result"


def read_rules(_: click.Context, __: click.Parameter, texts: Sequence[str]) -> list[str]:
    """Read rule ids, separated by commas, of an option that may stand several times."""
    found = [rule for text in texts for word in text.split(",") if (rule := word.strip())]
    for rule in found:
        _known(rule)
    return found


def _known(rule: str) -> None:
    from crdlint import pages
    from crdlint.spelling import meant

    known = pages.ids()
    if rule not in known:
        raise click.BadParameter(
            f"there is no rule {rule!r}{meant(rule, known) or '; `crdlint rules` lists all'}"
        )


def _levels(_: click.Context, __: click.Parameter, texts: Sequence[str]) -> dict[str, str]:
    found = {}
    for text in texts:
        for pair in text.split(","):
            rule, equals, level = (part.strip() for part in pair.partition("="))
            if not equals or level not in LEVELS:
                raise click.BadParameter(f"write RULE=LEVEL with one of {', '.join(LEVELS)}")
            _known(rule)
            found[rule] = level
    return found


def _fail_on(_: click.Context, __: click.Parameter, text: str | None) -> list[str] | None:
    """Read `--fail-on` of `diff`: a severity, `never`, or effects separated by commas."""
    if text is None:
        return None
    words = fail_words(text)
    wrong = [word for word in words if word not in EFFECTS]
    if len(words) == 1 and words[0] in FAIL_ON:
        return words
    if wrong or not words:
        raise click.BadParameter(
            f"{', '.join(map(repr, wrong)) or 'nothing'} is neither a severity"
            f" ({', '.join(FAIL_ON)}) nor effects ({', '.join(EFFECTS)})"
        )
    return words


def fail_words(text: str) -> list[str]:
    """Return the words of a threshold."""
    return [word.strip() for word in text.split(",") if word.strip()]


def complete_rules(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    """Return the rules that start as what was typed: for the completion of shells."""
    from crdlint import pages

    return [rule for rule in pages.ids() if rule.startswith(incomplete)]


def _shared(*, effects: bool) -> list[Callable[[Any], Any]]:
    """Return the options that are shared; `effects` tells whether findings have effects."""
    rules = {"metavar": "RULE,...", "multiple": True, "callback": read_rules}
    threshold: dict[str, Any] = {"type": click.Choice(FAIL_ON), "callback": _one_word}
    if effects:
        threshold = {"metavar": "SEVERITY|EFFECT,...", "callback": _fail_on}
    return [
        option(
            "--profile",
            type=click.Choice(PROFILES),
            group=_LOOK,
            help="Rules to run. default: the server's verdict, data loss and what is always wrong; "
            "api: the Kubernetes API conventions too; strict: everything.",
        ),
        option(
            "--select",
            **rules,
            group=_LOOK,
            shell_complete=complete_rules,
            help="Run these rules and no others.",
        ),
        option(
            "--extend-select",
            **rules,
            group=_LOOK,
            shell_complete=complete_rules,
            help="Run these rules besides those of the profile.",
        ),
        option(
            "--ignore",
            **rules,
            group=_LOOK,
            shell_complete=complete_rules,
            help="Do not run these rules.",
        ),
        option(
            "--severity",
            "levels",
            metavar="RULE=LEVEL,...",
            multiple=True,
            callback=_levels,
            group=_LOOK,
            help="error, warning, info, on or off for single rules.",
        ),
        option(
            "--kubernetes-version",
            "minors",
            metavar="VERSION",
            callback=options.minors,
            group=_LOOK,
            help="API server to speak for: 1.30, or a range as 1.28..1.37. Default: the newest.",
        ),
        option(
            "--config",
            "config_file",
            metavar="FILE",
            group=_CONFIG,
            help="Use this configuration for all files, not the one nearest to each.",
        ),
        option("--no-config", is_flag=True, group=_CONFIG, help="Read no configuration."),
        option(
            "--no-ignores",
            is_flag=True,
            group=_CONFIG,
            help="Report too what comments, annotations and the configuration ignore.",
        ),
        option(
            "--format",
            "outputs",
            metavar="FMT[=FILE]",
            multiple=True,
            callback=options.formats,
            group=_OUT,
            help=options.FORMATS_HELP,
        ),
        option(
            "--statistics",
            is_flag=True,
            group=_OUT,
            help="Count the findings by rule instead of showing them, in the text format.",
        ),
        option(
            "--sarif-include-suppressed",
            "suppressed",
            is_flag=True,
            group=_OUT,
            help="Put what is ignored, known or acknowledged into the SARIF report, marked so.",
        ),
        option(
            "-q", "--quiet", is_flag=True, group=_OUT, help="Print findings only: no notes, no sum."
        ),
        option(
            "-v",
            "--verbose",
            is_flag=True,
            group=_OUT,
            help="Print fingerprints, all that the server says, and what was suppressed and why.",
        ),
        option(
            "--color",
            type=click.Choice(("auto", "always", "never")),
            default="auto",
            show_default=True,
            group=_OUT,
            help="Colours and links in text; NO_COLOR and FORCE_COLOR are heeded.",
        ),
        option(
            "--fail-on",
            **threshold,
            group=_STATUS,
            help="Lowest severity that makes the exit status 1"
            + (", or effects, separated by commas" if effects else "")
            + ". Default: error.",
        ),
        option(
            "--exit-zero",
            is_flag=True,
            group=_STATUS,
            help="Exit with 0 whatever is found; input that cannot be read is still 2.",
        ),
    ]


def _one_word(_: click.Context, __: click.Parameter, text: str | None) -> list[str] | None:
    return None if text is None else [text]


def shared(*, effects: bool = False) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add the options that are shared; a command gets them together, as `chosen`."""

    def add(command: Callable[..., Any]) -> Callable[..., Any]:
        def run(**given: Any) -> Any:
            chosen = Chosen({key: given.pop(key) for key in Chosen.__annotations__})
            return command(chosen=chosen, **given)

        run.__doc__ = command.__doc__
        run.__name__ = command.__name__
        for decorate in reversed(_shared(effects=effects)):
            run = decorate(run)
        return run

    return add


class Chosen:
    """What the shared options say; None or empty where they say nothing."""

    color: str
    config_file: str | None
    exit_zero: bool
    extend_select: list[str]
    fail_on: list[str] | None
    ignore: list[str]
    levels: dict[str, str]
    minors: list[int] | None
    no_config: bool
    no_ignores: bool
    outputs: list[tuple[str, str]]
    profile: str | None
    quiet: bool
    select: list[str]
    statistics: bool
    suppressed: bool
    verbose: bool

    def __init__(self, given: dict[str, Any]) -> None:
        self.__dict__.update(given)

    def settle(self, paths: Iterable[str], *, effects: bool = False) -> Settings:
        """Find the configuration of a run over some paths; raise UsageError where it is broken."""
        from crdlint.config import ConfigError, Finder, load

        if self.config_file and self.no_config:
            raise click.UsageError("give --config or --no-config, not both")
        try:
            always = load(self.config_file) if self.config_file else None
            finder = Finder(always=always, off=self.no_config)
            return Settings(self, finder, finder.of_run(paths), effects=effects)
        except ConfigError as error:
            raise click.ClickException(str(error)) from None


class Settings:
    """What is in force for a run as a whole, and its policy."""

    __slots__ = ("chosen", "config", "fail_on", "minors", "policy")

    def __init__(
        self, chosen: Chosen, finder: Finder, config: Config | None, *, effects: bool
    ) -> None:
        from crdlint.inforce import Flags, InForce

        self.chosen = chosen
        self.config = config
        flags = Flags(
            chosen.profile,
            levels=chosen.levels,
            on=chosen.extend_select,
            off=chosen.ignore,
            only=chosen.select,
            heed=not chosen.no_ignores,
        )
        self.policy: InForce = InForce(config, finder, flags)
        self.minors: list[int] | None = chosen.minors
        if self.minors is None and (text := self.get("kubernetes-version")):
            self.minors = options.read_minors(text)
        self.fail_on: list[str] = chosen.fail_on or fail_words(self.get("fail-on") or "error")
        if not effects and self.fail_on[0] not in FAIL_ON:
            self.fail_on = ["error"]  # the configuration speaks of effects, for `diff`

    def get(self, key: str) -> Any:
        """Return what the configuration says of a key, or None."""
        return self.config.get(key) if self.config else None

    def finish(
        self, report: Report, *, diff: bool = False, outputs: list[tuple[str, str]] | None = None
    ) -> int:
        """Write a report, and return the exit status: as `outputs` say, else as was asked for."""
        if self.chosen.verbose:
            used = self.config.file if self.config else "none"
            options.note(f"configuration: {used}")
        return options.finish(
            report,
            self.chosen.outputs if outputs is None else outputs,
            self.chosen.color,
            failed(report, self.fail_on) and not self.chosen.exit_zero,
            diff=diff,
            quiet=self.chosen.quiet,
            verbose=self.chosen.verbose,
            statistics=self.chosen.statistics,
            suppressed=self.chosen.suppressed,
        )


def servers(minors: list[int] | None, paths: Iterable[str]) -> list[int] | None:
    """Return the servers to speak for: those an option names, else those of the configuration.

    For commands that take no other part in it; None where neither says anything.
    """
    if minors is not None:
        return minors
    from crdlint.config import ConfigError, Finder

    try:
        config = Finder().of_run(paths)
    except ConfigError as error:
        raise click.ClickException(str(error)) from None
    text = config.get("kubernetes-version") if config else None
    return options.read_minors(text) if text else None


def failed(report: Report, fail_on: list[str]) -> bool:
    """Tell whether a finding is at or above a severity, or has one of the effects."""
    from crdlint.policy import fails

    if fail_on[0] in FAIL_ON:
        return fails(report.findings, fail_on[0])
    wanted = set(fail_on)
    return any(f.severity != "info" and wanted & set(f.effects) for f in report.findings)
