"""Events of the engine for observers: plain frozen values, and the one port that receives them.

Observers of the application make logs, metrics and traces from these events. The engine emits an event after its
subject is durable, and before it acknowledges it. An event never contains the arguments of a call, because they may
hold anything.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from blendwright.values.outcome import Outcome
from blendwright.values.report import RunReport


@dataclass(frozen=True, slots=True)
class CallIds:
    """The ids of a tool invocation; `operation_id` and `mcp_call_id` are None if the event concerns no single one."""

    request_id: str
    operation_id: str | None = None
    mcp_call_id: str | None = None


@dataclass(frozen=True, slots=True)
class Event:
    """Base of all events."""


@dataclass(frozen=True, slots=True)
class WorkspaceOpened(Event):
    """The workspace is open. `recovered` lists, in sentences, the repairs that opening needed."""

    workspace: str
    recovered: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class WorkspaceClosed(Event):
    """The workspace is closed; no event follows."""


@dataclass(frozen=True, slots=True)
class RunStarted(Event):
    """A valid and scheduled plan starts on the scene with the hash `baseline`."""

    request_id: str
    dialect: str
    boundary: str
    schedule_hash: str
    operations: int
    baseline: str | None


@dataclass(frozen=True, slots=True)
class RunEnded(Event):
    """A run ended, or a plan was refused and never started."""

    report: RunReport


@dataclass(frozen=True, slots=True)
class RunBrokenOff(Event):
    """A run ended without a report, because Blender or the disk failed. Its commits remain."""

    request_id: str
    dialect: str
    schedule_hash: str
    message: str


@dataclass(frozen=True, slots=True)
class CallEnded(Event):
    """A tool call outside of any plan ended. `recorded` is True if the audit has it, so that `Committed` came first."""

    ids: CallIds
    outcome: Outcome
    recorded: bool


@dataclass(frozen=True, slots=True)
class Committed(Event):
    """A transaction is durable: its audit records, and the commit number of each, or None."""

    records: Sequence[Mapping[str, Any]]
    commits: Sequence[int | None]


@dataclass(frozen=True, slots=True)
class RolledBack(Event):
    """Blendwright undid a whole plan, so HEAD is at `base` again.

    The records describe the failure and the undone operations.
    """

    base: int | None
    records: Sequence[Mapping[str, Any]]
    commits: Sequence[int | None]


@dataclass(frozen=True, slots=True)
class CheckpointSaved(Event):
    commit: int
    scene_hash: str
    size: int


@dataclass(frozen=True, slots=True)
class HeadMoved(Event):
    """HEAD moved by checkout, undo or redo."""

    kind: str
    origin: int | None
    to: int | None


@dataclass(frozen=True, slots=True)
class Quarantined(Event):
    reason: str
    expected: str
    found: str


@dataclass(frozen=True, slots=True)
class QuarantineEnded(Event):
    how: str


@dataclass(frozen=True, slots=True)
class SceneBuilt(Event):
    """A worker has built the scene. `again` is True if another worker of this session had built it before."""

    pid: int
    scene_hash: str
    redone: int
    seconds: float
    again: bool


@dataclass(frozen=True, slots=True)
class WorkerTrouble(Event):
    """A call failed inside a worker; `log` holds its last log lines. `lost` is True if the worker has ended."""

    ids: CallIds
    pid: int | None
    message: str
    log: Sequence[str]
    lost: bool


@dataclass(frozen=True, slots=True)
class Remark(Event):
    """A message for the person who set up the workspace."""

    message: str


@dataclass(frozen=True, slots=True)
class Defect(Event):
    """An unexpected exception."""

    error: BaseException


Observer = Callable[[Event], None]


def silent(event: Event) -> None:
    """Ignore the event."""
