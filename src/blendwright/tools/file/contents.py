"""Contents of .blend files, as arguments and results of the tools that append, link and make local."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from pydantic import Field

from blendwright.tool_api.arguments import Result
from blendwright.tool_api.scene import Kind
from blendwright.tool_api.tool import Findings
from blendwright.tools.checks import conflict
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding, did_you_mean

# Largest number of names in a list of a call or result.
MAX_NAMES = 1000
# Largest number of collisions that one message lists.
MAX_LISTED_COLLISIONS = 10


class Renamed(Result):
    kind: Kind = Field(description="Kind of datablock.")
    old: str = Field(description="Its name in the file.")
    new: str = Field(description="Its name in the scene.")


def missing_contents(named: Sequence[tuple[str, str]], contents: Mapping[Kind, Sequence[str]], at: str) -> Findings:
    """Yield a finding for each named datablock that the file does not contain. `at` is the JSON pointer of the list."""
    for index, (kind, name) in enumerate(named):
        names = contents[Kind(kind)]
        if name not in names:
            otherwise = f"The file contains {len(names)} {kind}."
            if names:
                otherwise = f"The file contains {len(names)} {kind}, for example '{names[0]}'."
            fix = did_you_mean(name, names, otherwise=otherwise)
            message = f"the file contains no {Kind(kind).label} named '{name}'"
            yield Finding(Fault.TARGET_NOT_FOUND, message, f"{at}/{index}/name", fix, "outside_scene")


def by_kind(named: Iterable[tuple[str, str]]) -> dict[Kind, list[str]]:
    """Return the names grouped by kind, each name once."""
    names: dict[Kind, list[str]] = {}
    for kind, name in named:
        kind_names = names.setdefault(Kind(kind), [])
        if name not in kind_names:
            kind_names.append(name)
    return names


def collision(names_in_use: Sequence[tuple[Kind, str]], at: str) -> Finding:
    """Return the finding that names of a file are already in use in the scene."""
    names = [f"{kind.label} '{name}'" for kind, name in names_in_use[:MAX_LISTED_COLLISIONS]]
    listing = ", ".join(names)
    if len(names_in_use) > len(names):
        listing += f" and {len(names_in_use) - len(names)} more"
    fix = "Set on_collision to 'rename', or rename or delete the datablocks with these names in the scene."
    return conflict(f"names in the file are already in use: {listing}", at, fix)
