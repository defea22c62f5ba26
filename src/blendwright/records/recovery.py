"""Traces of an ended or failing process, and the route to rebuild a scene: intents, open boundaries, quarantine,
routes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from blendwright.records.checkpoints import Checkpoint
from blendwright.records.commits import Commit

IntentState = Literal["open", "settled", "indeterminate", "resolved"]


@dataclass(frozen=True, slots=True)
class NewIntent:
    """An effect outside the scene that is about to happen."""

    operation_key: str
    request_id: str
    operation_id: str
    tool: str
    effect: str


@dataclass(frozen=True, slots=True)
class Intent(NewIntent):
    """An announced effect outside the scene. `indeterminate` means that its process died before it recorded the
    outcome.
    """

    id: int
    state: IntentState
    timestamp: str
    note: str | None = None


@dataclass(frozen=True, slots=True)
class OpenBoundary:
    """An all-or-nothing plan that began at `base` and is neither kept nor rolled back."""

    id: int
    request_id: str
    base: int


@dataclass(frozen=True, slots=True)
class Quarantine:
    """The reason why the workspace is read-only: the hash of the scene in the journal, and the hash that was
    found.
    """

    reason: str
    expected: str
    found: str
    timestamp: str


@dataclass(frozen=True, slots=True)
class RebuildRoute:
    """The route to the scene of commit `to`: open the checkpoint (None: the empty scene of the baseline), then
    redo the commits in order.

    `start_hash` is the expected hash of the opened scene. `damaged` are newer checkpoints whose files do not match
    their rows.
    """

    to: int
    checkpoint: Checkpoint | None
    start_hash: str
    redo: tuple[Commit, ...]
    damaged: tuple[Checkpoint, ...] = ()


@dataclass(frozen=True, slots=True)
class RecoveryInfo:
    """The state that a process must know before it works on a workspace. `route` is None without commits."""

    head: Commit | None
    route: RebuildRoute | None
    indeterminate: tuple[Intent, ...]
    boundary: OpenBoundary | None
    quarantine: Quarantine | None
    cleaned: tuple[str, ...] = ()
