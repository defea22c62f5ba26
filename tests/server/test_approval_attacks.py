"""Attacks on approvals through the server: guessed, replayed, given for something else, after an edit, and two at once."""

from __future__ import annotations

import asyncio
import gc
import secrets
import threading
from collections import Counter
from dataclasses import replace
from typing import Any

import anyio
import pytest
from mcp.client.client import Client
from mcp_types import ElicitResult

from blendwright.approvals.ask import ALPHABET
from blendwright.journal import approvals as kept
from blendwright.server.context import ServerContext
from blendwright.server.service import TOOLS, Service
from blendwright.values.approval import ApprovalAnswer
from blendwright.values.errors import Refusal
from blendwright.workspace.reading import read_journal
from support.hosts.mcp import Era, connected, cube, operation, plan, talk

NEWER: Era = "2026-07-28"
YES = ElicitResult(action="accept", content={"allow": True})


def delete(id: str, name: str, *needs: str) -> dict[str, Any]:
    return operation(id, "object.delete", {"name": name}, *needs, level="destructive")


async def nobody(context: Any, params: Any) -> ElicitResult:
    raise AssertionError("this test answers by itself")


async def execute(client: Client, document: dict[str, Any]) -> Any:
    return (await client.call_tool("plan_execute", {"plan": document})).structured_content


def run(context: ServerContext, document: dict[str, Any]) -> Any:
    """Over a host that cannot ask."""
    return talk(context, "legacy", lambda client: execute(client, document))


def exists(context: ServerContext, name: str) -> bool:
    async def script(client: Client) -> Any:
        return (await client.call_tool("scene_find", {"name": name})).structured_content

    return talk(context, "legacy", script)["result"]["total"] == 1


def question(refused: Any) -> str:
    return refused["details"]["findings"][0]["cure"].split("blendwright approve ")[1].split()[0].strip("`")


def approve(context: ServerContext, id: str) -> None:
    kept.answer(context.workspace, id, ApprovalAnswer.APPROVED, "blendwright approve")


def states(context: ServerContext, operation_hash: str) -> Counter[str]:
    with read_journal(context.workspace) as journal:
        return Counter(one.state for one in journal.approvals.listed(operation_hash))


def hash_of(context: ServerContext, id: str) -> str:
    with read_journal(context.workspace) as journal:
        (waiting,) = [one for one in journal.approvals.listed() if one.request.id == id]
    return waiting.request.operation_hash


def returned(client: Client, document: dict[str, Any], state: str, **more: Any) -> Any:
    return client.session.call_tool(
        "plan_execute",
        {"plan": document, **more},
        input_responses={"approval": YES},
        request_state=state,
        allow_input_required=True,
    )


# ---------------------------------------------------------------------- guessed


def test_no_tool_of_the_server_answers_a_question() -> None:
    # `skip_unapproved` leaves out what must be allowed; that is no answer.
    told = {tool.name: str(tool.input_schema).replace("skip_unapproved", "") for tool in TOOLS}
    assert not [name for name, schema in told.items() if "approv" in name or "approv" in schema]


def test_guessed_names_of_open_questions_answer_none(context: ServerContext) -> None:
    """The newer era: what names an open question is random; what comes near it is nothing."""
    document = plan("guess", delete("b", "Guessed"))

    async def script(client: Client) -> Any:
        await execute(client, plan("make guess", cube("a", "Guessed")))
        first: Any = await client.session.call_tool("plan_execute", {"plan": document}, allow_input_required=True)
        state: str = first.request_state
        tried = [state[:-1], state + "x", state.swapcase(), "", "0", *(secrets.token_urlsafe(24) for _ in range(50))]
        answers = [await returned(client, document, guess) for guess in tried]
        return state, answers, await client.call_tool("scene_find", {"name": "Guessed"})

    state, answers, found = talk(context, NEWER, script, elicitation_callback=nobody)
    assert len(state) >= 32, "as much chance as a key has"
    assert all(answer.is_error for answer in answers)
    assert found.structured_content["result"]["total"] == 1


def test_guessed_ids_approve_nothing(context: ServerContext) -> None:
    run(context, plan("make ids", cube("a", "Ids")))
    id = question(run(context, plan("ids", delete("b", "Ids"))))
    assert len(ALPHABET) ** len(id) > 10**11
    for _ in range(50):
        guess = "".join(secrets.choice(ALPHABET) for _ in id)
        with pytest.raises(Refusal, match="there is no approval"):
            approve(context, guess)
    assert run(context, plan("ids", delete("b", "Ids")))["ok"] is False and exists(context, "Ids")


# ---------------------------------------------------------------------- replayed


def test_an_approval_that_was_given_on_the_command_line_is_spent_with_its_use(context: ServerContext) -> None:
    """Also where the scene is once more what it was when the question was asked."""
    name = "Spent"
    run(context, plan("make spent", cube("a", name)))
    id = question(run(context, plan("spent", delete("b", name))))
    with read_journal(context.workspace) as journal:
        head = journal.head
    assert head is not None
    approve(context, id)
    assert run(context, plan("spent", delete("b", name)))["ok"] is True

    async def back(client: Client) -> Any:
        return (await client.call_tool("history_checkout", {"commit": str(head.number)})).structured_content

    assert talk(context, "legacy", back)["ok"] is True and exists(context, name)
    again = run(context, plan("spent again", delete("b", name)))
    assert again["ok"] is False and exists(context, name)
    with pytest.raises(Refusal, match="was already used"):
        approve(context, id)


def test_two_who_bring_the_same_answer_at_once_have_it_counted_once(context: ServerContext) -> None:
    name, document = "TwoReturns", plan("two returns", delete("b", "TwoReturns"))

    async def script(client: Client) -> list[Any]:
        await execute(client, plan("make returns", cube("a", name)))
        first: Any = await client.session.call_tool("plan_execute", {"plan": document}, allow_input_required=True)
        answers: list[Any] = []

        async def bring() -> None:
            answers.append(await returned(client, document, first.request_state))

        async with anyio.create_task_group() as tasks:
            for _ in range(5):
                tasks.start_soon(bring)
        return answers

    answers = talk(context, NEWER, script, elicitation_callback=nobody)
    assert Counter(bool(answer.is_error) for answer in answers) == {False: 1, True: 4}
    with read_journal(context.workspace) as journal:
        assert [commit.operation_id for commit in journal.commits_of("two returns")] == ["b"]


# ---------------------------------------------------------------------- for another operation


def test_an_answer_is_for_the_call_as_it_was_sent(context: ServerContext) -> None:
    """The newer era: the call comes back with the answer, and with something else changed in it."""
    document = plan("sent", delete("b", "Sent"))

    async def script(client: Client) -> list[Any]:
        await execute(client, plan("make sent", cube("a", "Sent"), cube("b", "Precious")))
        first: Any = await client.session.call_tool("plan_execute", {"plan": document}, allow_input_required=True)
        changed = [
            ("plan_execute", {"plan": plan("sent", delete("b", "Precious"))}),
            ("plan_execute", {"plan": plan("sent", delete("b", "Sent"), delete("c", "Precious", "b"))}),
            ("plan_execute", {"plan": document, "boundary": "plan"}),
            ("plan_preview", {"plan": document}),
        ]
        return [
            await client.session.call_tool(
                tool,
                args,
                input_responses={"approval": YES},
                request_state=first.request_state,
                allow_input_required=True,
            )
            for tool, args in changed
        ]

    answers = talk(context, NEWER, script, elicitation_callback=nobody)
    assert all(answer.is_error for answer in answers)
    assert exists(context, "Sent") and exists(context, "Precious")


def test_an_approval_for_one_operation_allows_no_other(context: ServerContext) -> None:
    run(context, plan("make other", cube("a", "Cheap"), cube("b", "Dear")))
    id = question(run(context, plan("other", delete("b", "Cheap"))))
    operation_hash = hash_of(context, id)
    approve(context, id)
    for other in (
        plan("other", delete("b", "Dear")),
        plan("other", delete("c", "Cheap")),
        plan("yet another", delete("b", "Cheap")),
        plan("other", operation("b", "object.delete", {"name": "Cheap", "keep_data": True}, level="destructive")),
        plan("other", operation("a", "object.rename", {"name": "Dear", "new_name": "Bait"}), delete("b", "Cheap", "a")),
    ):
        assert run(context, other)["ok"] is False
    assert exists(context, "Cheap") and exists(context, "Dear")
    assert states(context, operation_hash) == {"approved": 1}, "what it is for has not been done"


# ---------------------------------------------------------------------- after an edit


def test_an_approval_does_not_hold_for_what_has_taken_the_name_since(context: ServerContext) -> None:
    """Allowed is to delete Box; then what was precious is renamed to Box."""
    run(context, plan("make edit", cube("a", "Box"), cube("b", "Treasure")))
    id = question(run(context, plan("edit", delete("b", "Box"))))
    approve(context, id)
    swap = plan(
        "swap",
        operation("a", "object.rename", {"name": "Box", "new_name": "Decoy"}),
        operation("b", "object.rename", {"name": "Treasure", "new_name": "Box"}, "a"),
    )
    assert run(context, swap)["ok"] is True
    assert run(context, plan("edit", delete("b", "Box")))["ok"] is False and exists(context, "Box")


def test_the_same_between_a_question_and_its_answer_is_asked_about_again(context: ServerContext, era: Era) -> None:
    box, treasure = f"Box{era}", f"Treasure{era}"
    run(context, plan(f"make {era}", cube("a", box), cube("b", treasure)))
    swap = plan(
        f"swap {era}",
        operation("a", "object.rename", {"name": box, "new_name": f"Decoy{era}"}),
        operation("b", "object.rename", {"name": treasure, "new_name": box}, "a"),
    )
    heard: list[str] = []

    async def main() -> Any:
        async with connected(context, "legacy") as thief:

            async def user(ctx: Any, params: Any) -> ElicitResult:
                heard.append(params.message)
                assert (await execute(thief, swap))["ok"] is True
                return YES

            async with connected(context, era, elicitation_callback=user) as client:
                return await execute(client, plan(f"thief {era}", delete("b", box)))

    refused = anyio.run(main)
    assert refused["ok"] is False and len(heard) == 1
    assert refused["details"]["findings"][0]["rule"] == "approval_outdated"
    assert exists(context, box)


# ---------------------------------------------------------------------- two at once


def test_one_approval_and_two_clients_who_want_it_at_once(context: ServerContext) -> None:
    """The same operation of the same plan, five times at once: done once, and the approval is spent once."""
    run(context, plan("make rush", cube("a", "Rush")))
    document = plan("rush", delete("b", "Rush"))
    id = question(run(context, document))
    operation_hash = hash_of(context, id)
    approve(context, id)

    async def main() -> list[Any]:
        answers: list[Any] = []

        async def one() -> None:
            async with connected(context, "legacy") as client:
                answers.append(await execute(client, document))

        async with anyio.create_task_group() as tasks:
            for _ in range(5):
                tasks.start_soon(one)
        return answers

    answers = anyio.run(main)
    assert all(answer["ok"] for answer in answers)
    with read_journal(context.workspace) as journal:
        assert [commit.operation_id for commit in journal.commits_of("rush")] == ["b"]
        assert journal.audit.verify().ok
    assert states(context, operation_hash) == {"used": 1}


def test_a_question_is_answered_by_one_of_two_who_answer_at_once(context: ServerContext) -> None:
    run(context, plan("make both", cube("a", "Both")))
    id = question(run(context, plan("both", delete("b", "Both"))))
    outcomes: list[str] = []

    def answer(given: ApprovalAnswer) -> None:
        try:
            outcomes.append(kept.answer(context.workspace, id, given, "somebody").state)
        except Refusal as refusal:
            outcomes.append(str(refusal))

    async def main() -> None:
        async with anyio.create_task_group() as tasks:
            for given in (ApprovalAnswer.APPROVED, ApprovalAnswer.DECLINED) * 4:
                tasks.start_soon(anyio.to_thread.run_sync, answer, given)

    anyio.run(main)
    first = [outcome for outcome in outcomes if outcome in ("approved", "declined")]
    assert len(first) == 1 and len(outcomes) == 8
    assert sum("already" in outcome for outcome in outcomes) == 7


def test_two_questions_about_the_same_thing_and_two_who_agree_destroy_it_once(context: ServerContext, era: Era) -> None:
    """Two clients, each with its user; both are asked before either answers."""
    name = f"Twice{era}"
    run(context, plan(f"make {name}", cube("a", name), cube("b", f"{name}Next")))

    async def main() -> list[Any]:
        answers: list[Any] = []
        asked = list[str]()
        both = anyio.Event()

        async def user(ctx: Any, params: Any) -> ElicitResult:
            asked.append(params.message)
            if len(asked) == 2:
                both.set()
            await both.wait()
            return YES

        async def one(request: str) -> None:
            async with connected(context, era, elicitation_callback=user) as client:
                answers.append(await execute(client, plan(request, delete("b", name))))

        with anyio.fail_after(120):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(one, f"one {name}")
                tasks.start_soon(one, f"two {name}")
        return answers

    answers = anyio.run(main)
    assert sorted(answer["ok"] for answer in answers) == [False, True]
    assert not exists(context, name) and exists(context, f"{name}Next")


def test_questions_that_are_left_open_do_not_outlive_the_service(context: ServerContext) -> None:
    """What names an open question of one server means nothing to the next."""
    document = plan("outlive", delete("b", "Outlives"))

    async def main() -> Any:
        first, second = Service(context, version="0"), Service(context, version="0")
        async with Client(first.server, mode=NEWER, elicitation_callback=nobody) as client:
            await execute(client, plan("make outlive", cube("a", "Outlives")))
            asked: Any = await client.session.call_tool("plan_execute", {"plan": document}, allow_input_required=True)
        async with Client(second.server, mode=NEWER, elicitation_callback=nobody) as client:
            return await returned(client, document, asked.request_state)

    assert anyio.run(main).is_error and exists(context, "Outlives")


@pytest.mark.parametrize("mode", ["legacy", NEWER])
def test_a_thread_that_outlives_its_call_tells_a_closing_loop_nothing(context: ServerContext, mode: Era) -> None:
    """What it reported would be sent by a task that is destroyed while it waits; pytest takes that for an error."""
    started, cancelled = threading.Event(), threading.Event()
    sent: list[float] = []

    class Session:
        async def report_progress(self, done: float, total: float | None, message: str) -> None:
            sent.append(done)
            await anyio.sleep_forever()

    def work(progress: Any) -> None:
        started.set()
        assert cancelled.wait(60)
        progress.session = Session()
        for done in range(3):
            progress(done, 3, "")

    async def handler(context: Any, caller: Any, args: Any) -> Any:
        try:
            await asyncio.to_thread(work, caller.progress)
        finally:
            cancelled.set()

    async def main() -> None:
        service = Service(context, version="0")
        tool = next(each for each in TOOLS if each.name == "plan_validate")
        service._tools[tool.name] = replace(tool, handler=handler)  # pyright: ignore[reportPrivateUsage]
        async with (
            Client(service.server, mode=mode, elicitation_callback=nobody) as client,
            anyio.create_task_group() as group,
        ):
            group.start_soon(client.call_tool, tool.name, {"plan": plan("late", cube("a", "Late"))})
            await asyncio.to_thread(started.wait, 30)
            group.cancel_scope.cancel()

    anyio.run(main)
    gc.collect()
    assert cancelled.is_set() and not sent
