"""A question to one host's user: the others are served meanwhile, and its answer counts for the scene that it was asked about."""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.client.client import Client
from mcp_types import ElicitResult

from blendwright.server.context import ServerContext
from blendwright.server.transport import elicitation
from blendwright.workspace.reading import read_journal
from support.hosts.mcp import ERAS, Era, connected, cube, operation, plan, served

YES = ElicitResult(action="accept", content={"allow": True})
NO = ElicitResult(action="decline")

Meanwhile = Callable[[Client], Awaitable[Any]]


def delete(id: str, name: str, *needs: str) -> dict[str, Any]:
    return operation(id, "object.delete", {"name": name}, *needs, level="destructive")


class Conversation:
    """One host whose user is asked, and another host that works while that user thinks: `meanwhile`, one deed for each question."""

    def __init__(self, context: ServerContext, era: Era, *meanwhile: Meanwhile, says: ElicitResult = YES) -> None:
        self.heard: list[str] = []
        self._context = context
        self._era: Era = era
        self._meanwhile = list(meanwhile)
        self._says = says

    def run(self, tool: str, **args: Any) -> Any:
        """What the host whose user is asked gets for this call."""

        async def main() -> Any:
            with anyio.fail_after(120):
                async with connected(self._context, ERAS[1 - ERAS.index(self._era)]) as other:

                    async def user(context: Any, params: Any) -> ElicitResult:
                        self.heard.append(params.message)
                        if self._meanwhile:
                            await self._meanwhile.pop(0)(other)
                        return self._says

                    async with connected(self._context, self._era, elicitation_callback=user) as client:
                        return (await client.call_tool(tool, args)).structured_content

        return anyio.run(main)


def does(document: dict[str, Any], **args: Any) -> Meanwhile:
    async def deed(other: Client) -> None:
        answer = await other.call_tool("plan_execute", {"plan": document, **args})
        assert answer.structured_content is not None and answer.structured_content["ok"], answer.structured_content

    return deed


async def looks(other: Client) -> None:
    answer = await other.call_tool("scene_find", {"name": "*"})
    assert answer.structured_content is not None and answer.structured_content["ok"]


def names(context: ServerContext, pattern: str) -> list[str]:
    async def main() -> list[str]:
        async with connected(context, "legacy") as client:
            answer = await client.call_tool("scene_find", {"name": pattern})
            assert answer.structured_content is not None
            return [entry["name"] for entry in answer.structured_content["result"]["objects"]]

    return anyio.run(main)


def commits(context: ServerContext, request: str) -> list[str]:
    with read_journal(context.workspace) as journal:
        assert journal.audit.verify().ok
        return [commit.operation_id for commit in journal.commits_of(request)]


def test_others_look_while_a_user_thinks_and_the_answer_counts(context: ServerContext, era: Era) -> None:
    name = f"Looked{era}"
    talk = Conversation(context, era, looks)
    done = talk.run("plan_execute", plan=plan(name, cube("a", name), delete("b", name, "a")))
    assert done["ok"] is True and len(talk.heard) == 1
    assert names(context, name) == []


def test_where_others_change_the_scene_while_a_user_thinks_the_plan_is_refused_and_runs_the_next_time(
    context: ServerContext, era: Era
) -> None:
    name, other = f"Asked{era}", f"Other{era}"
    document = plan(name, cube("a", name), delete("b", name, "a"), cube("c", f"{name}c", "b"))
    talk = Conversation(context, era, does(plan(other, cube("a", other))))
    refused = talk.run("plan_execute", plan=document)
    assert refused["ok"] is False and refused["error_code"] == "policy_refused"
    (finding,) = refused["details"]["findings"]
    assert finding["rule"] == "approval_outdated" and "Run it again" in finding["cure"]
    assert len(talk.heard) == 1 and names(context, f"{name}*") == [name] and names(context, other) == [other]

    assert talk.run("plan_execute", plan=document)["ok"] is True
    assert len(talk.heard) == 2
    assert names(context, f"{name}*") == [f"{name}c"] and commits(context, name) == ["a", "b", "c"]


def test_one_question_about_several_operations_comes_before_the_first_and_refuses_all_of_them(
    context: ServerContext, era: Era
) -> None:
    name, other = f"Together{era}", f"Meanwhile{era}"
    document = plan(
        name, cube("a", name), delete("b", name, "a"), cube("c", f"{name}c", "b"), delete("d", f"{name}c", "c")
    )
    talk = Conversation(context, era, does(plan(other, cube("a", other))))
    refused = talk.run("plan_execute", plan=document)
    assert refused["ok"] is False and len(talk.heard) == 1
    assert {finding["rule"] for finding in refused["details"]["findings"]} == {"approval_outdated"}
    assert commits(context, name) == []
    assert talk.run("plan_execute", plan=document)["ok"] is True
    assert len(talk.heard) == 2 and commits(context, name) == ["a", "b", "c", "d"]


def test_so_is_a_direct_call(context: ServerContext, era: Era) -> None:
    name = f"Single{era}"
    anyio.run(_alone, context, plan(f"make{name}", cube("a", name)))

    async def main() -> list[Any]:
        heard: list[str] = []
        async with connected(context, "legacy") as other:

            async def user(ctx: Any, params: Any) -> ElicitResult:
                heard.append(params.message)
                if len(heard) == 1:
                    await does(plan(f"o{name}", cube("a", f"o{name}")))(other)
                return YES

            async with connected(context, era, direct=True, elicitation_callback=user) as client:
                return [(await client.call_tool("object_delete", {"name": name})).structured_content for _ in range(2)]

    refused, done = anyio.run(main)
    assert refused["ok"] is False and refused["details"]["findings"][0]["rule"] == "approval_outdated"
    assert done["ok"] is True and names(context, name) == []


async def _alone(context: ServerContext, document: dict[str, Any]) -> None:
    async with connected(context, "legacy") as client:
        await does(document)(client)


def test_what_others_did_of_the_same_plan_is_not_done_again(context: ServerContext, era: Era) -> None:
    """Another client sends the very same plan, and a person allows it there first."""
    name = f"Same{era}"
    document = plan(name, cube("a", name), delete("b", name, "a"), cube("c", f"{name}c", "b"))

    async def twin(other: Client) -> None:
        async def agrees(ctx: Any, params: Any) -> ElicitResult:
            return YES

        async with connected(context, era, elicitation_callback=agrees) as second:
            answer = await second.call_tool("plan_execute", {"plan": document})
            assert answer.structured_content is not None and answer.structured_content["ok"]

    talk = Conversation(context, era, twin)
    assert talk.run("plan_execute", plan=document)["ok"] is False
    done = talk.run("plan_execute", plan=document, detail="full")
    assert done["ok"] is True and len(talk.heard) == 1
    statuses = [entry["status"] for entry in done["result"]["report"]["operations"]]
    assert statuses == ["skipped_idempotent", "skipped_idempotent", "skipped_idempotent"]
    assert commits(context, name) == ["a", "b", "c"]


def test_steps_that_do_not_wait_for_a_refused_one_wait_for_the_next_run(context: ServerContext, era: Era) -> None:
    name = f"Steps{era}"
    anyio.run(_alone, context, plan(f"make{name}", cube("a", name)))
    steps: list[dict[str, Any]] = [
        {"step_id": "a", "dependencies": [], "tool": {"name": "object.delete", "args": {"name": name}}},
        {"step_id": "b", "dependencies": [], "tool": {"name": "mesh.create_primitive", "args": {"kind": "cube", "name": f"{name}b"}}},
    ]  # fmt: skip

    async def twin(other: Client) -> None:
        async def disagrees(ctx: Any, params: Any) -> ElicitResult:
            return NO

        async with connected(context, era, elicitation_callback=disagrees) as second:
            await second.call_tool("plan_execute", {"plan": {"steps": steps}})

    talk = Conversation(context, era, twin, says=NO)
    done = talk.run("plan_execute", plan={"steps": steps}, detail="full")
    statuses = {entry["operation_id"]: entry["status"] for entry in done["result"]["report"]["operations"]}
    assert statuses == {"a": "refused", "b": "skipped"}
    done = talk.run("plan_execute", plan={"steps": steps}, detail="full")
    statuses = {entry["operation_id"]: entry["status"] for entry in done["result"]["report"]["operations"]}
    assert statuses == {"a": "refused", "b": "skipped_idempotent"}
    assert len(talk.heard) == 2 and sorted(names(context, f"{name}*")) == [name, f"{name}b"]


def test_a_plan_that_is_kept_whole_asks_before_it_begins_and_takes_nothing_of_others_back(
    context: ServerContext, era: Era
) -> None:
    name, other = f"Whole{era}", f"Stays{era}"
    document = plan(name, cube("a", name), delete("b", name, "a"))
    talk = Conversation(context, era, does(plan(other, cube("a", other))), says=NO)
    refused = talk.run("plan_execute", plan=document, boundary="plan")
    assert refused["ok"] is False and len(talk.heard) == 1, "a no stays a no"
    assert names(context, other) == [other] and names(context, name) == []
    talk = Conversation(context, era, does(plan(f"{other}2", cube("a", f"{other}2"))))
    refused = talk.run("plan_execute", plan=document, boundary="plan")
    assert refused["ok"] is False and refused["details"]["findings"][0]["rule"] == "approval_outdated"
    assert names(context, name) == [], "nothing had begun"
    done = talk.run("plan_execute", plan=document, boundary="plan")
    assert done["ok"] is True and len(talk.heard) == 2
    assert names(context, f"{other}*") == [other, f"{other}2"] and commits(context, f"{other}2") == ["a"]


def test_going_to_another_commit_is_not_done_where_others_went_on_meanwhile(tmp_path: Path, era: Era) -> None:
    (tmp_path / "workspace").mkdir()
    (tmp_path / "workspace" / "blendwright.toml").write_text('[policy.tools]\n"history.checkout" = "ask"\n')
    with served(tmp_path / "workspace") as context:
        anyio.run(_alone, context, plan("one", cube("a", "One")))
        head = len(commits(context, "one"))
        assert head == 1
        talk = Conversation(context, era, does(plan("two", cube("a", "Two"))))
        refused = talk.run("history_checkout", commit="1")
        assert refused["ok"] is False and refused["details"]["findings"][0]["rule"] == "approval_outdated"
        assert sorted(names(context, "*")) == ["One", "Two"]
        assert Conversation(context, era, looks).run("history_checkout", commit="1")["ok"] is True
        assert names(context, "*") == []


def test_a_question_that_is_called_off_gives_its_place_back(context: ServerContext, era: Era) -> None:
    name = f"Off{era}"

    async def main() -> None:
        asked = anyio.Event()

        async def never(ctx: Any, params: Any) -> ElicitResult:
            asked.set()
            await anyio.sleep_forever()
            raise AssertionError

        with anyio.fail_after(120):
            async with (
                connected(context, era, elicitation_callback=never) as client,
                anyio.create_task_group() as tasks,
            ):
                document = plan(name, cube("a", name), delete("b", name, "a"))
                tasks.start_soon(client.call_tool, "plan_execute", {"plan": document})
                await asked.wait()
                tasks.cancel_scope.cancel()
            await _alone(context, plan(f"{name}2", cube("a", f"{name}2")))

    anyio.run(main)
    assert names(context, f"{name}*") == [name, f"{name}2"]


def test_open_questions_are_bounded_and_one_more_is_left_for_the_command_line(
    context: ServerContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(elicitation, "MAX_OPEN_QUESTIONS", 1)
    answers: list[Any] = []

    async def asks_too(other: Client) -> None:
        async def agrees(ctx: Any, params: Any) -> ElicitResult:
            raise AssertionError("there is a question already")

        async with connected(context, "legacy", elicitation_callback=agrees) as second:
            answer = await second.call_tool("plan_execute", {"plan": plan("second", delete("b", "Bounded"))})
            answers.append(answer.structured_content)

    anyio.run(_alone, context, plan("bounded", cube("a", "Bounded")))
    talk = Conversation(context, "legacy", asks_too)
    assert talk.run("plan_execute", plan=plan("first", delete("b", "Bounded")))["ok"] is True
    assert "blendwright approve" in answers[0]["details"]["findings"][0]["cure"]


def test_a_server_that_is_closed_while_users_think_ends_in_order(tmp_path: Path) -> None:
    workers = threading.active_count()

    async def main(context: ServerContext) -> list[Any]:
        asked, answers = list[str](), list[Any]()
        both = anyio.Event()

        async def never(ctx: Any, params: Any) -> ElicitResult:
            asked.append(params.message)
            if len(asked) == 2:
                both.set()
            await anyio.sleep_forever()
            raise AssertionError

        async def wants(name: str) -> None:
            async with connected(context, "legacy", elicitation_callback=never) as client:
                document = plan(name, cube("a", name), delete("b", name, "a"))
                answers.append((await client.call_tool("plan_execute", {"plan": document})).structured_content)

        with anyio.fail_after(120):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(wants, "First")
                tasks.start_soon(wants, "Second")
                await both.wait()
                await anyio.to_thread.run_sync(context.queue.close)
        return answers

    with served(tmp_path / "workspace") as context:
        answers = anyio.run(main, context)
    assert [answer["details"]["cancelled"] for answer in answers] == [True, True]
    with read_journal(tmp_path / "workspace") as journal:
        assert journal.audit.verify().ok
        assert {commit.operation_id for commit in journal.commits_of("First")} == {"a"}
    assert threading.active_count() <= workers + 2, "nobody is left waiting"
