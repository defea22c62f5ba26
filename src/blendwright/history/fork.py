"""Forks: new workspaces that begin with the scene of a commit as their baseline and name their origin.

A fork has its own journal, because commits and audit records of another workspace prove nothing outside their chain.
Forking only reads the other workspace, which may be in use. If the commit has a checkpoint, forking needs no Blender.
"""

from __future__ import annotations

import contextlib
import shutil
import uuid
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from blendwright.bridge.worker_source import WorkerSource
from blendwright.engine.files.scratch import SCENE_FILE
from blendwright.engine.invocation import new_id
from blendwright.engine.moves.commit_names import find
from blendwright.engine.scene.external_files import External, current_externals
from blendwright.engine.scene.rebuild import rebuild_commit
from blendwright.journal import Journal, JournalView
from blendwright.records.audit import AuditDetails
from blendwright.records.checkpoints import StagedCheckpoint
from blendwright.records.commits import Commit, NewCommit
from blendwright.util import crash_points
from blendwright.values.errors import RebuildFailed, Refusal
from blendwright.values.faults import Fault
from blendwright.workspace.locations import workspace_directory
from blendwright.workspace.ownership import read_own_file, require_own_directory
from blendwright.workspace.policy_files import FILE as POLICY
from blendwright.workspace.policy_files import load_policy
from blendwright.workspace.reading import inspection_workers, read_journal
from blendwright.workspace.scratch import unfit_on_os_error
from blendwright.workspace.settings import heads_directory

FORK = "workspace.fork"
MACROS = "macros"


@dataclass(frozen=True, slots=True)
class Forked:
    """A new fork. `origin` is the commit of the other workspace, and `copied` lists the copied settings."""

    directory: Path
    origin: Commit
    workspace: str
    copied: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        return {
            "ok": True, "directory": str(self.directory), "scene_hash": self.origin.hash_after,
            "origin": {"workspace": self.workspace, "commit": self.origin.number}, "copied": list(self.copied),
        }  # fmt: skip


def fork(
    workspace: str | Path, at: int | str, directory: str | Path, *, blender: str | Path | WorkerSource | None = None
) -> Forked:
    """Make `directory` a workspace that begins with the scene of a commit, completely or not at all. Copy policy and
    macros too.

    Raise Refusal for a missing commit or a directory that is not empty, EnvironmentUnfit when the workspace cannot be
    created, and RebuildFailed when the scene differs from the journal.
    """
    source, target = Path(workspace).resolve(), workspace_directory(directory)
    if target.is_dir() and any(target.iterdir()):
        raise Refusal.of(Fault.SCENE_CONFLICT, f"{target} is not empty", "Name another directory.")
    require_own_directory(target, f"no workspace is created in {target}")
    with read_journal(source) as journal:
        commit = find(journal, at)
        with _saved(journal, commit, source, blender) as scene, _complete_directory(target) as partial:
            copied = _copy_settings(source, partial)
            _begin(journal, commit, scene, partial)
        return Forked(target, commit, journal.identity, copied)


@contextlib.contextmanager
def _saved(
    journal: JournalView, commit: Commit, workspace: Path, blender: str | Path | WorkerSource | None
) -> Generator[Path | None]:
    """Yield the scene of a commit as a file, or None for the empty scene that any workspace begins with."""
    route = journal.checkpoints.route(commit.number)
    if not route.redo:
        path = None
        if route.checkpoint is not None:
            path = route.checkpoint.path
        yield path
        return
    with inspection_workers(workspace, blender=blender) as inspection:
        worker = inspection.worker()
        rebuild_commit(worker, journal, commit.number)
        saved_hash = worker.save(SCENE_FILE)
        if saved_hash != commit.hash_after:
            raise RebuildFailed(f"saving gave another scene: expected {commit.hash_after}, found {saved_hash}")
        yield worker.require_process().scratch / SCENE_FILE


@contextlib.contextmanager
def _complete_directory(target: Path) -> Generator[Path]:
    """Yield a temporary sibling directory and rename it to `target` at the end, because a partial fork would be an empty workspace."""
    partial = target.with_name(f".{target.name}.{uuid.uuid4().hex}")
    with unfit_on_os_error(f"{target} cannot be created", "Check the disk and the permissions there."):
        partial.mkdir(parents=True, mode=0o700)
        try:
            yield partial
            crash_points.reach("fork.made")
            partial.rename(target)
        except BaseException:
            shutil.rmtree(partial, ignore_errors=True)
            raise


def _copy_settings(source: Path, target: Path) -> tuple[str, ...]:
    copied: list[str] = []
    if (source / POLICY).is_file():
        (target / POLICY).write_bytes(read_own_file(source / POLICY))
        copied.append(POLICY)
    if (source / MACROS).is_dir():
        shutil.copytree(source / MACROS, target / MACROS)
        copied.append(MACROS)
    return tuple(copied)


def _baseline(
    journal: JournalView, commit: Commit, externals: Sequence[External], checkpoint: StagedCheckpoint | None
) -> NewCommit:
    audit = {"sequence": commit.audit_sequence, "hash": commit.receipt["audit"]["hash"]}
    origin = {"workspace": journal.identity, "commit": commit.number, "scene_hash": commit.hash_after, "audit": audit}
    receipt = {
        "status": "succeeded",
        "externals": [external.to_json() for external in externals],
        "scene_hash_after": commit.hash_after,
    }
    return NewCommit(
        operation_key=None,
        request_id="workspace",
        operation_id="baseline",
        tool=FORK,
        tool_version=1,
        args={"origin": origin},
        hash_before=commit.hash_after,
        hash_after=commit.hash_after,
        replayable=checkpoint is None,
        receipt=receipt,
        audit=AuditDetails(new_id(), "safe_write"),
        kind="baseline",
        checkpoint=checkpoint,
    )


def _begin(journal: JournalView, commit: Commit, scene: Path | None, target: Path) -> None:
    policy = load_policy(target).policy
    new = Journal(target, heads_outside=heads_directory(policy), head_command=policy.journal.audit_heads_command)
    try:
        if scene is None:
            staged = None
        else:
            staged = new.checkpoints.stage(scene, commit.hash_after)
        externals = current_externals(journal, commit.number)
        new.commit([_baseline(journal, commit, externals, staged)])
    finally:
        new.close()
