"""The tools tool_search, tool_describe and tool_call: the catalogue in small parts, because a host's context is
limited.
"""

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
# The most matches of one query that have their signature, and the most matches of each query in a list of queries.
MAX_CALLS = 3
MAX_MATCHES_OF_PART = 2
NODES_OF: dict[str, TreeKind] = {"nodes": "geometry", "shader_nodes": "shader", "compositor_nodes": "compositor"}
# Separators between queries. Text inside brackets belongs to its query.
SEPARATORS = re.compile(r"[,;\n](?![^()]*\))")
SNAPSHOT_HINT = "To see what the scene contains, use scene_snapshot."
NO_NODE = "No node type has all of these words. Use fewer words, or several queries with commas between them."


class SearchArgs(Args):
    query: str = Field(
        default="",
        max_length=1000,
        description="Words or a task, or several: 'sun light, round the edges'; empty lists all.",
    )
    among: Literal["tools", "nodes", "shader_nodes", "compositor_nodes"] = "tools"


class CallArgs(Args):
    tool: str = Field(max_length=100, description="noun.verb, or a macro.")
    args: dict[str, Any] = Field(default={}, description="See tool_describe.")
    detail: Detail = "summary"


class DescribeArgs(Args):
    names: list[str] = Field(
        min_length=1, max_length=MAX_DESCRIBED, description="Tools, variants (modifier.add:BEVEL), macros, node types."
    )
    detail: Literal["call", "page"] = Field(
        default="call", description="call: signature; page: each argument, examples."
    )


@server_tool("Search tools, macros and nodes for plans. Best matches include signatures.", read_only=True)
async def tool_search(context: ServerContext, caller: Caller, args: SearchArgs) -> ToolResponse:
    parts = list(dict.fromkeys(part.strip() for part in SEPARATORS.split(args.query) if part.strip()))
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
    described: set[str] = set()
    for part in parts:
        answer = _search(context, part, described, MAX_MATCHES_OF_PART, MAX_MATCHES_OF_PART)
        described |= {match["name"] for match in answer["matches"]}
        answers.append({"query": part, **answer})
    return success({"answers": answers})


def _search_nodes(nodes: Catalogue, query: str, most: int) -> dict[str, Any]:
    matches: list[dict[str, Any]] = []
    for node in search_nodes(nodes, query)[:most]:
        matches.append({"name": node.bl_idname, "label": node.label, "summary": node.description})
    if not matches:
        return {"matches": matches, "message": NO_NODE}
    return {"matches": matches}


def _search(context: ServerContext, query: str, described: Set[str], most: int, calls: int) -> dict[str, Any]:
    """Return the matches of a query. The first `calls` of them have signatures. Matches in `described` have only names."""
    searchables = {item.name: item for item in _searchables(context)}
    search_result = find_tools(query, searchables.values(), most=most)
    matches: list[dict[str, Any]] = []
    for index, name in enumerate(search_result.names):
        match = {"name": name}
        if name not in described:
            match["summary"] = first_sentence(searchables[name].summary)
            if index < calls:
                match["call"] = _call(context, name)
        matches.append(match)
    if search_result.message:
        return {"matches": matches, "message": f"{search_result.message} {SNAPSHOT_HINT}"}
    return {"matches": matches}


def first_sentence(summary: str) -> str:
    """Return the first sentence of a summary. The tool's page has the rest."""
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
    "Return signatures or pages of tools and macros, and sockets and properties of node types.",
    read_only=True,
)
async def tool_describe(context: ServerContext, caller: Caller, args: DescribeArgs) -> ToolResponse:
    nodes = [name for kind in TREE_KINDS for name in await asyncio.to_thread(catalogue, NEWEST, kind)]
    pages: list[dict[str, Any]] = []
    findings: list[Finding] = []
    for index, name in enumerate(args.names):
        node = find_node_type(name)
        tool_name, _, variant = name.partition(":")
        tool = context.tools.get(own_name(tool_name, context.tools))
        if tool is not None:
            page = brief_tool_page(tool, variant)
            if isinstance(page, Finding):
                findings.append(page.under(f"/names/{index}"))
            else:
                if args.detail == "call":
                    page = {"call": _call(context, tool.name, variant), "summary": first_sentence(tool.summary())}
                pages.append(page)
        elif name in context.macros:
            macro = context.macros[name]
            if args.detail == "page":
                pages.append(macro.declaration())
            else:
                pages.append({"call": _call(context, name), "summary": macro.document.summary})
        elif node is not None:
            pages.append(brief_node_page(node))
        else:
            fix = did_you_mean(name, [*context.tools, *context.macros, *nodes], otherwise="Use tool_search.")
            message = f"there is no tool, macro or node named '{name}'"
            findings.append(Finding(Fault.TARGET_NOT_FOUND, message, f"/names/{index}", fix))
    if not pages:
        return failure(*findings)

    most = page_budget(len(pages))
    result: dict[str, Any] = {"tools": [fitted_page(page, most) for page in without_repetition(pages)]}
    if findings:
        # An unknown name does not prevent the answer about the other names.
        result["not_found"] = [finding.to_json() for finding in findings]
    return replace(success(result), whole=True)


@server_tool("Run one tool or macro without a plan.", destructive=True)
async def tool_call(context: ServerContext, caller: Caller, args: CallArgs) -> ToolResponse:
    outcome = await context.call_tool(caller, args.tool, args.args)
    outcome = outcome.with_(findings=tuple(finding.under("/args") for finding in outcome.findings))
    if args.detail == "summary" and outcome.result is not None:
        outcome = outcome.with_(result=brief_result(outcome.tool, outcome.result))
    return ToolResponse(outcome, detail=args.detail)


def tool_page(tool: AnyTool) -> dict[str, Any]:
    """Return the resource page of a tool: its promises, the schema of its arguments and examples."""
    declaration = tool.declaration()
    fields = ("name", "summary", "safety_level", "destructive_with", "determinism", "idempotence")
    return {key: declaration[key] for key in fields} | {
        "args_schema": without_titles(declaration["args_schema"]),
        "examples": [example.args for example in tool.examples],
    }


TOOLS = (tool_search, tool_describe, tool_call)
