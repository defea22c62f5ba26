"""Data of requests besides their commits: approval requests, planner attempts, and programs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from blendwright.values.approval import ApprovalRequest

ApprovalState = Literal["pending", "approved", "declined", "used"]


@dataclass(frozen=True, slots=True)
class StoredApproval:
    """An approval request and its state. `given_by` names the source of the answer."""

    request: ApprovalRequest
    state: ApprovalState
    given_by: str | None


@dataclass(frozen=True, slots=True)
class NewAttempt:
    """A call of a planner: the request, the model, the cost, and the outcome.

    `plan` is the returned text, or None. Only the hash of the prompt is stored, because the prompt contains the
    scene, which the journal already has. It never contains a key. `outcome` has `stage` (service, reading,
    validation, preview, approval, execution, gates, done), `status` and the errors.
    """

    request_id: str
    number: int
    asked: str
    prompt_hash: str
    model: str
    usage: Mapping[str, int]
    plan: str | None
    outcome: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Attempt(NewAttempt):
    """A stored planner attempt with its time. `number` counts the attempts of a request from one."""

    timestamp: str

    def to_json(self) -> dict[str, Any]:
        """Return all fields except the request id."""
        document = asdict(self)
        del document["request_id"]
        return document


@dataclass(frozen=True, slots=True)
class StoredProgram:
    """A program from which a plan was made. `hash` covers text, parameters and libraries."""

    hash: str
    program: str
    params: Mapping[str, Any]
    libraries: Mapping[str, str]
    timestamp: str

    def to_json(self) -> dict[str, Any]:
        return asdict(self)
