"""Attempts of a planner at one request, as they are kept: what was asked of which model, what it cost, what came of it.

Of the prompt only the hash is kept: it holds the scene, which the journal has anyway, and never a key.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class NewAttempt:
    """One call of a planner. `plan` is the text that came back, None where none did.

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
