"""A workspace that was not closed, put in order when it is opened; and the named ways out of one that cannot be used."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from blendwright.engine.moves.commit_names import find
from blendwright.engine.scene import problems as workspace_problems
from blendwright.journal import Journal
from blendwright.records.recovery import RecoveryInfo
from blendwright.util import crash_points
from blendwright.values.errors import EnvironmentUnfit, JournalError, Refusal
from blendwright.values.faults import Fault
from blendwright.workspace.reading import inspection_workers, repair_journal


def recover(journal: Journal, abandoned: int) -> tuple[str, ...]:
    """Roll back what was left half done; `abandoned` counts the sessions whose scratch was cleared away.

    Safe to be killed in: every part is one transaction, and what is done already is not found again.
    """
    try:
        info = journal.recovery.info()
        sentences = list(_sentences(info, abandoned))
        if info.boundary is not None:
            crash_points.reach("recovery.read")
            journal.roll_back(info.boundary.id)
            crash_points.reach("recovery.rolled_back")
    except JournalError as error:
        cure = error.cure or "Run `blendwright recover` to see the ways out."
        raise EnvironmentUnfit(error.message, cure=cure, details=error.details) from error
    return tuple(sentences)


def _sentences(info: RecoveryInfo, abandoned: int) -> Iterator[str]:
    if info.boundary is not None:
        yield (
            f"the plan '{info.boundary.request_id}' was interrupted and is kept whole or not at all:"
            f" HEAD went back to commit {info.boundary.base}"
        )
    for intent in info.indeterminate:
        yield (
            f"an earlier run ended while operation '{intent.operation_id}' had an effect outside the scene ({intent.effect}):"
            f" look whether it is there, then settle intent {intent.id} with `blendwright recover`"
        )
    if info.route is not None:
        for checkpoint in info.route.damaged:
            yield f"the checkpoint {checkpoint.path.name} is damaged: the scene is rebuilt from an older one"
    if info.cleaned:
        yield f"{len(info.cleaned)} unfinished checkpoint files were removed"
    if abandoned and info.head is not None:
        yield (
            f"an earlier session ended without closing: its scratch was removed, and the scene goes on from commit"
            f" {info.head.number}, the last one that was acknowledged"
        )


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
            "contradictions": diagnosis.contradictions,
            "indeterminate": [asdict(intent) for intent in diagnosis.indeterminate],
            "boundary": None if diagnosis.boundary is None else asdict(diagnosis.boundary),
            "places": diagnosis.reachable,
            "ways_out": list(diagnosis.ways_out()),
        }


def repair_workspace(
    workspace: str | Path,
    *,
    to: str | None = None,
    adopt: bool = False,
    resolve: int | None = None,
    note: str | None = None,
    accept_restored: bool = False,
    blender: str | None = None,
) -> RepairReport:
    """Resolve the intent `resolve` with a note, take a journal that was restored from an older copy for the truth, then go on from the
    commit `to`, or `adopt` HEAD's scene as it is found today, where these are given; then look what is wrong.

    Raises Refusal for what is not there, RebuildFailed when the scene of `to` is not what the journal says."""
    if adopt and to is not None:
        cure = "Give --adopt to go on with the newest scene, or --to N to go on from commit N."
        raise Refusal.of(Fault.ARGS_INVALID, "--adopt and --to are two ways out, and one can be taken", cure)
    if (resolve is None) != (note is None) or (note is not None and not note.strip()):
        cure = "Say what became of the effect: --note 'the file is there'"
        raise Refusal.of(Fault.TARGET_NOT_FOUND, "--resolve and --note belong together", cure)
    done: list[str] = []
    with repair_journal(workspace) as journal:
        if resolve is not None and note is not None:
            try:
                journal.recovery.resolve_intent(resolve, note)
            except JournalError as error:
                cure = "See which there are: blendwright recover"
                raise Refusal.of(Fault.TARGET_NOT_FOUND, error.message, cure) from error
            done.append(f"intent {resolve} is settled: {note}")
        if accept_restored:
            if not journal.contradictions:
                cure = "Leave the option out: the journal is used as it is."
                raise Refusal.of(Fault.TARGET_NOT_FOUND, "nothing says that an older journal was put in place", cure)
            journal.accept_restored()
            done.append("the journal is taken as it is, which is recorded in its audit chain")
        if to is not None:
            target = find(journal, to)
            with inspection_workers(workspace, blender=blender) as inspection:
                commit = workspace_problems.return_to(journal, inspection.worker(), target.number)
            scene = f"whose scene was rebuilt and has the hash {commit.hash_after}"
            done.append(f"HEAD is at commit {commit.number}, {scene}")
        if adopt:
            done += _adopt_head(journal, workspace, blender)
        return RepairReport(tuple(done), workspace_problems.find_problems(journal))


def _adopt_head(journal: Journal, workspace: str | Path, blender: str | None) -> Iterator[str]:
    problems = workspace_problems.find_problems(journal)
    if problems.quarantine is None and problems.lost is None:
        message = "the workspace is not in quarantine: the newest scene is the current one"
        raise Refusal.of(Fault.SCENE_CONFLICT, message, "Go on as ever.")
    with inspection_workers(workspace, blender=blender) as inspection:
        adopted = workspace_problems.adopt_head(journal, inspection.worker(), inspection.worker())
    yield (
        f"commit {adopted.commit.number} holds the newest scene as it was found, with the hash {adopted.commit.hash_after},"
        f" and HEAD is there"
    )
    yield from adopted.missing
