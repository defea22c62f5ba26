"""A person is asked through the host, in both eras; the model can neither give nor carry an approval."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.client.client import Client
from mcp.shared.memory import create_client_server_memory_streams
from mcp.shared.message import SessionMessage
from mcp_types import ElicitRequestFormParams, ElicitResult, JSONRPCRequest, JSONRPCResponse, jsonrpc_message_adapter

from blendwright.journal.approvals import answer
from blendwright.server.context import ServerContext
from blendwright.server.service import Service
from blendwright.values.approval import ApprovalAnswer
from blendwright.workspace.reading import read_journal
from support.hosts.mcp import Era, cube, operation, plan, talk

YES = ElicitResult(action="accept", content={"allow": True})
NO = ElicitResult(action="accept", content={"allow": False})
DECLINED = ElicitResult(action="decline")
CLOSED = ElicitResult(action="cancel")


class User:
    """Whoever sits before the host."""

    def __init__(self, *answers: ElicitResult) -> None:
        self.heard: list[str] = []
        self._answers = list(answers)

    async def __call__(self, context: Any, params: Any) -> ElicitResult:
        assert isinstance(params, ElicitRequestFormParams)
        self.heard.append(params.message)
        return self._answers.pop(0)


def delete(id: str, name: str, *needs: str) -> dict[str, Any]:
    return operation(id, "object.delete", {"name": name}, *needs, level="destructive")


def run(context: ServerContext, era: Era, document: dict[str, Any], user: User | None) -> Any:
    async def script(client: Client) -> Any:
        return await client.call_tool("plan_execute", {"plan": document})

    more = {} if user is None else {"elicitation_callback": user}
    return talk(context, era, script, **more)


def objects(context: ServerContext, era: Era, pattern: str) -> list[str]:
    async def script(client: Client) -> Any:
        return (await client.call_tool("scene_find", {"name": pattern})).structured_content["result"]["objects"]

    return [entry["name"] for entry in talk(context, era, script)]


def test_what_the_user_allows_is_done_and_told_in_the_audit(context: ServerContext, era: Era) -> None:
    name, user = f"Gone{era}", User(YES)
    answered = run(context, era, plan(f"yes{era}", cube("make", name), delete("unmake", name, "make")), user)
    assert answered.structured_content["ok"] is True
    assert "object.delete" in user.heard[0]
    assert name in user.heard[0]
    assert objects(context, era, name) == []
    with read_journal(context.workspace) as journal:
        records = [record.record for record in journal.audit.records(limit=1000)]
    told = [record for record in records if record.get("approval_by") == "host" and record["request_id"] == f"yes{era}"]
    assert [(record["operation_id"], record["approval_answer"]) for record in told] == [("unmake", "approved")]


@pytest.mark.parametrize("said", [NO, DECLINED], ids=["no", "declined"])
def test_what_the_user_refuses_is_not_done(context: ServerContext, era: Era, said: ElicitResult) -> None:
    name = f"Kept{era}{said.action}"
    document = plan(name, cube("make", name), delete("unmake", name, "make"))
    answered = run(context, era, document, User(said))
    assert answered.is_error
    assert answered.structured_content["error_code"] == "policy_refused"
    assert objects(context, era, name) == [name]


def test_a_form_that_was_closed_is_no_answer_and_says_how_to_give_one(context: ServerContext, era: Era) -> None:
    name = f"Closed{era}"
    answered = run(context, era, plan(name, cube("make", name), delete("unmake", name, "make")), User(CLOSED))
    assert answered.is_error
    assert "blendwright approve" in answered.structured_content["details"]["findings"][0]["cure"]
    assert objects(context, era, name) == [name]


def test_an_answer_that_is_none_at_all_ends_the_question(context: ServerContext) -> None:
    """The older era, where the call waits for it: at once, and not when the question expires. The SDK's client cannot say this."""
    document = plan("odd", cube("make", "Odd"), delete("unmake", "Odd", "make"))

    async def main() -> Any:
        server = Service(context, version="0").server
        answer: Any = None
        async with create_client_server_memory_streams() as ((read, write), theirs), anyio.create_task_group() as tasks:
            tasks.start_soon(server.run, *theirs, server.create_initialization_options())

            async def say(**message: Any) -> None:
                await write.send(SessionMessage(jsonrpc_message_adapter.validate_python({"jsonrpc": "2.0", **message})))

            hello: dict[str, Any] = {"protocolVersion": "2025-06-18", "capabilities": {"elicitation": {}},
                     "clientInfo": {"name": "odd", "version": "1"}}  # fmt: skip
            await say(id=1, method="initialize", params=hello)
            await say(method="notifications/initialized")
            await say(id=2, method="tools/call", params={"name": "plan_execute", "arguments": {"plan": document}})
            with anyio.fail_after(120):
                async for heard in read:
                    assert isinstance(heard, SessionMessage)
                    message = heard.message
                    if isinstance(message, JSONRPCRequest):
                        assert message.method == "elicitation/create"
                        await say(id=message.id, result={"action": "yes"})
                    elif isinstance(message, JSONRPCResponse) and message.id == 2:
                        tasks.cancel_scope.cancel()
                        answer = message.result["structuredContent"]
        return answer

    answered = anyio.run(main)
    assert "blendwright approve" in answered["details"]["findings"][0]["cure"]
    assert objects(context, "legacy", "Odd") == ["Odd"]


def test_each_destructive_operation_is_shown_in_the_one_question_of_its_plan(context: ServerContext, era: Era) -> None:
    one, two = f"One{era}", f"Two{era}"
    user = User(DECLINED)
    document = plan(f"both{era}", cube("a", one), cube("b", two), delete("c", one, "a", "b"), delete("d", two, "c"))
    answered = run(context, era, document, user)
    (heard,) = user.heard
    assert one in heard and two in heard
    assert answered.is_error
    assert (objects(context, era, one), objects(context, era, two)) == ([one], [two])


def test_a_direct_tool_asks_the_user_like_a_plan(context: ServerContext, era: Era) -> None:
    name, user = f"Direct{era}", User(DECLINED, YES)

    async def script(client: Client) -> Any:
        await client.call_tool("mesh_create_primitive", {"kind": "cube", "name": name})
        return [await client.call_tool("object_delete", {"name": name}) for _ in range(2)]

    declined, done = talk(context, era, script, direct=True, elicitation_callback=user)
    assert declined.is_error and declined.structured_content["error_code"] == "policy_refused"
    assert done.structured_content["ok"] is True
    assert len(user.heard) == 2 and objects(context, era, name) == []


def test_a_host_without_a_user_gets_a_clear_refusal_and_a_person_can_approve_on_the_command_line(
    context: ServerContext, era: Era
) -> None:
    name = f"Later{era}"
    run(context, era, plan(f"make{era}", cube("a", name)), None)
    document = plan(f"later{era}", delete("b", name))
    refused = run(context, era, document, None)
    assert refused.is_error
    cure: str = refused.structured_content["details"]["findings"][0]["cure"]
    assert "blendwright approve" in cure
    id = cure.split("blendwright approve ")[1].split()[0].strip("`.,:;")
    answer(Path(context.workspace), id, ApprovalAnswer.APPROVED, "blendwright approve")
    assert run(context, era, document, None).structured_content["ok"] is True
    assert objects(context, era, name) == []


def test_a_plan_that_carries_an_approval_is_refused(context: ServerContext, era: Era) -> None:
    name = f"Carried{era}"
    run(context, era, plan(f"make{name}", cube("a", name)), None)
    sneaky = {**delete("b", name), "approved": True}
    answered = run(context, era, plan(f"sneaky{era}", sneaky), User())
    assert answered.is_error
    assert answered.structured_content["error_code"] == "invalid_input"
    assert objects(context, era, name) == [name]


def test_a_question_is_answered_once_and_for_its_own_call_only(context: ServerContext) -> None:
    """The newer era: what names the open question is good for one return, of the very call that began it."""
    name = "Replayed"

    async def script(client: Client) -> Any:
        await client.call_tool("plan_execute", {"plan": plan("mk", cube("a", name))})
        document = {"plan": plan("replay", delete("b", name))}
        first: Any = await client.session.call_tool("plan_execute", document, allow_input_required=True)
        state = first.request_state
        other = {"plan": plan("other", delete("b", name))}
        stolen: Any = await client.session.call_tool(
            "plan_execute", other, input_responses={"approval": YES}, request_state=state, allow_input_required=True
        )
        mine: Any = await client.session.call_tool(
            "plan_execute", document, input_responses={"approval": YES}, request_state=state, allow_input_required=True
        )
        again: Any = await client.session.call_tool(
            "plan_execute", document, input_responses={"approval": YES}, request_state=state, allow_input_required=True
        )
        return stolen, mine, again

    async def nobody(context: Any, params: Any) -> ElicitResult:
        raise AssertionError("this test answers by itself")

    stolen, mine, again = talk(context, "2026-07-28", script, elicitation_callback=nobody)
    assert stolen.is_error
    assert "has ended" in stolen.structured_content["message"]
    assert mine.structured_content["ok"] is True
    assert again.is_error


def test_what_named_an_earlier_question_does_not_answer_a_later_one(context: ServerContext) -> None:
    """The newer era: a yes to one operation is never one to the next, in whatever order answers come back."""
    one, two = "FirstAsked", "SecondAsked"
    documents = [{"plan": plan(f"asks for {name}", cube("a", name), delete("b", name, "a"))} for name in (one, two)]

    async def script(client: Client) -> Any:
        async def answered(document: Any, said: ElicitResult, state: str) -> Any:
            return await client.session.call_tool(
                "plan_execute",
                document,
                input_responses={"approval": said},
                request_state=state,
                allow_input_required=True,
            )

        first: Any = await client.session.call_tool("plan_execute", documents[0], allow_input_required=True)
        await answered(documents[0], YES, first.request_state)
        second: Any = await client.session.call_tool("plan_execute", documents[1], allow_input_required=True)
        replayed = await answered(documents[1], YES, first.request_state)
        return second, replayed, await answered(documents[1], NO, second.request_state)

    async def nobody(context: Any, params: Any) -> ElicitResult:
        raise AssertionError("this test answers by itself")

    second, replayed, ended = talk(context, "2026-07-28", script, elicitation_callback=nobody)
    assert two in second.input_requests["approval"].params.message
    assert replayed.is_error and "has ended" in replayed.structured_content["message"]
    assert ended.is_error
    assert (objects(context, "legacy", one), objects(context, "legacy", two)) == ([], [two])


def test_the_contract_is_negotiated_with_the_host_that_asks(context: ServerContext, era: Era) -> None:
    async def script(client: Client) -> Any:
        return (await client.call_tool("contract_get", {})).structured_content["result"]

    with_user = talk(context, era, script, elicitation_callback=User())
    without = talk(context, era, script)
    assert with_user["contract"]["host"]["elicitation"] is True
    assert without["contract"]["host"]["elicitation"] is False
    assert with_user["fingerprint"] != without["fingerprint"]
    assert with_user["contract"]["host"]["name"] == "mcp"
