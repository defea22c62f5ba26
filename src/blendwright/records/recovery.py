"""What an ended or failing process left behind, and how a scene is rebuilt: intents, open boundaries, quarantine, routes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from blendwright.records.checkpoints import Checkpoint
from blendwright.records.commits import Commit

IntentState = Literal["open", "settled", "indeterminate", "resolved"]


@dataclass(frozen=True, slots=True)
class NewIntent:
    """Announces an effect outside the scene, before it happens."""

    operation_key: str
    request_id: str
    operation_id: str
    tool: str
    effect: str


@dataclass(frozen=True, slots=True)
class Intent(NewIntent):
    """An announced effect outside the scene. `indeterminate`: its process died before it told the outcome."""

    id: int
    state: IntentState
    timestamp: str
    note: str | None = None


@dataclass(frozen=True, slots=True)
class OpenBoundary:
    """An all-or-nothing plan that has begun at `base` and is neither kept nor rolled back."""

    id: int
    request_id: str
    base: int


@dataclass(frozen=True, slots=True)
class Quarantine:
    """Why nothing may be written: what the journal says the scene is, and what it was found to be."""

    reason: str
    expected: str
    found: str
    timestamp: str


@dataclass(frozen=True, slots=True)
class RebuildRoute:
    """How to get the scene of commit `to`: open the checkpoint (None: the empty scene of the baseline), redo the commits in order.

    `start_hash` is what the opened scene must hash to. `damaged` are newer checkpoints whose files do not match their rows.
    """

    to: int
    checkpoint: Checkpoint | None
    start_hash: str
    redo: tuple[Commit, ...]
    damaged: tuple[Checkpoint, ...] = ()


@dataclass(frozen=True, slots=True)
class RecoveryInfo:
    """What whoever opens a workspace must know before working on it. `route` is None in one without commits."""

    head: Commit | None
    route: RebuildRoute | None
    indeterminate: tuple[Intent, ...]
    boundary: OpenBoundary | None
    quarantine: Quarantine | None
    cleaned: tuple[str, ...] = ()
