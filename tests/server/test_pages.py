"""Whatever may be long is given page by page, and the pages together are the whole."""

from __future__ import annotations

from typing import Any

import pytest
from mcp.client.client import Client
from mcp.shared.exceptions import MCPError
from mcp_types import Implementation, ResourceTemplateReference

from blendwright.server.context import ServerContext
from blendwright.server.resources import MAX_COMPLETIONS
from blendwright.server.tools.catalogue import MAX_MATCHES
from support.hosts.mcp import Era, cube, plan, talk


async def ask(client: Client, tool: str, **args: Any) -> Any:
    answer = await client.call_tool(tool, args)
    assert not answer.is_error, answer.structured_content
    return answer.structured_content["result"]


def test_history_is_read_to_its_beginning_page_by_page(context: ServerContext, era: Era) -> None:
    async def script(client: Client) -> Any:
        await ask(client, "plan_execute", plan=plan(f"log{era}", *(cube(f"a{n}", f"Log{era}{n}") for n in range(3))))
        whole = await ask(client, "history_log", limit=500, operations=True)
        pages = [await ask(client, "history_log", limit=2, operations=True)]
        while pages[-1]["next_before"] is not None:
            pages.append(await ask(client, "history_log", limit=2, operations=True, before=pages[-1]["next_before"]))
        return whole, pages

    whole, pages = talk(context, era, script)
    assert whole["next_before"] is None and whole["head"] == whole["commits"][0]["number"]
    assert len(pages) > 1 and all(len(page["commits"]) <= 2 for page in pages)
    assert [commit for page in pages for commit in page["commits"]] == whole["commits"]


def test_objects_are_found_and_shown_page_by_page(context: ServerContext, era: Era) -> None:
    names = [f"Page{era}{number}" for number in range(3)]

    async def script(client: Client) -> Any:
        await ask(
            client, "plan_execute", plan=plan(f"page{era}", *(cube(f"a{n}", name) for n, name in enumerate(names)))
        )
        found = [await ask(client, "scene_find", name=f"Page{era}*", offset=at, limit=2) for at in (0, 2)]
        shown = [await ask(client, "scene_snapshot", name=f"Page{era}*", offset=at, limit=2) for at in (0, 2)]
        exact = [
            await ask(client, "scene_snapshot", name=f"Page{era}*", offset=at, limit=2, detail="full") for at in (0, 2)
        ]
        return found, shown, exact

    found, shown, exact = talk(context, era, script)
    assert [[each["name"] for each in page["objects"]] for page in found] == [names[:2], names[2:]]
    assert [page["total"] for page in found] == [3, 3]
    assert [[each["name"] for each in page["objects"]["items"]] for page in exact] == [names[:2], names[2:]]
    lines = [[f"{name}: MESH at [0,0,0]; size [2,2,2]" for name in some] for some in (names[:2], names[2:])]
    assert [page["objects"] for page in shown] == lines
    assert shown[0]["next_offset"] == 2


def test_a_search_gives_the_best_few(context: ServerContext, era: Era) -> None:
    async def script(client: Client) -> Any:
        return await ask(client, "tool_search", query="object"), await ask(
            client, "tool_search", query="mesh", among="nodes"
        )

    family, nodes = talk(context, era, script)
    assert {each["name"] for each in family["matches"]} == {
        name for name in context.tools if name.startswith("object.")
    }
    assert len(nodes["matches"]) == MAX_MATCHES


def test_registries_are_counted_unless_they_are_asked_for(context: ServerContext, era: Era) -> None:
    async def script(client: Client) -> Any:
        return await ask(client, "contract_get"), await ask(client, "contract_get", registries=True)

    short, full = talk(context, era, script)
    entries = full["contract"]["tool_registry"]["entries"]
    assert short["contract"]["tool_registry"]["entries"] == len(entries) == len(context.tools)
    assert short["fingerprint"] == full["fingerprint"]


def test_a_host_is_called_what_it_calls_itself_as_far_as_that_can_be_shown(context: ServerContext, era: Era) -> None:
    async def script(client: Client) -> Any:
        return (await ask(client, "contract_get"))["contract"]["host"]

    hostile = Implementation(name="ho\u202est\x1b[2J" + "x" * 500, version="\u200b")
    told = talk(context, era, script, client_info=hostile)
    assert told["name"] == ("host[2J" + "x" * 500)[:200]
    assert (told["version"], told["transport"]) == ("unknown", "stdio")


def test_a_camera_that_is_not_there_gives_no_picture(context: ServerContext, era: Era) -> None:
    async def script(client: Client) -> Any:
        return await client.call_tool("scene_image", {"camera": "Nobody", "width": 64, "height": 64})

    answer = talk(context, era, script)
    assert answer.is_error
    assert answer.structured_content["error_code"] == "not_found"
    assert [part.type for part in answer.content] == ["text"]


@pytest.mark.parametrize("cursor", ["nonsense", "-1", "999999", "1.5"])
def test_a_cursor_that_is_none_of_ours_is_refused(context: ServerContext, era: Era, cursor: str) -> None:
    async def script(client: Client) -> int:
        with pytest.raises(MCPError, match="cursor") as caught:
            await client.list_resources(cursor=cursor)
        return caught.value.code

    assert talk(context, era, script) == -32602


def test_the_audit_is_read_from_where_it_was_left(context: ServerContext, era: Era) -> None:
    async def script(client: Client) -> Any:
        await ask(client, "plan_execute", plan=plan(f"audit{era}", cube("a", f"Audit{era}"), cube("b", f"Audit2{era}")))
        found: Any = await client.read_resource("blendwright://audit/1")
        return found.contents[0].text

    assert '"sequence": 2' in talk(context, era, script)[:40]


def test_completions_are_bounded_and_say_how_many_there_are(context: ServerContext, era: Era) -> None:
    async def script(client: Client) -> Any:
        nodes = ResourceTemplateReference(type="ref/resource", uri="blendwright://nodes/{bl_idname}")
        tools = ResourceTemplateReference(type="ref/resource", uri="blendwright://tools/{name}")
        many = await client.complete(nodes, {"name": "bl_idname", "value": ""})
        inside = await client.complete(tools, {"name": "name", "value": "create_prim"})
        return many.completion, inside.completion

    many, inside = talk(context, era, script)
    assert len(many.values) == MAX_COMPLETIONS < many.total and many.has_more is True
    assert inside.values == ["mesh.create_primitive"] and inside.has_more is False
