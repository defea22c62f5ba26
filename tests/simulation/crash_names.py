"""The names of all crash points that a core of the simulation can come by, read from the source."""

from __future__ import annotations

import ast
from pathlib import Path

import blendwright
from journal import crash_point_names

SOURCE = Path(blendwright.__file__).parent
# Nobody plans, upgrades, forks or merges anything in the simulation.
ELSEWHERE = ("attempt.", "upgrade.", "fork.", "merge.")
REACHED = "crash_points.reach"
# The packages whose crash points a core reaches with a workspace open. The journal lists its own.
PACKAGES = ("engine", "history", "versions", "workspace")


def _named_in(directory: Path) -> list[str]:
    found: list[str] = []
    for path in sorted(directory.rglob("*.py")):
        text = path.read_text()
        for node in ast.walk(ast.parse(text)) if REACHED in text else ():
            if isinstance(node, ast.Call) and ast.unparse(node.func) == REACHED:
                (name,) = node.args
                if isinstance(name, ast.Constant):
                    found.append(str(name.value))
    return found


ALL: tuple[str, ...] = tuple(
    name
    for name in sorted(
        {*crash_point_names.POINTS, *(name for package in PACKAGES for name in _named_in(SOURCE / package))}
    )
    if not name.startswith(ELSEWHERE)
)
