"""tool_search, tool_describe: the catalogue a little at a time, since a host's context is precious."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from blendwright.contracts.arguments import Args
from blendwright.contracts.tool import AnyTool
from blendwright.server.answers import Answer, refused, succeeded
from blendwright.server.house import Caller, House
from blendwright.server.offers import Offer, without_titles
from blendwright.tools.search import search
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding, did_you_mean

MOST = 20


class SearchArgs(Args):
    query: str = Field(default="", max_length=200, description="Words, e.g. 'bevel modifier'; empty lists all names.")


class DescribeArgs(Args):
    names: list[str] = Field(min_length=1, max_length=10, description="Names of tools.")


async def tool_search(house: House, caller: Caller, args: SearchArgs) -> Answer:
    if not args.query.strip():
        by_noun: dict[str, list[str]] = {}
        for name in house.tools:
            noun, _, verb = name.partition(".")
            by_noun.setdefault(noun, []).append(verb)
        return succeeded("tool_search", {"tools": by_noun, "hint": "A tool's name is noun.verb."})
    found = [{"name": tool.name, "summary": tool.summary()} for tool in search(house.tools, args.query)][:MOST]
    return succeeded("tool_search", {"matches": found})


async def tool_describe(house: House, caller: Caller, args: DescribeArgs) -> Answer:
    findings = tuple(
        Finding(
            Fault.TARGET_NOT_FOUND,
            f"there is no tool named '{name}'",
            f"/names/{index}",
            did_you_mean(name, house.tools, otherwise="Use tool_search."),
        )
        for index, name in enumerate(args.names)
        if name not in house.tools
    )
    if findings:
        return refused("tool_describe", findings)
    return succeeded("tool_describe", {"tools": [page(house.tools[name]) for name in args.names]})


def page(tool: AnyTool) -> dict[str, Any]:
    """What a model needs in order to use a tool."""
    whole = tool.declaration()
    kept = ("name", "summary", "safety_level", "determinism", "idempotence")
    return {key: whole[key] for key in kept} | {
        "args_schema": without_titles(whole["args_schema"]),
        "examples": [example.args for example in tool.examples],
    }


OFFERS = (
    Offer(
        "tool_search",
        "Search the catalogue of tools that plans may use.",
        SearchArgs,
        tool_search,
        read_only=True,
    ),
    Offer(
        "tool_describe",
        "Arguments, promises and examples of tools that plans may use.",
        DescribeArgs,
        tool_describe,
        read_only=True,
    ),
)
