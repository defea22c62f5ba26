"""Names that a person has just changed in the open window, unknown to the author of the plan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from blendwright.values.faults import Fault
from blendwright.workspace.names.port import Name, NameProblem

CURE = "Look at the current scene, and send the plan again. It then runs on the edited scene."


class EditedNames:
    """A name source that reports a problem for datablocks that the person changed since the last plan.

    By then the journal contains the edit, so a second attempt with the same plan runs.
    """

    def __init__(self, edited: frozenset[Name]) -> None:
        self._edited = edited

    def problems(self, names: Sequence[Name]) -> Mapping[Name, NameProblem]:
        return {
            (kind, name): NameProblem(Fault.SCENE_CONFLICT, f"'{name}' was changed by hand since the last plan", CURE)
            for kind, name in names
            if (kind, name) in self._edited
        }
