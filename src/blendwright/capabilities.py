"""The removable parts of Blendwright, and their discovery by the core.

A capability is a package with a module `capability.py` that defines `CAPABILITY`. It registers commands for the command
line, and offers for points. At a point, the core or another capability requests something optional: the supply of
assets, the batches on the page of the console, a database for batches.

This module imports a capability only when something needs it. If a package of the list is missing, its commands and
offers are missing too, and everything else works.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from typing import Any, Generic, Literal, TypeVar, cast

PACKAGE = __name__.rpartition(".")[0]
# Names of all capabilities, in the order in which help lists their commands.
NAMES = (
    "planner", "batch", "datasets", "fleet", "history", "assets", "versions", "server", "console", "window", "setup", "proofs",
)  # fmt: skip

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Command:
    """The location of a command: a function, or a group of commands, in a module of this package that is imported when
    it runs.
    """

    module: str
    attribute: str
    summary: str
    """The first sentence of its docstring, or more of it. The list of commands shows this."""
    refuses: Literal["", "refusing_plans", "refusing_calls"] = ""
    """The JSON form of a refusal; see `cli/refusals.py`."""


@dataclass(frozen=True, slots=True)
class Capability:
    """The registration of a package. It names modules without the name of this package."""

    name: str
    summary: str
    commands: Mapping[str, Command] = field(default_factory=dict[str, Command])
    examples: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    """Examples at the end of the help of a command, or of a command of its group; see `cli/examples.py`."""
    offers: Mapping[str, str] = field(default_factory=dict[str, str])
    """The offered `module` or `module:attribute` for each name of a point."""
    needs: tuple[str, ...] = ()
    """Other capabilities that it cannot work without. If one of them is missing, this one is missing as well."""


class Point(Generic[T]):
    """A named place where capabilities can offer something of one type."""

    def __init__(self, name: str) -> None:
        self.name = name

    def offers(self) -> Iterator[T]:
        """Import and yield what the installed capabilities offer, in the order of `NAMES`."""
        for capability in capabilities():
            if self.name in capability.offers:
                yield cast("T", load(capability.offers[self.name]))

    def offer(self) -> T | None:
        """Return the first offer; None if there is none."""
        return next(self.offers(), None)


@cache
def capabilities() -> tuple[Capability, ...]:
    """Return the installed capabilities whose needs are installed too."""
    installed: dict[str, Capability] = {}
    for name in NAMES:
        capability = _installed(name)
        if capability is not None:
            installed[name] = capability

    while True:
        unmet = [capability for capability in installed.values() if not installed.keys() >= set(capability.needs)]
        if not unmet:
            return tuple(installed.values())
        for capability in unmet:
            del installed[capability.name]


def load(where: str) -> Any:
    """Import `module:attribute`, or a whole `module`, of this package."""
    name, _, attribute = where.partition(":")
    module = import_module(f"{PACKAGE}.{name}")
    if attribute:
        return getattr(module, attribute)
    return module


def _installed(name: str) -> Capability | None:
    module = f"{PACKAGE}.{name}.capability"
    try:
        return import_module(module).CAPABILITY
    except ModuleNotFoundError as error:
        if error.name in (f"{PACKAGE}.{name}", module):
            return None
        raise
