"""The names that a person has just changed by hand in the open window. The author of the plan did not know of the edit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from blendwright.values.faults import Fault
from blendwright.workspace.names.port import Name, NameProblem

CURE = "Look at the scene as it is now, and send the plan again; it then runs on what the person made."


class EditedNames:
    """A name source: datablocks that the person changed since the last plan have a problem.

    The edit is in the journal by then, so the same plan is not refused a second time."""

    def __init__(self, edited: frozenset[Name]) -> None:
        self._edited = edited

    def problems(self, names: Sequence[Name]) -> Mapping[Name, NameProblem]:
        return {
            (kind, name): NameProblem(Fault.SCENE_CONFLICT, f"'{name}' was changed by hand since the last plan", CURE)
            for kind, name in names
            if (kind, name) in self._edited
        }
