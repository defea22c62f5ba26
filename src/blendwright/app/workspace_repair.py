"""The ways out of a workspace that cannot be used: an intent resolved by a person, HEAD at a commit whose scene is proved."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from blendwright.app.read_workspace import inspection_workers, repair_journal
from blendwright.run import workspace_problems
from blendwright.run.history import find
from blendwright.values.errors import JournalError, Refusal
from blendwright.values.faults import Fault


@dataclass(frozen=True, slots=True)
class RepairReport:
    """What was done, in sentences, and what still stands in the way."""

    done: tuple[str, ...]
    diagnosis: workspace_problems.WorkspaceProblems

    def to_json(self) -> dict[str, Any]:
        diagnosis = self.diagnosis
        return {
            "ok": True,
            "fit": diagnosis.fit,
            "done": self.done,
            "head": None if diagnosis.head is None else diagnosis.head.number,
            "quarantine": None if diagnosis.quarantine is None else asdict(diagnosis.quarantine),
            "lost": diagnosis.lost,
            "indeterminate": [asdict(intent) for intent in diagnosis.indeterminate],
            "boundary": None if diagnosis.boundary is None else asdict(diagnosis.boundary),
            "places": diagnosis.reachable,
            "ways_out": list(diagnosis.ways_out()),
        }


def repair_workspace(
    workspace: str | Path,
    *,
    to: str | None = None,
    resolve: int | None = None,
    note: str | None = None,
    blender: str | None = None,
) -> RepairReport:
    """Resolve the intent `resolve` with a note, then go on from the commit `to`, where these are given; then look what is wrong.

    Raises Refusal for what is not there, RebuildFailed when the scene of `to` is not what the journal says."""
    if (resolve is None) != (note is None) or (note is not None and not note.strip()):
        cure = "Say what became of the effect: --note 'the file is there'"
        raise Refusal.of(Fault.TARGET_NOT_FOUND, "--resolve and --note belong together", cure)
    done: list[str] = []
    with repair_journal(workspace) as journal:
        if resolve is not None and note is not None:
            try:
                journal.resolve_intent(resolve, note)
            except JournalError as error:
                cure = "See which there are: blendwright recover"
                raise Refusal.of(Fault.TARGET_NOT_FOUND, error.message, cure) from error
            done.append(f"intent {resolve} is settled: {note}")
        if to is not None:
            target = find(journal, to)
            with inspection_workers(workspace, blender=blender) as inspection:
                commit = workspace_problems.return_to(journal, inspection.worker(), target.number)
            scene = f"whose scene was rebuilt and has the hash {commit.hash_after}"
            done.append(f"HEAD is at commit {commit.number}, {scene}")
        return RepairReport(tuple(done), workspace_problems.find_problems(journal))
