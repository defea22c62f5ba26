"""Whoever is asked in a simulated world: says yes, no or nothing, as the seed has it."""

from __future__ import annotations

from blendwright.util.cancel import CancelToken
from blendwright.values.approval import ApprovalAnswer, ApprovalPrompt, ApprovalRequest
from simulation.oracle import Oracle
from simulation.world import World

ANSWERS = (ApprovalAnswer.APPROVED, ApprovalAnswer.APPROVED, ApprovalAnswer.DECLINED, ApprovalAnswer.NONE)


class Person(ApprovalPrompt):
    def __init__(self, world: World, oracle: Oracle) -> None:
        self._world = world
        self._oracle = oracle

    @property
    def name(self) -> str:
        return "somebody"

    def ask(self, request: ApprovalRequest, *, cancel: CancelToken | None = None) -> ApprovalAnswer:
        answer = ApprovalAnswer.NONE if self._oracle.nobody_there else self._world.chance.choice(ANSWERS)
        self._world.say(f"asked about {request.tool}: {answer}")
        if answer is ApprovalAnswer.APPROVED:
            self._oracle.approved.add(request.id)
        return answer
