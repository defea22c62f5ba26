"""A tool of the server: its name, its arguments, its promises, and the function that handles a call.

The host reads these declarations; nothing about a tool is written twice. Arguments are checked against the schema here, since the SDK
leaves that to servers. For hosts that prefer single calls to plans, every tool of the catalogue can be a tool of the server.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast, get_type_hints

from blendwright.policy.policy import Costs
from blendwright.schemas.check import ModelChecker, resolved
from blendwright.schemas.json_reader import non_interoperable_values, read_json
from blendwright.server.answers.response import ToolResponse, failure
from blendwright.server.answers.tool_schema import listed_schema, short_description, short_schema, used_arguments
from blendwright.server.context import Caller, ServerContext
from blendwright.tool_api.arguments import Args, former_name_note, in_own_terms
from blendwright.tool_api.promises import Idempotence, SafetyLevel
from blendwright.tool_api.tool import AnyTool, Tool
from blendwright.tool_api.tool_names import mcp_name
from blendwright.values.findings import Finding, pointer_of

# gemini-cli adds this to every call, whatever the schema says.
ADDED_BY_HOSTS = "wait_for_previous"


Handler = Callable[[ServerContext, Caller, Any], Awaitable[ToolResponse]]


@dataclass(frozen=True)
class ServerTool:
    """One tool of the server. `open_world` is for what reaches beyond the workspace."""

    name: str
    description: str
    args: type[Args]
    handler: Handler
    read_only: bool
    destructive: bool = False
    idempotent: bool = True
    open_world: bool = False
    refuse: Callable[..., ToolResponse] = failure
    """What it answers with where findings speak against the call before it runs."""
    described_as: AnyTool | None = None
    """The tool of the catalogue that it is, whose page describes what the list leaves out."""
    time_limit: str | None = None
    """The constraint that says how long a call may take, where that is not the usual one."""

    calls: str = ""
    """How the tools that it runs are called, for its description; where they are listed themselves, the list has that."""

    def described(self, costs: Costs, *, direct: bool = False) -> str:
        """Its description, with the time limit that holds here; that of a tool of the catalogue is short where it is one of many."""
        if direct and self.described_as is not None:
            text = short_description(self.description)
        else:
            text = self.description
        if self.time_limit is None:
            return f"{text} {'' if direct else self.calls}".strip()
        seconds = f"{getattr(costs, self.time_limit):g} s"
        if direct:
            where = ""
        else:
            where = f" (constraints.{self.time_limit})"
        return f"{text.rstrip('.')}. Time limit: {seconds}{where}."

    @cached_property
    def input_schema(self) -> dict[str, Any]:
        return without_titles(self.args.model_json_schema())

    @cached_property
    def listed_schema(self) -> dict[str, Any]:
        """The schema that hosts are told: of a tool of the catalogue only what is used most, since there are many."""
        tool = self.described_as
        if tool is None:
            return short_schema(self.input_schema)
        return listed_schema(self.input_schema, tool.name, used_arguments(tool))

    @cached_property
    def _checker(self) -> ModelChecker:
        names = ", ".join(self.input_schema.get("properties", {})) or "none"
        return ModelChecker(self.args, self.input_schema, f"{self.name} takes: {names}.")

    @cached_property
    def _nested(self) -> frozenset[str]:
        """The arguments that are objects, and never text."""
        kinds = {
            name: _kinds(part, self.input_schema) for name, part in self.input_schema.get("properties", {}).items()
        }
        return frozenset(name for name, found in kinds.items() if "object" in found and "string" not in found)

    def parse(self, raw: Mapping[str, Any]) -> Args | tuple[Finding, ...]:
        """The arguments, or everything that is wrong with them."""
        arguments: dict[str, Any] = {}
        findings: list[Finding] = []
        for key, value in raw.items():
            if key == ADDED_BY_HOSTS:
                continue
            if isinstance(value, str) and key in self._nested:
                # Some hosts, and some models, send nested objects as text.
                arguments[key], problems = read_json(value)
            else:
                arguments[key], problems = value, non_interoperable_values(value)
            findings += (finding.under(pointer_of([key])) for finding in problems)
        if findings:
            return tuple(findings)
        own, _ = in_own_terms(self.args, arguments)
        model, problems = self._checker.validate(own)
        return problems or model

    def notes(self, raw: Mapping[str, Any]) -> tuple[str, ...]:
        """What is to be said of arguments that have another name by now."""
        _, former = in_own_terms(self.args, dict(raw))
        if self.described_as is None:
            tool = self.name
        else:
            tool = self.described_as.name
        return tuple(former_name_note(tool, word, name) for name, word in former.items())


def server_tool(
    description: str,
    *,
    read_only: bool = False,
    destructive: bool = False,
    refuse: Callable[..., ToolResponse] = failure,
    time_limit: str | None = None,
    calls: str = "",
) -> Callable[[Handler], ServerTool]:
    """Declare a function as a tool: the tool has its name, and takes what the function's `args` are annotated with."""

    def declare(handler: Handler) -> ServerTool:
        args = get_type_hints(handler)["args"]
        return ServerTool(
            handler.__name__,
            description,
            args,
            handler,
            read_only,
            destructive,
            refuse=refuse,
            time_limit=time_limit,
            calls=calls,
        )

    return declare


def _kinds(part: Mapping[str, Any], whole: Any) -> set[str]:
    """The types of JSON that a part of a schema takes."""
    if "$ref" in part:
        part = resolved(whole, part["$ref"])
    kinds: Any = part.get("type", [])
    if isinstance(kinds, str):
        found = {kinds}
    else:
        found = set[str](kinds)
    for one in part.get("anyOf", ()):
        found |= _kinds(one, whole)
    return found


def without_titles(schema: Any) -> Any:
    """A schema without the titles that only repeat the names, and without what is so anyway; in a host's context every byte counts."""
    if isinstance(schema, dict):
        fields = cast("dict[str, Any]", schema)
        return {key: without_titles(value) for key, value in fields.items() if not _is_empty_word(key, value)}
    if isinstance(schema, list):
        return [without_titles(part) for part in cast("list[Any]", schema)]
    return schema


def _is_empty_word(key: str, value: Any) -> bool:
    return (key == "title" and isinstance(value, str)) or (key == "additionalProperties" and value is True)


LONGEST_SUMMARY = 100
PARTS = re.compile("[:;] ")


def direct_tools(tools: Mapping[str, AnyTool]) -> tuple[ServerTool, ...]:
    """Names have an underscore for the dot, which some hosts refuse."""
    return tuple(_direct_tool(tool) for tool in tools.values())


def _direct_tool(tool: AnyTool) -> ServerTool:
    async def call(context: ServerContext, caller: Caller, args: Args) -> ToolResponse:
        # Only what the host sent: the engine fills in defaults itself, as it does for everybody.
        sent = args.model_dump(mode="json", exclude_unset=True)
        return ToolResponse(await context.call_tool(caller, tool.name, sent), detail="full")

    return ServerTool(
        mcp_name(tool.name),
        _listed_summary(tool),
        tool.args_model,
        call,
        read_only=tool.safety_level is SafetyLevel.READ_ONLY,
        destructive=tool.safety_level is SafetyLevel.DESTRUCTIVE or bool(tool.destructive_with),
        idempotent=tool.idempotence is Idempotence.IDEMPOTENT,
        open_world=tool.name.startswith(("asset.", "file.")),
        time_limit=None if tool.time_limit == Tool.time_limit else tool.time_limit,
        described_as=tool,
    )


def _listed_summary(tool: AnyTool) -> str:
    """The first sentence; of a long one what comes before the list of its parts, or before its last comma, which the page of the tool
    has."""
    sentence = tool.summary().partition(". ")[0].removesuffix(".")
    if len(sentence) > LONGEST_SUMMARY:
        sentence = PARTS.split(sentence, maxsplit=1)[0]
    if len(sentence) > LONGEST_SUMMARY:
        sentence = sentence[:LONGEST_SUMMARY].rpartition(", ")[0] or sentence
    return sentence + "."
