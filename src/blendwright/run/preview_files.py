"""Files of a previewed plan: read from the allowed roots as ever, written to the worker's scratch and dropped there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Self

from blendwright.run.file_roots import FileRoots
from blendwright.run.files import FileAccess, Staged, written_files
from blendwright.values.errors import Refusal
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding


class PreviewFiles(FileAccess):
    """Remembers what would have been written, since a second operation that writes there would meet it.

    No operation of a plan can read what an earlier one wrote: formats that are written the same way each time are not read so.
    """

    def __init__(self, roots: FileRoots, nowhere: Path, *, scratch_mb: int) -> None:
        super().__init__(roots.roots, nowhere, workspace=roots.workspace, scratch_mb=scratch_mb)
        self._written: set[Path] = set()

    @classmethod
    def replacing(cls, files: FileAccess, nowhere: Path) -> Self:
        """With the same roots, and the same bound."""
        return cls(files.roots, nowhere, scratch_mb=files.scratch_mb)

    def deliver(self, staged: Staged) -> list[str]:
        paths: list[Path] = []
        for directory, target in staged.outputs.items():
            for made in written_files(directory, target):
                path = self._destination(made, target)
                if path != target and path in self._written:
                    message = f"{path}, which belongs to it, exists"
                    raise Refusal([Finding(Fault.SCENE_CONFLICT, message, "", "Choose another path.")])
                paths.append(path)
        self._written.update(paths)
        return []

    def keep_artifacts(self, names: Sequence[str], scratch: Path) -> list[str]:
        return []

    def _findings(self, path: Path, role: str, at: str, overwrite: bool) -> Iterator[Finding]:
        if role == "write" and path in self._written and not overwrite:
            yield Finding(Fault.SCENE_CONFLICT, f"{path} exists", at, "Choose another path, or set overwrite to true.")
        else:
            yield from super()._findings(path, role, at, overwrite)
