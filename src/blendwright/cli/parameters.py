"""How options and arguments are declared: in the signatures of commands, for whoever reads a command line (`plain_line.py`, typer)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple


class Parameter(NamedTuple):
    name: str
    """`--all` of an option; what help calls an argument."""
    metavar: str | None
    help: str
    settings: Mapping[str, Any] = {}
    """More of it, in typer's words."""

    @property
    def is_option(self) -> bool:
        return self.name.startswith("--")


def option(usage: str, help: str, **settings: Any) -> Any:
    """An option as help shows it: `--all`, or `--before N` where its value has a name there."""
    name, _, metavar = usage.partition(" ")
    return Parameter(name, metavar or None, help, settings)


def argument(name: str, help: str) -> Any:
    return Parameter(name, name, help)
