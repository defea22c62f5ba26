"""tool_search, tool_describe: tools, macros and nodes a little at a time, since a host's context is precious."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any, Literal

from pydantic import Field

from blendwright.nodes.catalogue.load import NEWEST, catalogue
from blendwright.nodes.catalogue.search import search as search_nodes
from blendwright.server.brief import Detail
from blendwright.server.context import Caller, ServerContext
from blendwright.server.responses import ToolResponse, failure, success
from blendwright.server.server_tool import server_tool, without_titles
from blendwright.server.tool_pages import brief_node_page, brief_tool_page, fitted_page, page_budget, without_repetition
from blendwright.tool_api.arguments import Args
from blendwright.tool_api.tool import AnyTool
from blendwright.tool_api.tool_names import own_name
from blendwright.tools.search import Searchable, find_tools, searchable
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding, did_you_mean

MOST = 20


class SearchArgs(Args):
    query: str = Field(
        default="", max_length=200, description="Words or a task, e.g. 'round the edges'; empty lists all."
    )
    among: Literal["tools", "nodes"] = Field(default="tools", description="Tools and macros, or geometry nodes.")


class CallArgs(Args):
    tool: str = Field(max_length=100, description="Its name, noun.verb; or a macro.")
    args: dict[str, Any] = Field(default={}, description="Its arguments: see tool_describe.")
    detail: Detail = Field(default="summary", description="As in plan_execute.")


class DescribeArgs(Args):
    names: list[str] = Field(
        min_length=1, max_length=10, description="Tools, variants (modifier.add:BEVEL), macros, node types."
    )


@server_tool("Search what plans may use: tools, macros, geometry nodes.", read_only=True)
async def tool_search(context: ServerContext, caller: Caller, args: SearchArgs) -> ToolResponse:
    if args.among == "nodes":
        nodes = await asyncio.to_thread(catalogue, NEWEST)
        matches = search_nodes(nodes, args.query)[: MOST if args.query.strip() else None]
        if not args.query.strip():
            return success({"nodes": [node.bl_idname for node in matches]})
        listed = [{"name": node.bl_idname, "label": node.label, "summary": node.description} for node in matches]
        return success({"matches": listed})
    if not args.query.strip():
        by_noun: dict[str, list[str]] = {}
        for name in context.tools:
            noun, _, verb = name.partition(".")
            by_noun.setdefault(noun, []).append(verb)
        return success({"tools": by_noun, "macros": sorted(context.macros), "hint": "A tool's name is noun.verb."})
    everything = {one.name: one for one in _searchables(context)}
    found = find_tools(args.query, everything.values(), most=MOST)
    matches = [{"name": name, "summary": everything[name].summary} for name in found.names]
    return success({"matches": matches} | ({"message": found.message} if found.message else {}))


def _searchables(context: ServerContext) -> list[Searchable]:
    macros = context.macros.values()
    return [
        *map(searchable, context.tools.values()),
        *(Searchable(macro.name, macro.document.summary, tuple(macro.properties)) for macro in macros),
    ]


@server_tool(
    "Arguments, promises and examples of tools and macros; sockets and properties of node types.", read_only=True
)
async def tool_describe(context: ServerContext, caller: Caller, args: DescribeArgs) -> ToolResponse:
    nodes = await asyncio.to_thread(catalogue, NEWEST)
    pages: list[dict[str, Any]] = []
    findings: list[Finding] = []
    for index, name in enumerate(args.names):
        node = nodes.find(name)
        known, _, variant = name.partition(":")
        tool = context.tools.get(own_name(known, context.tools))
        if tool is not None:
            page = brief_tool_page(tool, variant)
            if isinstance(page, Finding):
                findings.append(page.under(f"/names/{index}"))
            else:
                pages.append(page)
        elif name in context.macros:
            pages.append(context.macros[name].declaration())
        elif node is not None:
            pages.append(brief_node_page(node))
        else:
            cure = did_you_mean(name, [*context.tools, *context.macros, *nodes], otherwise="Use tool_search.")
            message = f"there is no tool, macro or node named '{name}'"
            findings.append(Finding(Fault.TARGET_NOT_FOUND, message, f"/names/{index}", cure))
    if findings:
        return failure(*findings)
    # One page is as long as it may be, and more than one was asked for.
    most = page_budget(len(pages))
    return replace(success({"tools": [fitted_page(page, most) for page in without_repetition(pages)]}), whole=True)


@server_tool("Run one tool or macro by itself. A plan does several at once.", destructive=True)
async def tool_call(context: ServerContext, caller: Caller, args: CallArgs) -> ToolResponse:
    outcome = await context.call_tool(caller, args.tool, args.args)
    outcome = outcome.with_(findings=tuple(finding.under("/args") for finding in outcome.findings))
    return ToolResponse(outcome, detail=args.detail)


def tool_page(tool: AnyTool) -> dict[str, Any]:
    """What a model needs in order to use a tool."""
    declaration = tool.declaration()
    fields = ("name", "summary", "safety_level", "destructive_with", "determinism", "idempotence")
    return {key: declaration[key] for key in fields} | {
        "args_schema": without_titles(declaration["args_schema"]),
        "examples": [example.args for example in tool.examples],
    }


TOOLS = (tool_search, tool_describe, tool_call)
