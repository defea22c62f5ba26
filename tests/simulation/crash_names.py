"""The names of all crash points that a core of the simulation can come by, read from the source."""

from __future__ import annotations

import ast
from pathlib import Path

import blendwright
from journal import crash_point_names

SOURCE = Path(blendwright.__file__).parent
# Nobody plans, upgrades, forks or merges anything in the simulation.
ELSEWHERE = ("attempt.", "upgrade.", "fork.", "merge.")
# The journal lists its points itself. The simulation runs no batch.
OTHER_PACKAGES = ("journal", "batch", "fleet", "datasets")
REACHED = "crash_points.reach"


def _named_above_the_journal() -> list[str]:
    found: list[str] = []
    for path in sorted(
        path for path in SOURCE.rglob("*.py") if path.relative_to(SOURCE).parts[0] not in OTHER_PACKAGES
    ):
        text = path.read_text()
        for node in ast.walk(ast.parse(text)) if REACHED in text else ():
            if isinstance(node, ast.Call) and ast.unparse(node.func) == REACHED:
                (name,) = node.args
                if isinstance(name, ast.Constant):
                    found.append(str(name.value))
    return found


ALL: tuple[str, ...] = tuple(
    name for name in sorted({*_named_above_the_journal(), *crash_point_names.POINTS}) if not name.startswith(ELSEWHERE)
)
