"""What is kept of requests beside their commits: approvals that were asked for, the attempts of planners, and programs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from blendwright.values.approval import ApprovalRequest

ApprovalState = Literal["pending", "approved", "declined", "used"]


@dataclass(frozen=True, slots=True)
class StoredApproval:
    """A question and what became of it; `given_by` says how it was answered."""

    request: ApprovalRequest
    state: ApprovalState
    given_by: str | None


@dataclass(frozen=True, slots=True)
class NewAttempt:
    """One call of a planner: what was asked of which model, what it cost, what came of it. `plan` is the text that came back,
    None where none did. Of the prompt only the hash is kept: it holds the scene, which the journal has anyway, and never a key.

    `outcome` has `stage` (service, reading, validation, preview, approval, execution, gates, done), `status` and what was wrong.
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
    """The same, with its place in time. `number` counts the attempts of a request from one."""

    timestamp: str

    def to_json(self) -> dict[str, Any]:
        """All but the request, of which it is one of the attempts."""
        document = asdict(self)
        del document["request_id"]
        return document


@dataclass(frozen=True, slots=True)
class StoredProgram:
    """A program that a plan came from. `hash` is that of text, parameters and libraries."""

    hash: str
    program: str
    params: Mapping[str, Any]
    libraries: Mapping[str, str]
    timestamp: str

    def to_json(self) -> dict[str, Any]:
        return asdict(self)
