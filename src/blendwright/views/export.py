"""Exports from a workspace: the scene of any commit, the open scene, and a picture of it."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from blendwright.bridge.worker_source import WorkerSource
from blendwright.engine.files.delivery import deliver_picture
from blendwright.engine.files.scratch import SCENE_FILE
from blendwright.engine.moves.commit_names import find
from blendwright.engine.options import RunOptions
from blendwright.engine.preview import PICTURE_SAMPLES
from blendwright.engine.scene.rebuild import rebuild_commit
from blendwright.records.commits import Commit
from blendwright.tool_api.promises import SafetyLevel
from blendwright.util.cancel import CancelToken
from blendwright.util.no_follow import open_directory, open_file, write_whole
from blendwright.values.approval import Approver
from blendwright.values.errors import EnvironmentUnfit, RebuildFailed, Refusal
from blendwright.values.faults import Fault
from blendwright.values.outcome import Outcome
from blendwright.workspace.open_scene import OpenScene
from blendwright.workspace.reading import inspection_workers, read_journal

# The time limit of a picture. On a slow machine it takes longer than the limit for the calls of a plan.
PICTURE_SECONDS = 600.0


@dataclass(frozen=True, slots=True)
class ExportedScene:
    """An exported scene. `cleaned` lists the code that the file omits."""

    file: Path
    size: int
    commit: Commit
    cleaned: Sequence[Mapping[str, Any]]

    def to_json(self) -> dict[str, Any]:
        return {
            "ok": True, "file": str(self.file), "bytes": self.size, "commit": self.commit.number,
            "scene_hash": self.commit.hash_after, "cleaned": self.cleaned,
        }  # fmt: skip


def export_commit(
    workspace: str | Path,
    file: Path,
    *,
    at: str = "HEAD",
    overwrite: bool = False,
    blender: str | Path | WorkerSource | None = None,
) -> ExportedScene:
    """Write the scene of a commit to a .blend file, without code that would run on opening. The workspace stays
    unchanged.

    Raise Refusal for an unusable file name or a missing commit, and RebuildFailed when the scene differs from the
    journal.
    """
    if file.suffix != ".blend":
        fix = f'Write other formats with: blendwright call file.export --args \'{{"path": "{file}"}}\''
        raise Refusal.of(Fault.TARGET_NOT_FOUND, f"{file} is not the name of a .blend file", fix)
    if file.exists() and not overwrite:
        fix = "Name another file, or give --overwrite."
        raise Refusal.of(Fault.TARGET_NOT_FOUND, f"{file} exists already", fix)
    with read_journal(workspace) as journal, inspection_workers(workspace, blender=blender) as inspection:
        commit = find(journal, at)
        worker = inspection.worker()
        rebuild_commit(worker, journal, commit.number)
        saved = worker.export(SCENE_FILE)
        if saved["hash"] != commit.hash_after:
            raise RebuildFailed(f"saving gave another scene: expected {commit.hash_after}, found {saved['hash']}")
        copy_whole(worker.require_process().scratch / SCENE_FILE, file)
    return ExportedScene(file, file.stat().st_size, commit, saved["cleaned"])


def export_open_scene(opened: OpenScene, file: Path, approver: Approver, cancel: CancelToken | None = None) -> Outcome:
    """Write the open scene to a file.

    Naming an existing file implies approval to replace it, so no further question is asked.
    """
    allowed = replace(approver, grants=approver.grants | {SafetyLevel.DESTRUCTIVE.value})
    args = {"path": str(file), "overwrite": file.expanduser().exists()}
    return opened.outcome("file.export", args, RunOptions(approver=allowed, cancel=cancel))


def render_picture(opened: OpenScene, target: Path, cancel: CancelToken) -> Outcome:
    """Render a picture of the open scene, through its camera or, without one, from the front right above.

    Write the picture to `target`, and return the outcome.
    """
    look = {"engine": "CYCLES", "samples": PICTURE_SAMPLES, "render_shape": True}
    args: dict[str, Any] = {**look, "artifact": "run.png"}
    options = RunOptions(cancel=cancel, call_seconds=PICTURE_SECONDS)
    outcome = opened.outcome("render.preview", args, options)
    if outcome.fault is Fault.SCENE_CONFLICT:
        args = {"artifact": "run.png", "view": "ISO"}
        outcome = opened.outcome("render.preview", args, options)
    if not outcome.ok:
        return outcome
    try:
        return deliver_picture(outcome, opened.judged_target(target))
    except Refusal as refused:
        finding = refused.findings[0]
        return outcome.with_(fault=finding.fault, message=finding.message, findings=refused.findings, artifacts=())


def write_picture(data: bytes, target: Path) -> None:
    """Write a picture atomically, replacing an existing file.

    Raise EnvironmentUnfit when the file cannot be written.
    """
    with tempfile.TemporaryFile() as written:
        written.write(data)
        written.seek(0)
        try:
            with open_directory(target.parent.resolve(), make=0o777) as directory:
                write_whole(directory, target.name, written)
        except OSError as error:
            message = f"{target} cannot be written: {error.strerror}"
            raise EnvironmentUnfit(message, cure="Name another path.") from error


def copy_whole(source: Path, target: Path) -> None:
    """Copy a file atomically, replacing an existing file. Raise EnvironmentUnfit when the target cannot be written."""
    try:
        with open_file(source.resolve()) as scene, open_directory(target.parent.resolve(), make=0o777) as directory:
            write_whole(directory, target.name, scene)
    except OSError as error:
        raise EnvironmentUnfit(f"{target} cannot be written: {error.strerror}", cure="Name another path.") from error
