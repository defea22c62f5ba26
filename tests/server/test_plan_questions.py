"""One question for all of a plan, what is allowed for a session, and commands that can be pasted."""

from __future__ import annotations

import shlex
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from mcp.client.client import Client
from mcp_types import ElicitRequestFormParams, ElicitResult

from blendwright.approvals.pending import pending_approvals, revoke_allowances, session_allowances
from blendwright.server.context import ServerContext
from blendwright.workspace.reading import read_journal
from support.hosts.mcp import Era, cube, operation, plan, talk

YES = ElicitResult(action="accept", content={"allow": True})
ALL = ElicitResult(action="accept", content={"allow": True, "session": True})
NO = ElicitResult(action="decline")
CLOSED = ElicitResult(action="cancel")


@pytest.fixture(autouse=True)
def no_allowance_is_left(context: ServerContext) -> Iterator[None]:
    yield
    revoke_allowances(context.workspace, [one.request.id for one in session_allowances(context.workspace)], by="test")


class User:
    def __init__(self, *answers: ElicitResult) -> None:
        self.heard: list[ElicitRequestFormParams] = []
        self._answers = list(answers)

    async def __call__(self, context: Any, params: Any) -> ElicitResult:
        self.heard.append(params)
        return self._answers.pop(0)


def deletes(id: str, *names: str) -> dict[str, Any]:
    """A plan that makes cubes and deletes them again."""
    made = [cube(f"make_{name}", name) for name in names]
    gone = [
        operation(f"unmake_{name}", "object.delete", {"object": name}, f"make_{name}", level="destructive")
        for name in names
    ]
    return plan(id, *made, *gone)


def answers(context: ServerContext, era: Era, user: User | None, *plans: dict[str, Any]) -> list[Any]:
    """The answers to plans of one client."""

    async def script(client: Client) -> Any:
        return [(await client.call_tool("plan_execute", {"plan": one})).structured_content for one in plans]

    return talk(context, era, script, **({} if user is None else {"elicitation_callback": user}))


def approvals_of(context: ServerContext, request_id: str) -> list[dict[str, Any]]:
    with read_journal(context.workspace) as journal:
        records = [record.record for record in journal.audit.records(limit=10_000)]
    return [dict(one) for one in records if one["request_id"] == request_id and one.get("approval_answer")]


def test_a_plan_asks_once_and_shows_all_that_the_answer_covers(context: ServerContext, era: Era) -> None:
    user, names = User(YES), [f"One{era}", f"Two{era}", f"Three{era}"]
    (answer,) = answers(context, era, user, deletes(f"once{era}", *names))
    assert answer["ok"] is True, answer
    assert "3 x object.delete ok" in str(answer) and str(answer).count(", allowed by a person, removed ") == 1, answer
    (asked,) = user.heard
    assert all(name in asked.message for name in names) and asked.message.count("object.delete") >= 3
    told = approvals_of(context, f"once{era}")
    assert [one["operation_id"] for one in told] == [f"unmake_{name}" for name in sorted(names)]
    assert len({one["approval_id"] for one in told}) == 3  # each bound to its own operation


def test_a_no_is_a_no_to_all(context: ServerContext, era: Era) -> None:
    user = User(NO)
    (answer,) = answers(context, era, user, deletes(f"never{era}", f"Kept{era}", f"Left{era}"))
    assert answer["ok"] is False and len(user.heard) == 1
    assert {one["approval_answer"] for one in approvals_of(context, f"never{era}")} == {"declined"}


def test_an_answer_covers_nothing_but_what_was_shown(context: ServerContext, era: Era) -> None:
    user, names = User(YES, NO), [f"Here{era}", f"There{era}"]
    answers(context, era, user, deletes(f"shown{era}", *names), deletes(f"other{era}", *(f"{name}2" for name in names)))
    assert len(user.heard) == 2
    assert {one["approval_answer"] for one in approvals_of(context, f"other{era}")} == {"declined"}


def test_the_command_that_is_shown_can_be_pasted(context: ServerContext, era: Era) -> None:
    document = deletes(f"paste{era}", f"Old{era}", f"Older{era}")
    (refused,) = answers(context, era, None, document)
    payload = refused["result"]["result"]
    assert {entry["action"] for entry in payload["minimal_repair_plan"]} == {"retry"}
    commands = [one["cure"].split("`")[1] for one in refused["details"]["findings"]]
    assert len(commands) == 2 and payload["retry_hint"].count("blendwright approve")
    for command in commands:
        program, *words = shlex.split(command)
        assert program == "blendwright"
        answered = subprocess.run([sys.executable, "-m", program, *words], capture_output=True, text=True, check=False)
        assert answered.returncode == 0, answered
    (done,) = answers(context, era, None, document)
    assert done["ok"] is True, done


def test_a_kind_is_allowed_for_the_session_of_whoever_asked_and_no_longer(
    context: ServerContext, era: Era, monkeypatch: pytest.MonkeyPatch
) -> None:
    user = User(ALL)
    plans = [deletes(f"{word}{era}", f"A{word}{era}", f"B{word}{era}") for word in ("first", "second")]
    first, second = answers(context, era, user, *plans)
    assert first["ok"] is second["ok"] is True
    (asked,) = user.heard
    assert "destructive" in asked.message and "session" in asked.requested_schema["properties"]
    assert {one["approval_by"] for one in approvals_of(context, f"second{era}")} == {"allowed for the session"}
    (allowed,) = session_allowances(context.workspace)
    assert "destructive" in allowed.request.what

    def somebody_else(_: object) -> str:
        return "somebody else"

    monkeypatch.setattr("blendwright.server.service.client_id", somebody_else)
    other = User(NO)
    answers(context, era, other, deletes(f"third{era}", f"C{era}", f"D{era}"))
    assert len(other.heard) == 1  # another client has a session of its own
    revoke_allowances(context.workspace, [allowed.request.id], by="test")
    assert session_allowances(context.workspace) == ()


def test_what_was_revoked_is_asked_about_again(context: ServerContext, era: Era) -> None:
    user = User(ALL, NO)

    async def script(client: Client) -> Any:
        await client.call_tool("plan_execute", {"plan": deletes(f"before{era}", f"E{era}")})
        revoke_allowances(
            context.workspace, [one.request.id for one in session_allowances(context.workspace)], by="test"
        )
        return await client.call_tool("plan_execute", {"plan": deletes(f"after{era}", f"F{era}")})

    assert talk(context, era, script, elicitation_callback=user).is_error
    assert len(user.heard) == 2


def test_a_closed_question_leaves_each_operation_waiting(context: ServerContext, era: Era) -> None:
    user = User(CLOSED)
    (answer,) = answers(context, era, user, deletes(f"closed{era}", f"G{era}", f"H{era}"))
    assert answer["ok"] is False and len(user.heard) == 1
    waiting = [one.request.operation_id for one in pending_approvals(context.workspace)]
    assert {f"unmake_G{era}", f"unmake_H{era}"} <= set(waiting)


def test_a_question_too_long_for_a_host_is_left_for_the_command_line(context: ServerContext, era: Era) -> None:
    """Its user sees all of a question or none of it."""
    names = [f"{number}{'n' * 200}" for number in range(60)]
    files = [str(context.workspace.parent / f"{name}.py") for name in names]
    code = operation("code", "python.run", {"code": "pass", "files": {"out": files}}, level="destructive")
    user = User()
    (refused,) = answers(context, era, user, plan(f"long{era}", code))
    assert user.heard == []
    (finding,) = refused["details"]["findings"]
    assert finding["rule"] == "approval_missing" and "blendwright approve" in finding["cure"]
    (waiting,) = [one for one in pending_approvals(context.workspace) if one.request.request_id == f"long{era}"]
    assert all(file in waiting.request.what for file in files)
