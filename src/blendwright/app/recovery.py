"""What is put in order when a workspace is opened after its last owner ended without closing it, described in sentences."""

from __future__ import annotations

from collections.abc import Iterator

from blendwright.journal import Journal
from blendwright.records.recovery import RecoveryInfo
from blendwright.values import crash_points
from blendwright.values.errors import EnvironmentUnfit, JournalError


def recover(journal: Journal, abandoned: int) -> tuple[str, ...]:
    """Roll back what was left half done; `abandoned` counts the sessions whose scratch was cleared away.

    Safe to be killed in: every part is one transaction, and what is done already is not found again.
    """
    try:
        info = journal.recovery()
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
