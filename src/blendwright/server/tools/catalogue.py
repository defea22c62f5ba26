"""tool_search, tool_describe: tools, macros and nodes a little at a time, since a host's context is precious."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Set
from dataclasses import replace
from typing import Any, Literal

from pydantic import Field

from blendwright.nodes.catalogue.load import NEWEST, TREE_KINDS, Catalogue, catalogue, find_node_type
from blendwright.nodes.catalogue.model import TreeKind
from blendwright.nodes.catalogue.search import search as search_nodes
from blendwright.server.answers.plan_report import Detail, brief_result
from blendwright.server.answers.response import ToolResponse, failure, success
from blendwright.server.answers.tool_page import (
    brief_node_page,
    brief_tool_page,
    fitted_page,
    page_budget,
    without_repetition,
)
from blendwright.server.answers.tool_signatures import inputs_signature, tool_signature
from blendwright.server.context import Caller, ServerContext
from blendwright.server.tools.server_tool import server_tool, without_titles
from blendwright.tool_api.arguments import Args
from blendwright.tool_api.tool import AnyTool
from blendwright.tool_api.tool_names import own_name
from blendwright.tools.search import Searchable, find_tools, searchable
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding, did_you_mean

MAX_MATCHES = 20
MAX_DESCRIBED = 20
# Of the matches of a query, so many come with how they are called; of each part of a list, so many are told, each with that.
MAX_CALLS = 3
MAX_MATCHES_OF_PART = 2
NODES_OF: dict[str, TreeKind] = {"nodes": "geometry", "shader_nodes": "shader", "compositor_nodes": "compositor"}
# Not inside of brackets: what stands there says more of the same.
SEPARATORS = re.compile(r"[,;\n](?![^()]*\))")
WHAT_IS_THERE = "What the scene holds, who uses it and what is hidden: scene_snapshot."
NO_NODE = "No node type has all of these words: ask for fewer, or for several things with commas between them."


class SearchArgs(Args):
    query: str = Field(
        default="",
        max_length=1000,
        description="A task or words, or several: 'sun light, round the edges'; empty lists all.",
    )
    among: Literal["tools", "nodes", "shader_nodes", "compositor_nodes"] = "tools"


class CallArgs(Args):
    tool: str = Field(max_length=100, description="noun.verb, or a macro.")
    args: dict[str, Any] = Field(default={}, description="Its arguments: see tool_describe.")
    detail: Detail = "summary"


class DescribeArgs(Args):
    names: list[str] = Field(
        min_length=1, max_length=MAX_DESCRIBED, description="Tools, variants (modifier.add:BEVEL), macros, node types."
    )
    detail: Literal["call", "page"] = Field(default="call", description="call: a line; page: each argument, examples.")


@server_tool("Search what plans may use: tools, macros, nodes; the best with how they are called.", read_only=True)
async def tool_search(context: ServerContext, caller: Caller, args: SearchArgs) -> ToolResponse:
    parts = list(dict.fromkeys(part for each in SEPARATORS.split(args.query) if (part := each.strip())))
    if args.among != "tools":
        nodes = await asyncio.to_thread(catalogue, NEWEST, NODES_OF[args.among])
        if not parts:
            return success({"nodes": [node.bl_idname for node in search_nodes(nodes, "")]})
        if len(parts) < 2:
            return success(_search_nodes(nodes, parts[0], MAX_MATCHES))
        return success(
            {"answers": [{"query": part, **_search_nodes(nodes, part, MAX_MATCHES_OF_PART)} for part in parts]}
        )
    if not parts:
        by_noun: dict[str, list[str]] = {}
        for name in context.tools:
            noun, _, verb = name.partition(".")
            by_noun.setdefault(noun, []).append(verb)
        return success({"tools": by_noun, "macros": sorted(context.macros), "hint": "A tool's name is noun.verb."})
    if len(parts) < 2:
        return success(_search(context, args.query, frozenset(), MAX_MATCHES, MAX_CALLS))
    answers: list[dict[str, Any]] = []
    told: set[str] = set()
    for part in parts:
        answer = _search(context, part, told, MAX_MATCHES_OF_PART, MAX_MATCHES_OF_PART)
        told |= {match["name"] for match in answer["matches"]}
        answers.append({"query": part, **answer})
    return success({"answers": answers})


def _search_nodes(nodes: Catalogue, query: str, most: int) -> dict[str, Any]:
    found = search_nodes(nodes, query)[:most]
    listed = [{"name": node.bl_idname, "label": node.label, "summary": node.description} for node in found]
    return {"matches": listed} | ({} if listed else {"message": NO_NODE})


def _search(context: ServerContext, query: str, told: Set[str], most: int, calls: int) -> dict[str, Any]:
    """What a query asks for, the best ones with how they are called; of those that were `told`, the name is enough."""
    everything = {one.name: one for one in _searchables(context)}
    found = find_tools(query, everything.values(), most=most)
    matches: list[dict[str, Any]] = []
    for index, name in enumerate(found.names):
        match = {"name": name}
        if name not in told:
            match |= {"summary": first_sentence(everything[name].summary)}
            match |= {"call": _call(context, name)} if index < calls else {}
        matches.append(match)
    return {"matches": matches} | ({"message": f"{found.message} {WHAT_IS_THERE}"} if found.message else {})


def first_sentence(summary: str) -> str:
    """What a tool does; what else is to be said of it is on its page."""
    return re.split(r"(?<=\w\.)\s", summary, maxsplit=1)[0]


def _call(context: ServerContext, name: str, variant: str = "") -> str:
    if name in context.tools:
        return tool_signature(context.tools[name], variant)
    return inputs_signature(name, context.macros[name].document.inputs)


def _searchables(context: ServerContext) -> list[Searchable]:
    macros = context.macros.values()
    return [
        *map(searchable, context.tools.values()),
        *(Searchable(macro.name, macro.document.summary, tuple(macro.properties)) for macro in macros),
    ]


@server_tool(
    "How tools and macros are called, several at once; pages of them; sockets and properties of node types.",
    read_only=True,
)
async def tool_describe(context: ServerContext, caller: Caller, args: DescribeArgs) -> ToolResponse:
    nodes = [name for kind in TREE_KINDS for name in await asyncio.to_thread(catalogue, NEWEST, kind)]
    pages: list[dict[str, Any]] = []
    findings: list[Finding] = []
    for index, name in enumerate(args.names):
        node = find_node_type(name)
        known, _, variant = name.partition(":")
        tool = context.tools.get(own_name(known, context.tools))
        if tool is not None:
            page = brief_tool_page(tool, variant)
            if isinstance(page, Finding):
                findings.append(page.under(f"/names/{index}"))
            else:
                short = {"call": _call(context, tool.name, variant), "summary": first_sentence(tool.summary())}
                pages.append(page if args.detail == "page" else short)
        elif name in context.macros:
            macro = context.macros[name]
            short = {"call": _call(context, name), "summary": macro.document.summary}
            pages.append(macro.declaration() if args.detail == "page" else short)
        elif node is not None:
            pages.append(brief_node_page(node))
        else:
            cure = did_you_mean(name, [*context.tools, *context.macros, *nodes], otherwise="Use tool_search.")
            message = f"there is no tool, macro or node named '{name}'"
            findings.append(Finding(Fault.TARGET_NOT_FOUND, message, f"/names/{index}", cure))
    if not pages:
        return failure(*findings)
    # One page is as long as it may be, and more than one was asked for.
    most = page_budget(len(pages))
    result: dict[str, Any] = {"tools": [fitted_page(page, most) for page in without_repetition(pages)]}
    if findings:
        # What is known is answered: a name that is not costs its own page only.
        result["not_found"] = [finding.to_json() for finding in findings]
    return replace(success(result), whole=True)


@server_tool("Run one tool or macro by itself.", destructive=True)
async def tool_call(context: ServerContext, caller: Caller, args: CallArgs) -> ToolResponse:
    outcome = await context.call_tool(caller, args.tool, args.args)
    outcome = outcome.with_(findings=tuple(finding.under("/args") for finding in outcome.findings))
    if args.detail == "summary" and outcome.result is not None:
        outcome = outcome.with_(result=brief_result(outcome.tool, outcome.result))
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
