"""What the engine tells whoever watches it: plain frozen events, and the one port that takes them.

Logs, metrics and traces are made from these by observers that the application wires; nobody here knows them. An event is told
after what it speaks of is durable, and before it is acknowledged. It never holds arguments of a call: those may be anything.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from blendwright.values.outcome import Outcome
from blendwright.values.report import RunReport


@dataclass(frozen=True, slots=True)
class CallIds:
    """The ids that one tool invocation goes by; `operation_id` and `mcp_call_id` are None where no single one is meant."""

    request_id: str
    operation_id: str | None = None
    mcp_call_id: str | None = None


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened."""


@dataclass(frozen=True, slots=True)
class WorkspaceOpened(Event):
    """`recovered` says in sentences what had to be put in order first."""

    workspace: str
    recovered: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class WorkspaceClosed(Event):
    """Nothing comes after it."""


@dataclass(frozen=True, slots=True)
class RunStarted(Event):
    """A plan that is valid and scheduled begins on the scene with the hash `baseline`."""

    request_id: str
    dialect: str
    boundary: str
    schedule_hash: str
    operations: int
    baseline: str | None


@dataclass(frozen=True, slots=True)
class RunEnded(Event):
    """Also for a plan that was refused, which never started."""

    report: RunReport


@dataclass(frozen=True, slots=True)
class RunBrokenOff(Event):
    """A run that ended without a report: there was no Blender, or no disk, to go on with. What was committed stands."""

    request_id: str
    dialect: str
    schedule_hash: str
    message: str


@dataclass(frozen=True, slots=True)
class CallEnded(Event):
    """One tool call outside of any plan. `recorded`: it is in the audit, so `Committed` has told of it before."""

    ids: CallIds
    outcome: Outcome
    recorded: bool


@dataclass(frozen=True, slots=True)
class Committed(Event):
    """One transaction is durable: its audit records, and the number of the commit that each belongs to, where there is one."""

    records: Sequence[Mapping[str, Any]]
    commits: Sequence[int | None]


@dataclass(frozen=True, slots=True)
class RolledBack(Event):
    """A plan was taken back as a whole: HEAD is at `base` again. The records are of what failed and of what was undone."""

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
    """By checkout, undo or redo."""

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
    """A worker holds the scene. `again`: another one of this session had held it before."""

    pid: int
    scene_hash: str
    redone: int
    seconds: float
    again: bool


@dataclass(frozen=True, slots=True)
class WorkerTrouble(Event):
    """A call went wrong inside a worker; `log` are the last lines that the worker wrote. `lost`: the worker is gone."""

    ids: CallIds
    pid: int | None
    message: str
    log: Sequence[str]
    lost: bool


@dataclass(frozen=True, slots=True)
class Remark(Event):
    """Something that whoever set this up should know."""

    message: str


@dataclass(frozen=True, slots=True)
class Defect(Event):
    """Something was raised that nobody expected."""

    error: BaseException


Observer = Callable[[Event], None]


def silent(event: Event) -> None:
    """The observer of those whom nobody watches."""
