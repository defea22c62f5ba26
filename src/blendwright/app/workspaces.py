"""Workspaces as their users meet them: a new one with its journal, scene, policy and example, or one that must be there.

For a new one, Blender is started only for a scene that is given: an empty one is begun by the first call. What is there already is
never replaced, and a workspace that cannot be created leaves nothing behind.
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from blendwright.app.open_scene import OpenScene
from blendwright.app.opening import DEFAULT_WORKSPACE, open, place_of
from blendwright.app.policy_files import FILE as POLICY
from blendwright.app.read_workspace import read_journal
from blendwright.app.session_scratch import unfit_on_os_error
from blendwright.journal.store import FILE as JOURNAL
from blendwright.run.externals import External, externals_of_receipt, findings_about
from blendwright.run.history import require_head
from blendwright.values.errors import Refusal
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding

EXAMPLE = "example.json"


@dataclass(frozen=True, slots=True)
class NewWorkspace:
    """`written` are the files for its user that were not there; `scene_hash` is None until Blender has begun the scene."""

    directory: Path
    written: tuple[Path, ...]
    scene_hash: str | None
    externals: tuple[External, ...]

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What is wrong with the files that the scene refers to."""
        return tuple(findings_about(self.externals))


def open_existing(workspace: str | Path, *, blender: str | Path | None = None) -> OpenScene:
    """Open a workspace that has commits. Raises EnvironmentUnfit when there is none, Refusal when it has no commit."""
    with read_journal(workspace) as journal:
        require_head(journal)
    return open(workspace, blender=blender, spare=False)


def create_workspace(
    workspace: str | Path = DEFAULT_WORKSPACE, *, scene: str | Path | None = None, blender: str | Path | None = None
) -> NewWorkspace:
    """Raises Refusal when there is one already or the scene is no file, EnvironmentUnfit when it cannot be created."""
    directory = place_of(workspace)
    if (directory / JOURNAL).exists():
        cure = "Go on with it as it is, or name another directory."
        raise Refusal.of(Fault.SCENE_CONFLICT, f"{directory} is a workspace already", cure)
    if scene is not None and not Path(scene).is_file():
        raise Refusal.of(Fault.SCENE_CONFLICT, f"there is no file {scene}", "Check the path given as scene.")
    missing_directories = [parent for parent in (directory, *directory.parents) if not parent.exists()]
    present = set(directory.iterdir()) if directory.is_dir() else set[Path]()
    opened = open(directory, scene=scene, blender=blender, spare=False)
    # Only from here on is what appears in the directory known to be ours.
    with contextlib.ExitStack() as undo:
        undo.callback(_remove_created, directory, present, missing_directories)
        with opened:
            if scene is not None:
                opened.warm()
            written = _write_starter_files(directory)
            head = opened.journal.head
        undo.pop_all()
    if head is None:
        return NewWorkspace(directory, written, None, ())
    return NewWorkspace(directory, written, head.hash_after, externals_of_receipt(head.receipt))


def _write_starter_files(directory: Path) -> tuple[Path, ...]:
    written: list[Path] = []
    for path in (directory / POLICY, directory / EXAMPLE):
        with unfit_on_os_error(f"{path} cannot be written", "Check the disk and the permissions there."):
            try:
                with path.open("xb") as file:
                    file.write(files("blendwright").joinpath("app", "starter", path.name).read_bytes())
            except FileExistsError:
                continue
        written.append(path)
    return tuple(written)


def _remove_created(directory: Path, present: set[Path], missing_directories: Iterable[Path]) -> None:
    for entry in set(directory.iterdir()) - present:
        if entry.is_dir():
            shutil.rmtree(entry)
        else:
            entry.unlink()
    for created in missing_directories:
        created.rmdir()
