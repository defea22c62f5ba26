"""Automatic recovery of a workspace that was not closed, and the explicit repairs of a workspace that cannot be used."""

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
    """Roll back an interrupted plan, and return sentences about everything that was found. `abandoned` counts the
    cleared sessions.

    The process may die at any point: every part is one transaction, and a second run does not repeat finished parts.
    Raise EnvironmentUnfit when the journal needs an explicit repair.
    """
    try:
        info = journal.recovery.info()
        sentences = list(_sentences(info, abandoned))
        if info.boundary is not None:
            crash_points.reach("recovery.read")
            journal.roll_back(info.boundary.id)
            crash_points.reach("recovery.rolled_back")
    except JournalError as error:
        fix = error.cure or "Run `blendwright recover` to see the ways out."
        raise EnvironmentUnfit(error.message, cure=fix, details=error.details) from error
    return tuple(sentences)


def _sentences(info: RecoveryInfo, abandoned: int) -> Iterator[str]:
    if info.boundary is not None:
        yield (
            f"the all-or-nothing plan '{info.boundary.request_id}' was interrupted:"
            f" HEAD went back to commit {info.boundary.base}"
        )
    for intent in info.indeterminate:
        yield (
            f"an earlier run ended while operation '{intent.operation_id}' had an effect outside the scene ({intent.effect}):"
            f" check whether it happened, then settle intent {intent.id} with `blendwright recover`"
        )
    if info.route is not None:
        for checkpoint in info.route.damaged:
            yield f"the checkpoint {checkpoint.path.name} is damaged: the scene is rebuilt from an older one"
    if info.cleaned:
        yield f"{len(info.cleaned)} unfinished checkpoint files were removed"
    if abandoned and info.head is not None:
        yield (
            f"an earlier session ended without closing: its scratch was removed, and the scene continues from commit"
            f" {info.head.number}, the last acknowledged one"
        )


@dataclass(frozen=True, slots=True)
class RepairReport:
    """The finished repairs as sentences, and the remaining problems of the workspace."""

    done: tuple[str, ...]
    diagnosis: workspace_problems.WorkspaceProblems

    def to_json(self) -> dict[str, Any]:
        diagnosis = self.diagnosis
        head = quarantine = boundary = None
        if diagnosis.head is not None:
            head = diagnosis.head.number
        if diagnosis.quarantine is not None:
            quarantine = asdict(diagnosis.quarantine)
        if diagnosis.boundary is not None:
            boundary = asdict(diagnosis.boundary)
        return {
            "ok": True,
            "fit": diagnosis.fit,
            "done": self.done,
            "head": head,
            "quarantine": quarantine,
            "lost": diagnosis.lost,
            "contradictions": diagnosis.contradictions,
            "indeterminate": [asdict(intent) for intent in diagnosis.indeterminate],
            "boundary": boundary,
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
    """Repair a workspace, and return the repairs and the remaining problems. Each argument adds a step, in this
    order:

    - `resolve` settles that intent with the note
    - `accept_restored` accepts a journal that was restored from an older copy
    - `to` moves HEAD to that commit
    - `adopt` accepts HEAD's scene as Blender builds it today

    Raise Refusal for an intent or commit that does not exist, and RebuildFailed when the scene of `to` differs from
    the journal.
    """
    if adopt and to is not None:
        fix = "Give --adopt to continue with the newest scene, or --to N to continue from commit N."
        raise Refusal.of(Fault.ARGS_INVALID, "--adopt and --to exclude each other", fix)
    if (resolve is None) != (note is None) or (note is not None and not note.strip()):
        fix = "Describe the outcome of the effect: --note 'the file exists'"
        raise Refusal.of(Fault.TARGET_NOT_FOUND, "--resolve and --note belong together", fix)
    done: list[str] = []
    with repair_journal(workspace) as journal:
        if resolve is not None and note is not None:
            try:
                journal.recovery.resolve_intent(resolve, note)
            except JournalError as error:
                fix = "List the intents: blendwright recover"
                raise Refusal.of(Fault.TARGET_NOT_FOUND, error.message, fix) from error
            done.append(f"intent {resolve} is settled: {note}")
        if accept_restored:
            if not journal.contradictions:
                fix = "Leave the option out: the journal is used as it is."
                raise Refusal.of(
                    Fault.TARGET_NOT_FOUND, "no note contradicts the journal, so there is nothing to accept", fix
                )
            journal.accept_restored()
            done.append("the journal is accepted as it is, and its audit chain records that")
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
        raise Refusal.of(Fault.SCENE_CONFLICT, message, "Continue without --adopt.")
    with inspection_workers(workspace, blender=blender) as inspection:
        adopted = workspace_problems.adopt_head(journal, inspection.worker(), inspection.worker())
    yield (
        f"commit {adopted.commit.number} has the newest scene as it is now, with the hash {adopted.commit.hash_after},"
        f" and HEAD is at that commit"
    )
    yield from adopted.missing
