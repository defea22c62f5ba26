"""The Blenders that can be used here: which a workspace gets, those that are there, and adding and removing them.

None is ever got in the middle of something else: what is missing is named with the command that gets it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from blendwright.bridge.environments import making
from blendwright.bridge.environments.interpreters import find_interpreter
from blendwright.bridge.environments.records import Environment, environments
from blendwright.bridge.environments.series import SERIES, VERSION_TEXT, own_blender, series_named
from blendwright.values.errors import Refusal
from blendwright.values.faults import Fault

Standing = Literal["ready", "outdated", "broken", "not added", "no python"]
OWN = "(this environment)"


@dataclass(frozen=True, slots=True)
class ListedBlender:
    """One that is here, or that could be."""

    name: str
    blender: str
    python: str
    standing: Standing
    place: str | None
    cure: str | None = None
    default: bool = False
    """Whether it is taken where nobody names one."""

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def list_blenders() -> list[ListedBlender]:
    """Those that are here, and those of our series that are not, each with what it takes."""
    added = environments()
    own = own_blender()
    rows: list[ListedBlender] = []
    if own is not None:
        python = ".".join(map(str, sys.version_info[:3]))
        rows.append(ListedBlender(OWN, own, python, "ready", sys.prefix, default=True))
    first_usable = next((each.name for each in added if each.problem() is None), None)
    rows += [_listed(each, default=own is None and each.name == first_usable) for each in added]
    names = {each.name for each in added}
    for series in SERIES:
        if series.name in names or series.version == own:
            continue
        found = find_interpreter(series.python)
        cure = f"blendwright blender add {series.name}"
        if found is None:
            cure = f"It needs Python {series.python_text}, which is not here; then: {cure}"
        if found is None:
            python = series.python_text
        else:
            python = found.text
        standing: Standing
        if found is None:
            standing = "no python"
        else:
            standing = "not added"
        rows.append(ListedBlender(series.name, series.version, python, standing, None, cure))
    return rows


def _listed(environment: Environment, *, default: bool) -> ListedBlender:
    place = environment.executable or str(environment.directory)
    again = f"blendwright blender add {environment.executable or environment.name}"
    if (problem := environment.problem()) is not None:
        standing, cure = "broken", f"{problem}; {again}"
    elif environment.outdated:
        standing, cure = "outdated", again
    else:
        standing, cure = "ready", None
    return ListedBlender(environment.name, environment.blender, environment.python, standing, place, cure, default)


@dataclass(frozen=True, slots=True)
class AddedBlender:
    environment: Environment
    made: bool
    """False where it was there already, as it is to be."""


def add_blender(
    what: str,
    *,
    progress: Callable[[str], None],
    name: str | None = None,
    python: str | None = None,
    again: bool = False,
) -> AddedBlender:
    """Add a series that can be had from the wheels, or an installed Blender by its path."""
    if VERSION_TEXT.fullmatch(what):
        series = series_named(what)
        if series is None:
            known = ", ".join(each.version for each in SERIES)
            cure = f"These can be had: {known}. An installed one is added by the path of its executable."
            raise Refusal.of(Fault.ARGS_INVALID, f"Blender {what} is none of those that can be had", cure)
        there = _sound(name or series.name, None)
        if there is not None and not again:
            return AddedBlender(there, False)
        if python is None:
            given = None
        else:
            given = Path(python)
        return AddedBlender(making.add_series(series, progress, name=name, python=given), True)
    if python is not None:
        raise Refusal.of(Fault.ARGS_INVALID, "an installed Blender has its own Python", "Leave --python out.")
    return AddedBlender(making.add_executable(Path(what).expanduser(), progress, name=name), True)


def _sound(name: str, executable: str | None) -> Environment | None:
    found = next((each for each in environments() if each.name == name), None)
    if found is None or found.problem() is not None or found.outdated or found.executable != executable:
        return None
    return found


def remove_blender(name: str, *, progress: Callable[[str], None]) -> Environment:
    return making.remove(name, progress)
