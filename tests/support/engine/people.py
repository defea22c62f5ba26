"""Somebody who can be asked."""

from __future__ import annotations

from blendwright.util.cancel import CancelToken
from blendwright.values.approval import ApprovalAnswer, ApprovalRequest


class Person:
    """Says the same to every question, and remembers what was shown."""

    name = "test"

    def __init__(self, answer: ApprovalAnswer) -> None:
        self._answer = answer
        self.asked: list[ApprovalRequest] = []

    def ask(self, request: ApprovalRequest, *, cancel: CancelToken | None = None) -> ApprovalAnswer:
        self.asked.append(request)
        return self._answer
