"""Writes the scene of a commit to a .blend file: rebuilt in a Blender of its own, so that the workspace may be in use meanwhile."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from blendwright.app.read_workspace import inspection_workers, read_journal
from blendwright.bridge.worker_source import WorkerSource
from blendwright.records.commits import Commit
from blendwright.run.history import find, refusal
from blendwright.run.rebuild import rebuild_commit
from blendwright.run.scratch_files import SCENE_FILE
from blendwright.values.errors import EnvironmentUnfit, RebuildFailed
from blendwright.wire.methods import Script


@dataclass(frozen=True, slots=True)
class ExportedScene:
    """A file that was written; `cleaned` is the code of the scene that it goes without."""

    commit: Commit
    size: int
    cleaned: Sequence[Script]


def export_scene(
    workspace: str | Path,
    file: Path,
    *,
    at: int | str = "HEAD",
    overwrite: bool = False,
    blender: str | Path | WorkerSource | None = None,
) -> ExportedScene:
    """Write a scene without code that would run where it is opened. Raises Refusal, RebuildFailed or EnvironmentUnfit."""
    if file.suffix != ".blend":
        other = "Other formats are written by: blendwright call file.export"
        raise refusal(f"{file} is not the name of a .blend file", other)
    if file.exists() and not overwrite:
        raise refusal(f"{file} is there already", "Name another file, or give --overwrite.")
    with read_journal(workspace) as journal, inspection_workers(workspace, blender=blender) as workers:
        commit = find(journal, at)
        worker = workers.worker()
        rebuild_commit(worker, journal, commit.number)
        saved = worker.export(SCENE_FILE)
        if saved["hash"] != commit.hash_after:
            raise RebuildFailed(f"saving gave another scene: expected {commit.hash_after}, found {saved['hash']}")
        replace_file(worker.require_process().scratch / SCENE_FILE, file)
    return ExportedScene(commit, file.stat().st_size, saved["cleaned"])


def replace_file(source: Path, target: Path) -> None:
    """Copy a file to its place, whole or not at all: a file that is replaced must not be half of each. Raises EnvironmentUnfit."""
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, part)
        part.replace(target)
    except OSError as error:
        with contextlib.suppress(OSError):  # where nothing can be written, nothing can be removed either
            part.unlink()
        raise EnvironmentUnfit(f"{target} cannot be written: {error.strerror}", cure="Name another place.") from error
