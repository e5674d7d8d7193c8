"""What is in force: flags beat the configuration nearest to a file, and that beats the defaults."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crdlint.policy import OFF, ON, Policy

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from crdlint.config import Config, Finder


class Flags:
    """What the command line says of rules; None or empty where it says nothing."""

    __slots__ = ("heed", "levels", "only", "profile")

    def __init__(
        self,
        profile: str | None = None,
        *,
        levels: Mapping[str, str] | None = None,
        on: Iterable[str] = (),
        off: Iterable[str] = (),
        only: Iterable[str] = (),
        heed: bool = True,
    ) -> None:
        self.profile = profile
        self.only = tuple(only)
        self.levels = {
            **dict.fromkeys(self.only, ON),
            **dict.fromkeys(on, ON),
            **(levels or {}),
            **dict.fromkeys(off, OFF),
        }
        self.heed = heed


class InForce(Policy):
    """The policy of a run, which may be another one for each file."""

    __slots__ = ("_made", "finder", "flags", "run")

    def __init__(self, run: Config | None, finder: Finder, flags: Flags) -> None:
        super().__init__(**_settings(run, (), flags))
        self.run = run  # the configuration of what concerns all files
        self.finder = finder
        self.flags = flags
        self._made: dict[tuple[Any, ...], Policy] = {}

    def for_file(self, file: str) -> Policy:
        """Return the policy for a file, by its name as given; raise ConfigError."""
        config = self.finder.of_file(file)
        overrides = tuple(config.overrides(file)) if config else ()
        if config is self.run and not overrides:
            return self
        key = (config.file if config else "", overrides)
        made = self._made.get(key)
        if made is None:
            made = self._made[key] = Policy(**_settings(config, overrides, self.flags))
        return made


def _settings(config: Config | None, overrides: Iterable[int], flags: Flags) -> dict[str, Any]:
    profile = "default"
    levels: dict[str, str] = {}
    if config is not None:
        parts = [config.data, *(config.data["overrides"][i] for i in overrides)]
        for part in parts:
            profile = part.get("profile", profile)
            levels |= part.get("rules", {})
    return {
        "profile": flags.profile or profile,
        "levels": levels | flags.levels,
        "only": flags.only,
        "ignores": config.ignores() if config else (),
        "heed": flags.heed,
    }
