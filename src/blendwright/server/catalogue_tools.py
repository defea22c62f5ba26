"""tool_search, tool_describe: tools, macros and nodes a little at a time, since a host's context is precious."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any, Literal

from pydantic import Field

from blendwright.nodes.catalogue.describe import describe_node_type
from blendwright.nodes.catalogue.load import NEWEST, catalogue
from blendwright.nodes.catalogue.search import search as search_nodes
from blendwright.server.answers import Answer, refused, succeeded
from blendwright.server.context import Caller, ServerContext
from blendwright.server.server_tool import ServerTool, without_titles
from blendwright.tool_api.arguments import Args
from blendwright.tool_api.tool import AnyTool
from blendwright.tools.search import score, score_of, words_of
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding, did_you_mean

MOST = 20


class SearchArgs(Args):
    query: str = Field(default="", max_length=200, description="Words, e.g. 'bevel modifier'; empty lists all names.")
    among: Literal["tools", "nodes"] = Field(default="tools", description="Tools and macros, or geometry nodes.")


class DescribeArgs(Args):
    names: list[str] = Field(min_length=1, max_length=10, description="Names of tools, macros or node types.")


async def tool_search(house: ServerContext, caller: Caller, args: SearchArgs) -> Answer:
    if args.among == "nodes":
        known = await asyncio.to_thread(catalogue, NEWEST)
        chosen = search_nodes(known, args.query)[: MOST if args.query.strip() else None]
        if not args.query.strip():
            return succeeded("tool_search", {"nodes": [node.bl_idname for node in chosen]})
        listed = [{"name": node.bl_idname, "label": node.label, "summary": node.description} for node in chosen]
        return succeeded("tool_search", {"matches": listed})
    if not args.query.strip():
        by_noun: dict[str, list[str]] = {}
        for name in house.tools:
            noun, _, verb = name.partition(".")
            by_noun.setdefault(noun, []).append(verb)
        found = {"tools": by_noun, "macros": sorted(house.macros), "hint": "A tool's name is noun.verb."}
        return succeeded("tool_search", found)
    return succeeded("tool_search", {"matches": list(_found(house, args.query))[:MOST]})


def _found(house: ServerContext, query: str) -> Iterator[dict[str, str]]:
    """Tools and macros that have the words, the best first."""
    words = words_of(query)
    scored = [(-score(tool, words), tool.name, tool.summary()) for tool in house.tools.values()]
    for macro in house.macros.values():
        said = macro.document.summary
        scored.append((-score_of(macro.name, said, macro.properties, words), macro.name, said))
    for rank, name, summary in sorted(scored):
        if rank:
            yield {"name": name, "summary": summary}


async def tool_describe(house: ServerContext, caller: Caller, args: DescribeArgs) -> Answer:
    nodes = await asyncio.to_thread(catalogue, NEWEST)
    pages: list[dict[str, Any]] = []
    findings: list[Finding] = []
    for index, name in enumerate(args.names):
        node = nodes.find(name)
        if name in house.tools:
            pages.append(page(house.tools[name]))
        elif name in house.macros:
            pages.append(house.macros[name].declaration())
        elif node is not None:
            pages.append(describe_node_type(node))
        else:
            cure = did_you_mean(name, [*house.tools, *house.macros, *nodes], otherwise="Use tool_search.")
            message = f"there is no tool, macro or node named '{name}'"
            findings.append(Finding(Fault.TARGET_NOT_FOUND, message, f"/names/{index}", cure))
    if findings:
        return refused("tool_describe", tuple(findings))
    return succeeded("tool_describe", {"tools": pages})


def page(tool: AnyTool) -> dict[str, Any]:
    """What a model needs in order to use a tool."""
    whole = tool.declaration()
    kept = ("name", "summary", "safety_level", "destructive_with", "determinism", "idempotence")
    return {key: whole[key] for key in kept} | {
        "args_schema": without_titles(whole["args_schema"]),
        "examples": [example.args for example in tool.examples],
    }


OFFERS = (
    ServerTool(
        "tool_search",
        "Search what plans may use: tools, macros, geometry nodes.",
        SearchArgs,
        tool_search,
        read_only=True,
    ),
    ServerTool(
        "tool_describe",
        "Arguments, promises and examples of tools and macros; sockets and properties of node types.",
        DescribeArgs,
        tool_describe,
        read_only=True,
    ),
)
