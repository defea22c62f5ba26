"""A person who is asked, and calls that need one, for the tests of approvals."""

from __future__ import annotations

import time
from typing import Any

import pytest

from blendwright.journal import approvals as kept
from blendwright.util.cancel import CancelToken
from blendwright.values.approval import ApprovalAnswer, ApprovalRequest, Approver
from blendwright.values.outcome import Outcome
from support.engine.engine import Engine

GRANTED = Approver(grants=frozenset({"destructive"}))
numbers = iter(range(1000))


class Person:
    """Says the same to every question, and remembers what the journal held when it was asked."""

    name = "person"

    def __init__(self, engine: Engine, answer: ApprovalAnswer) -> None:
        self._engine = engine
        self._answer = answer
        self.asked: list[ApprovalRequest] = []
        self.committed: list[str] = []

    def ask(self, request: ApprovalRequest, *, cancel: CancelToken | None = None) -> ApprovalAnswer:
        self.asked.append(request)
        self.committed.append(self._engine.head().operation_id)
        return self._answer


def thing(engine: Engine) -> str:
    name = f"Thing {next(numbers)}"
    engine.do("object.create_empty", {"name": name})
    return name


def delete(engine: Engine, name: str, **options: Any) -> Outcome:
    return engine.call("object.delete", {"name": name}, **options)


def id_of(outcome: Outcome) -> str:
    cure = outcome.findings[0].cure or ""
    return cure.split("`")[1].split()[2]


def answer(engine: Engine, id: str, given: ApprovalAnswer = ApprovalAnswer.APPROVED) -> None:
    kept.answer(engine.place / "workspace", id, given, "blendwright approve")


def rules_of(outcome: Outcome) -> list[str | None]:
    return [finding.rule for finding in outcome.findings]


class Clock:
    """The time of day as the core reads it, which a test can put forward."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self._ahead, real = 0.0, time.time
        patch.setattr(time, "time", lambda: real() + self._ahead)

    def forward(self, seconds: float) -> None:
        self._ahead += seconds


class Slow(Person):
    """Thinks until the question has expired."""

    def __init__(self, engine: Engine, says: ApprovalAnswer, clock: Clock) -> None:
        super().__init__(engine, says)
        self._clock = clock

    def ask(self, request: ApprovalRequest, *, cancel: CancelToken | None = None) -> ApprovalAnswer:
        self._clock.forward(60)
        return super().ask(request, cancel=cancel)
