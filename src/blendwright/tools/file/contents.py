"""What .blend files hold and bring, as the tools that append, link and make local ask and tell it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from pydantic import Field

from blendwright.tool_api.arguments import Result
from blendwright.tool_api.scene import Kind
from blendwright.tool_api.tool import Findings
from blendwright.tools.checks import conflict
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding, did_you_mean

MOST_NAMES = 1000
# Only so many collisions are spelled out in a message; the cure is the same for all.
MOST_IN_MESSAGE = 10


class Renamed(Result):
    kind: Kind = Field(description="Kind of datablock.")
    old: str = Field(description="Its name in the file.")
    new: str = Field(description="Its name in the scene.")


def missing_contents(named: Sequence[tuple[str, str]], contents: Mapping[Kind, Sequence[str]], at: str) -> Findings:
    """A finding for each that a file does not hold; `at` is the list of them."""
    for index, (kind, name) in enumerate(named):
        names = contents[Kind(kind)]
        if name not in names:
            otherwise = f"The file holds {len(names)} {kind}" + (f", among them '{names[0]}'." if names else ".")
            cure = did_you_mean(name, names, otherwise=otherwise)
            message = f"the file holds no {Kind(kind).label} named '{name}'"
            yield Finding(Fault.TARGET_NOT_FOUND, message, f"{at}/{index}/name", cure, "outside_scene")


def by_kind(named: Iterable[tuple[str, str]]) -> dict[Kind, list[str]]:
    """Names by kind, each once."""
    names: dict[Kind, list[str]] = {}
    for kind, name in named:
        listed = names.setdefault(Kind(kind), [])
        if name not in listed:
            listed.append(name)
    return names


def collision(taken: Sequence[tuple[Kind, str]], at: str) -> Finding:
    """The finding that names of a file are in use."""
    names = [f"{kind.label} '{name}'" for kind, name in taken[:MOST_IN_MESSAGE]]
    more = len(taken) - len(names)
    message = "names in the file are taken: " + ", ".join(names) + (f" and {more} more" if more else "")
    cure = "Set on_collision to 'rename', or rename or delete what has these names in the scene."
    return conflict(message, at, cure)
