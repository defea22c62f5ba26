"""The removable parts of Blendwright, and how the core finds them.

A capability is a package with a module `capability.py` that defines `CAPABILITY`. It registers commands for the command line, and offers
for points. A point is a place where the core, or another capability, asks for something that it can do without: the supply of assets,
the batches on the page of the console, a database for batches.

Nothing here imports a capability before something of it is needed. If a package of the list is missing, its commands and offers are
missing too, and everything else works.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from typing import Any, Generic, Literal, TypeVar, cast

PACKAGE = __name__.rpartition(".")[0]
# In the order in which help lists their commands.
NAMES = (
    "planner", "batch", "datasets", "fleet", "history", "assets", "versions", "server", "console", "window", "setup", "proofs",
)  # fmt: skip

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Command:
    """Where a command is: a function, or a group of commands, in a module of this package. The module is imported when it runs."""

    module: str
    attribute: str
    summary: str
    """The first sentence of its docstring, or more of it. The list of commands shows this."""
    refuses: Literal["", "refusing_plans", "refusing_calls"] = ""
    """How a refusal is printed as JSON; see `cli/refusals.py`."""


@dataclass(frozen=True, slots=True)
class Capability:
    """What a package registers. Modules are named without the name of this package."""

    name: str
    summary: str
    commands: Mapping[str, Command] = field(default_factory=dict[str, Command])
    examples: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    """What the help of a command, or of one of its group, ends with; see `cli/examples.py`."""
    offers: Mapping[str, str] = field(default_factory=dict[str, str])
    """For the name of a point, the `module` or `module:attribute` that is offered there."""
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
    found = {name: one for name in NAMES if (one := _installed(name)) is not None}
    while missing := [one for one in found.values() if not found.keys() >= set(one.needs)]:
        for one in missing:
            del found[one.name]
    return tuple(found.values())


def load(where: str) -> Any:
    """Import `module:attribute`, or a whole `module`, of this package."""
    name, _, attribute = where.partition(":")
    module = import_module(f"{PACKAGE}.{name}")
    return getattr(module, attribute) if attribute else module


def _installed(name: str) -> Capability | None:
    module = f"{PACKAGE}.{name}.capability"
    try:
        return import_module(module).CAPABILITY
    except ModuleNotFoundError as error:
        if error.name in (f"{PACKAGE}.{name}", module):
            return None
        raise
