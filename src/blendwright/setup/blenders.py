"""The Blenders of this machine: a list of them, and functions that add and remove them.

Blendwright never downloads a Blender as a side effect. A message about a missing Blender names the command that adds it.
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
    """A row of the list of Blenders: an installed Blender, or a series that the user can add."""

    name: str
    blender: str
    python: str
    standing: Standing
    place: str | None
    cure: str | None = None
    default: bool = False
    """Whether Blendwright uses this Blender when the user names none."""

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def list_blenders() -> list[ListedBlender]:
    """Return the usable Blenders, and the supported series that are not installed. Each row that needs work has a fix."""
    added = environments()
    own_version = own_blender()
    rows: list[ListedBlender] = []
    if own_version is not None:
        python = ".".join(map(str, sys.version_info[:3]))
        rows.append(ListedBlender(OWN, own_version, python, "ready", sys.prefix, default=True))
    first_usable = next((environment.name for environment in added if environment.problem() is None), None)
    rows += [
        _listed(environment, default=own_version is None and environment.name == first_usable) for environment in added
    ]

    names = {environment.name for environment in added}
    for series in SERIES:
        if series.name in names or series.version == own_version:
            continue
        interpreter = find_interpreter(series.python)
        fix = f"blendwright blender add {series.name}"
        standing: Standing
        if interpreter is None:
            standing, python = "no python", series.python_text
            fix = f"Install Python {series.python_text}, then: {fix}"
        else:
            standing, python = "not added", interpreter.text
        rows.append(ListedBlender(series.name, series.version, python, standing, None, fix))
    return rows


def _listed(environment: Environment, *, default: bool) -> ListedBlender:
    path = environment.executable or str(environment.directory)
    add_command = f"blendwright blender add {environment.executable or environment.name}"
    problem = environment.problem()
    standing: Standing
    if problem is not None:
        standing, fix = "broken", f"{problem}; {add_command}"
    elif environment.outdated:
        standing, fix = "outdated", add_command
    else:
        standing, fix = "ready", None
    return ListedBlender(environment.name, environment.blender, environment.python, standing, path, fix, default)


@dataclass(frozen=True, slots=True)
class AddedBlender:
    environment: Environment
    is_new: bool
    """False if a working environment existed already."""


def add_blender(
    what: str,
    *,
    progress: Callable[[str], None],
    name: str | None = None,
    python: str | None = None,
    again: bool = False,
) -> AddedBlender:
    """Add a Blender series from the wheels, or an installed Blender by its path. Raise Refusal for an unknown version."""
    if VERSION_TEXT.fullmatch(what):
        series = series_named(what)
        if series is None:
            versions = ", ".join(series.version for series in SERIES)
            fix = f"Choose one of {versions}, or pass the path of an installed Blender's executable."
            raise Refusal.of(Fault.ARGS_INVALID, f"Blender {what} is not available as a wheel", fix)

        existing = _usable_environment(name or series.name, None)
        if existing is not None and not again:
            return AddedBlender(existing, False)
        interpreter = None
        if python is not None:
            interpreter = Path(python)
        return AddedBlender(making.add_series(series, progress, name=name, python=interpreter), True)

    if python is not None:
        raise Refusal.of(Fault.ARGS_INVALID, "an installed Blender has its own Python", "Leave out --python.")
    return AddedBlender(making.add_executable(Path(what).expanduser(), progress, name=name), True)


def _usable_environment(name: str, executable: str | None) -> Environment | None:
    """Return the environment with this name and executable, or None if it is missing, broken or outdated."""
    environment = next((candidate for candidate in environments() if candidate.name == name), None)
    if environment is None or environment.problem() is not None:
        return None
    if environment.outdated or environment.executable != executable:
        return None
    return environment


def remove_blender(name: str, *, progress: Callable[[str], None]) -> Environment:
    return making.remove(name, progress)
