"""The commands `config` and `init`: what is in force and from where, and a file to start with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from crdlint import options, settings
from crdlint.helping import Command, option

if TYPE_CHECKING:
    from crdlint.config import Config

_STATUSES = (("0", "written"), ("2", "a configuration that cannot be used"))
_DEFAULTS = {
    "profile": "default",
    "kubernetes-version": "the newest known",
    "paths": [],
    "fail-on": "error",
    "stability": "beta",
    "baseline": "",
}
_TEMPLATE = """\
# The configuration of crdlint for the files in this folder and below it. Command-line options win.
# All keys: https://github.com/crdlint/crdlint/blob/main/docs/configuration.md

# The rules to run. default: what the API server says, data loss, and what is always wrong;
# api: the Kubernetes API conventions too; strict: everything.
profile = "default"

# The API servers to speak for: one version, or a range such as "1.28..1.37". Default: the newest.
# kubernetes-version = "1.30..1.37"

# What `crdlint lint` reads when it is given no path; * and ** are patterns.
# paths = ["config/crd", "charts/*/crds"]

# The lowest severity that makes the exit status 1: error, warning, info or never.
# fail-on = "error"

# `crdlint diff` holds versions less stable than this to less: alpha, beta or stable.
# stability = "beta"

# Findings that are known; written by `crdlint lint --update-baseline`.
# baseline = "crdlint-baseline.json"

# error, warning, info, on or off for single rules; `crdlint rules` lists them.
[rules]
# status-without-subresource = "off"

# What is different for some files.
# [[overrides]]
# paths = ["config/crd/legacy/**"]
# rules = { unknown-field = "warning" }

# Findings that do not count, by rule, CRD and field; at least one of them, and always a reason.
# [[ignore]]
# rule = "type-required"
# crd = "*.legacy.example.com"
# field = ".spec.template.**"
# reason = "generated; the next release drops it"

# Findings of `crdlint diff` that are meant; `crdlint diff --ack-template FILE` writes such entries.
# [[acknowledge]]
# fingerprint = "7c28660cbdc7bd970e33d27f"
# crd = "widgets.example.com"
# reason = "v1alpha1 has no users outside of the team"
# until = 2030-12-31
"""


@click.command(
    "config",
    cls=Command,
    short_help="Show the configuration in force, and where it is from.",
    statuses=_STATUSES,
    examples=(
        ("crdlint config", "for the current folder"),
        ("crdlint config charts/crds/widgets.yaml", "for one file, overrides applied"),
        ("crdlint config --schema > crdlint.schema.json", "for editors that know JSON Schema"),
    ),
)
@click.argument("path", required=False, default=".", metavar="[PATH]")
@click.option("--config", "config_file", metavar="FILE", help="Show this configuration instead.")
@click.option("--schema", is_flag=True, help="Print the JSON Schema of the configuration.")
@options.style("text", "json")
def config(path: str, config_file: str | None, schema: bool, style: str) -> int:
    """Show the configuration in force for a file or folder, and where each value is from."""
    from crdlint.config import ConfigError, Finder, load
    from crdlint.configcheck import schema_file

    if schema:
        with open(schema_file(), encoding="utf-8") as stream:
            click.echo(stream.read(), nl=False)
        return options.CLEAN
    try:
        finder = Finder(always=load(config_file) if config_file else None)
        found = finder.of_run([path])
        rows = list(_in_force(found, path))
    except ConfigError as error:
        raise click.ClickException(str(error)) from None
    if style == "json":
        import json

        shown = {
            "version": 1,
            "file": found.file if found else None,
            "settings": [
                {"key": key, "value": value, "from": origin} for key, value, origin in rows
            ],
        }
        click.echo(json.dumps(shown, indent=1))
    else:
        click.echo(f"configuration: {found.file if found else 'none found'}")
        width = max(len(key) for key, _, _ in rows)
        for key, value, origin in rows:
            shown_value = ", ".join(value) if isinstance(value, list) else value
            click.echo(f"{key:{width}}  {shown_value or '-'}  ({origin})")
    return options.CLEAN


def _in_force(found: Config | None, path: str) -> Any:
    """Yield key, value and origin of all that is in force for a path."""
    import os

    overrides = found.overrides(path) if found and not os.path.isdir(path) else []
    for key, default in _DEFAULTS.items():
        value, origin = default, "default"
        if found and key in found.data:
            value, origin = found.data[key], _origin(found, key)
        for i in overrides:
            assert found is not None
            if key in found.data["overrides"][i]:
                value = found.data["overrides"][i][key]
                origin = _origin(found, "overrides", i, key)
        yield key, value, origin
    if found is None:
        return
    rules: dict[str, tuple[str, tuple[Any, ...]]]
    rules = {rule: (level, ("rules", rule)) for rule, level in found.get("rules", {}).items()}
    for i in overrides:
        for rule, level in found.data["overrides"][i].get("rules", {}).items():
            rules[rule] = (level, ("overrides", i, "rules", rule))
    for rule, (level, where) in sorted(rules.items()):
        yield f"rules.{rule}", level, _origin(found, *where)
    for ignore in found.ignores():
        rule = ", ".join(ignore.rules) or "any rule"
        meant = " in ".join(filter(None, (rule, ignore.field, ignore.crd)))
        yield "ignore", f"{meant}: {ignore.reason}", f"{ignore.file}:{ignore.line}"
    for entry in found.acknowledged():
        until = f", until {entry.until}" if entry.until else ""
        about = f"{entry.fingerprint}: {entry.reason}{until}"
        yield "acknowledge", about, f"{entry.file}:{entry.line}"


def _origin(found: Config, *path: Any) -> str:
    return f"{found.file}:{found.line(*path)}"


@click.command(
    cls=Command,
    statuses=(("0", "written"), ("2", "the file is there already, or cannot be written")),
    examples=(
        ("crdlint init", "write crdlint.toml"),
        ("crdlint init --ignore type-required", "start with a rule switched off"),
    ),
)
@click.argument("folder", required=False, default=".", metavar="[FOLDER]")
@option(
    "--ignore",
    metavar="RULE,...",
    multiple=True,
    callback=settings.read_rules,
    shell_complete=settings.complete_rules,
    help="Switch these rules off in it.",
)
def init(folder: str, ignore: list[str]) -> int:
    """Write a commented crdlint.toml to start with."""
    import os

    from crdlint.config import NAMES

    for name in NAMES:
        file = os.path.join(folder, name)
        if os.path.lexists(file):
            raise click.ClickException(f"{file} is there already; edit it, or remove it first")
    file = os.path.normpath(os.path.join(folder, NAMES[0]))
    off = "".join(f'{rule} = "off"\n' for rule in ignore)
    options.write(file, _TEMPLATE.replace("[rules]\n", f"[rules]\n{off}"))
    options.note(f"wrote {file}")
    return options.CLEAN
