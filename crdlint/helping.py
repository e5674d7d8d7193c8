"""How --help looks: options in groups, examples as they are typed, exit statuses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

STATUSES = (
    ("0", "nothing at or above --fail-on"),
    ("1", "findings"),
    ("2", "wrong usage, or input that cannot be read"),
)


class Option(click.Option):
    """An option that stands under a heading of its own in --help."""

    def __init__(self, *args: Any, group: str = "", **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.group = group


def option(*names: str, group: str = "", **more: Any) -> Callable[[Any], Any]:
    """Declare an option as click does, under a heading."""
    return click.option(*names, cls=Option, group=group, **more)


class Command(click.Command):
    """A command with examples, (what is typed, what for), and the meaning of its exit status."""

    def __init__(
        self,
        *args: Any,
        examples: Sequence[tuple[str, str]] = (),
        statuses: Sequence[tuple[str, str]] = (),
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self.examples = examples
        self.statuses = statuses

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options group by group, those without one first."""
        groups: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            record = (
                parameter.get_help_record(ctx) if parameter.param_type_name == "option" else None
            )
            if record is not None:
                groups.setdefault(getattr(parameter, "group", ""), []).append(record)
        for heading in sorted(groups, key=lambda name: name != ""):
            with formatter.section(heading or "Options"):
                formatter.write_dl(groups[heading], col_max=28)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples, as they are typed, and the exit statuses."""
        if self.examples:
            with formatter.section("Examples"):
                for typed, purpose in self.examples:
                    for line in typed.splitlines():
                        formatter.write(f"{'':{formatter.current_indent}}{line}\n")
                    formatter.write(f"{'':{formatter.current_indent + 4}}{purpose}\n")
        if self.statuses:
            with formatter.section("Exit status"):
                formatter.write_dl(self.statuses)
        super().format_epilog(ctx, formatter)
