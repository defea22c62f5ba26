"""One question to a host's user, without a server around it: what counts as an answer, and that none is always none."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import Any

import pytest
from mcp.shared.exceptions import MCPError
from mcp_types import ElicitResult

from blendwright.server.answers.response import ToolResponse
from blendwright.server.transport.client_info import ProgressReporter
from blendwright.server.transport.elicitation import (
    MAX_MESSAGE_CHARACTERS,
    HostApprover,
    MultiRoundCall,
    PendingApproval,
    answer_of,
    session_approver,
)
from blendwright.util.cancel import CancelToken
from blendwright.values.approval import ApprovalAnswer, ApprovalRequest


def question(seconds: float = 60, **more: Any) -> ApprovalRequest:
    fields: dict[str, Any] = {
        "id": "abcdefgh",
        "operation_hash": "hash",
        "request_id": "r",
        "operation_id": "op",
        "tool": "object.delete",
        "safety_level": "destructive",
        "what": "object.delete Box",
        "why": ("a rule",),
    }
    return ApprovalRequest(**(fields | more), expires=time.time() + seconds)


@pytest.mark.parametrize(
    ("result", "answer"),
    [
        (ElicitResult(action="accept", content={"allow": True}), ApprovalAnswer.APPROVED),
        (ElicitResult(action="accept", content={"allow": False}), ApprovalAnswer.DECLINED),
        (ElicitResult(action="accept", content={"allow": "false"}), ApprovalAnswer.DECLINED),
        (ElicitResult(action="accept", content={"allow": 1}), ApprovalAnswer.DECLINED),
        (ElicitResult(action="accept", content={}), ApprovalAnswer.DECLINED),
        (ElicitResult(action="accept"), ApprovalAnswer.DECLINED),
        (ElicitResult(action="decline", content={"allow": True}), ApprovalAnswer.DECLINED),
        (ElicitResult(action="cancel", content={"allow": True}), ApprovalAnswer.NONE),
    ],
)
def test_only_a_clear_yes_is_one(result: ElicitResult, answer: ApprovalAnswer) -> None:
    assert answer_of(result) is answer


def test_the_first_answer_counts() -> None:
    asked = PendingApproval((question(),))
    asked.resolve(ApprovalAnswer.DECLINED)
    asked.resolve(ApprovalAnswer.APPROVED)
    assert asked.answer.result(0) is ApprovalAnswer.DECLINED


def test_code_is_shown_whole_and_unseen_signs_are_written_out() -> None:
    code = "print('x')\n" * 2000
    message = PendingApproval((question(what="object.delete \u202eBox", shown=code),)).message
    assert message.endswith(f"\n\n{code}")
    assert "object.delete \\u202eBox" in message and "a rule" in message


def test_a_question_that_nobody_answers_ends_with_its_time_and_is_no_yes() -> None:
    assert HostApprover(lambda asked: None).ask(question(0.05)) is ApprovalAnswer.NONE
    assert HostApprover(lambda asked: None).ask(question(-1)) is ApprovalAnswer.NONE


def test_a_run_that_is_cancelled_does_not_wait_for_the_answer() -> None:
    cancel = CancelToken()
    put = threading.Event()
    threading.Thread(target=lambda: (put.wait(60), cancel.cancel())).start()
    # The question expires long after the time limit of the test.
    assert HostApprover(lambda asked: put.set()).ask(question(3600), cancel=cancel) is ApprovalAnswer.NONE


class Session:
    """The host's side of the older era."""

    def __init__(self, answer: ElicitResult | MCPError) -> None:
        self._answer = answer

    async def elicit_form(self, message: str, schema: Any, related: Any) -> ElicitResult:
        if isinstance(self._answer, MCPError):
            raise self._answer
        return self._answer


@pytest.mark.parametrize(
    ("host", "answer"),
    [
        (ElicitResult(action="accept", content={"allow": True}), ApprovalAnswer.APPROVED),
        (MCPError(-32601, "no such method"), ApprovalAnswer.NONE),
    ],
)
def test_a_host_that_cannot_ask_after_all_gave_no_answer(host: ElicitResult | MCPError, answer: ApprovalAnswer) -> None:
    async def main() -> ApprovalAnswer:
        session: Any = Session(host)
        approver = session_approver(session, 1)
        return await asyncio.to_thread(approver.ask, question(10))

    assert asyncio.run(main()) is answer


async def unanswered() -> ToolResponse:
    """The run behind a call; it waits for the person."""
    await asyncio.Event().wait()
    raise AssertionError


@pytest.mark.parametrize(
    "responses",
    [
        None,
        {},
        {"other": ElicitResult(action="accept", content={"allow": True})},
        {"approval": {"action": "accept", "content": {"allow": True}}},
        {"approval": True},
    ],
)
def test_a_call_that_comes_back_without_an_answer_to_its_question_brought_none(responses: Any) -> None:
    async def main() -> ApprovalAnswer:
        session: Any = None
        call = MultiRoundCall("plan_execute", {}, ProgressReporter(session))
        call.task = asyncio.create_task(unanswered())
        approval = asyncio.create_task(asyncio.to_thread(call.approver.ask, question(10)))
        assert isinstance(await call.next(), PendingApproval)
        call.answer(responses)
        answer = await approval
        call.task.cancel()
        return answer

    assert asyncio.run(main()) is ApprovalAnswer.NONE


def test_a_host_is_shown_every_path_or_is_not_asked() -> None:
    asked: list[PendingApproval] = []

    def allow(pending: PendingApproval) -> None:
        asked.append(pending)
        pending.resolve(ApprovalAnswer.APPROVED)

    path = "/in/" + "m" * 3000 + ".glb"
    what = f'python.run\nwrites "/home/x/thesis.blend"\nreads "{path}"\nwith {{}}'
    assert HostApprover(allow).ask(question(what=what)) is ApprovalAnswer.APPROVED
    assert what in asked[0].message
    assert HostApprover(allow).ask(question(what=what, shown="x" * MAX_MESSAGE_CHARACTERS)) is ApprovalAnswer.NONE
    assert HostApprover(allow).ask_together([question(what=what)] * 10) is ApprovalAnswer.NONE
    assert len(asked) == 1
