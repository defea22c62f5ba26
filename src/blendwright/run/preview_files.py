"""Files of a previewed plan: read from the allowed roots as ever, written to the worker's scratch and dropped there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Self

from blendwright.run.files import FileAccess, Staged, belonging
from blendwright.run.reach import Reach
from blendwright.values.errors import Refusal
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding


class PreviewFiles(FileAccess):
    """Remembers what would have been written, since a second operation that writes there would meet it.

    No operation of a plan can read what an earlier one wrote: formats that are written the same way each time are not read so.
    """

    def __init__(self, reach: Reach, nowhere: Path, *, scratch_mb: int) -> None:
        super().__init__(reach.roots, nowhere, workspace=reach.workspace, scratch_mb=scratch_mb)
        self._written: set[Path] = set()

    @classmethod
    def instead_of(cls, files: FileAccess, nowhere: Path) -> Self:
        """With the same reach, and the same bound."""
        return cls(files.reach, nowhere, scratch_mb=files.scratch_mb)

    def deliver(self, staged: Staged) -> list[str]:
        places: list[Path] = []
        for room, target in staged.outputs.items():
            for made in belonging(room, target):
                place = self._place(made, target)
                if place != target and place in self._written:
                    message = f"{place}, which belongs to it, exists"
                    raise Refusal([Finding(Fault.SCENE_CONFLICT, message, "", "Choose another path.")])
                places.append(place)
        self._written.update(places)
        return []

    def keep_artifacts(self, names: Sequence[str], scratch: Path) -> list[str]:
        return []

    def _findings(self, path: Path, role: str, at: str, overwrite: bool) -> Iterator[Finding]:
        if role == "write" and path in self._written and not overwrite:
            yield Finding(Fault.SCENE_CONFLICT, f"{path} exists", at, "Choose another path, or set overwrite to true.")
        else:
            yield from super()._findings(path, role, at, overwrite)
