"""How options and arguments are declared."""

from __future__ import annotations

from typing import Any

import typer


def option(usage: str, help: str, **settings: Any) -> Any:
    """An option as help shows it: `--all`, or `--before N` where its value has a name there."""
    name, _, metavar = usage.partition(" ")
    return typer.Option(name, metavar=metavar or None, help=help, **settings)


def argument(name: str, help: str) -> Any:
    return typer.Argument(metavar=name, help=help)
