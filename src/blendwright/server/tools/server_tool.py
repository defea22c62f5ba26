"""A declaration of a server tool: its name, arguments, promises and handler.

All information that a host receives about a tool is derived from its declaration. The SDK does not check arguments,
so this module checks them against the schema. For hosts that prefer single calls to plans, `direct_tools` declares
every tool of the catalogue as a server tool.
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

# An argument that gemini-cli adds to every call, even when the schema does not have it.
ADDED_BY_HOSTS = "wait_for_previous"


Handler = Callable[[ServerContext, Caller, Any], Awaitable[ToolResponse]]


@dataclass(frozen=True)
class ServerTool:
    """A tool of the server. `open_world` marks a tool that reaches beyond the workspace."""

    name: str
    description: str
    args: type[Args]
    handler: Handler
    read_only: bool
    destructive: bool = False
    idempotent: bool = True
    open_world: bool = False
    refuse: Callable[..., ToolResponse] = failure
    """Makes the response when findings refuse the call before it runs."""
    described_as: AnyTool | None = None
    """The catalogue tool that this tool calls. Its page describes what the list of tools omits."""
    time_limit: str | None = None
    """The name of the constraint that limits the seconds of a call, or None for the usual constraint."""
    calls: str = ""
    """Signatures of catalogue tools, appended to the description unless the server lists these tools themselves."""

    def described(self, costs: Costs, *, direct: bool = False) -> str:
        """Return the description with the time limit from `costs`. With `direct`, shorten the description of a
        catalogue tool.
        """
        if direct and self.described_as is not None:
            text = short_description(self.description)
        else:
            text = self.description
        if self.time_limit is None:
            if direct:
                return text.strip()
            return f"{text} {self.calls}".strip()

        seconds = f"{getattr(costs, self.time_limit):g} s"
        if direct:
            where = ""
        else:
            where = f" (constraints.{self.time_limit})"
        return f"{text.rstrip('.')}. Time limit: {seconds}{where}."

    @cached_property
    def input_schema(self) -> dict[str, Any]:
        """Return the complete JSON Schema of the arguments, without titles."""
        return without_titles(self.args.model_json_schema())

    @cached_property
    def listed_schema(self) -> dict[str, Any]:
        """Return the schema for the list of tools. For a catalogue tool it describes only the most used arguments."""
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
        """Return the names of arguments that take objects and never strings."""
        nested: set[str] = set()
        for name, part in self.input_schema.get("properties", {}).items():
            kinds = _kinds(part, self.input_schema)
            if "object" in kinds and "string" not in kinds:
                nested.add(name)
        return frozenset(nested)

    def parse(self, raw: Mapping[str, Any]) -> Args | tuple[Finding, ...]:
        """Return the checked arguments, or a finding for everything that is wrong with them."""
        arguments: dict[str, Any] = {}
        findings: list[Finding] = []
        for key, value in raw.items():
            if key == ADDED_BY_HOSTS:
                continue
            if isinstance(value, str) and key in self._nested:
                # Some hosts and models send nested objects as JSON text.
                arguments[key], problems = read_json(value)
            else:
                arguments[key], problems = value, non_interoperable_values(value)
            findings += (finding.under(pointer_of([key])) for finding in problems)
        if findings:
            return tuple(findings)

        current_arguments, _ = in_own_terms(self.args, arguments)
        model, problems = self._checker.validate(current_arguments)
        return problems or model

    def notes(self, raw: Mapping[str, Any]) -> tuple[str, ...]:
        """Return a note for each argument that the call named by a former name."""
        _, former = in_own_terms(self.args, dict(raw))
        if self.described_as is None:
            tool = self.name
        else:
            tool = self.described_as.name
        return tuple(former_name_note(tool, former_name, name) for name, former_name in former.items())


def server_tool(
    description: str,
    *,
    read_only: bool = False,
    destructive: bool = False,
    refuse: Callable[..., ToolResponse] = failure,
    time_limit: str | None = None,
    calls: str = "",
) -> Callable[[Handler], ServerTool]:
    """Return a decorator that turns a handler into a ServerTool.

    The tool has the handler's name and the argument model that annotates the handler's `args`.
    """

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
    """Return the JSON types that a part of a schema accepts. `whole` is the schema that contains the definitions."""
    if "$ref" in part:
        part = resolved(whole, part["$ref"])
    kinds: Any = part.get("type", [])
    if isinstance(kinds, str):
        types = {kinds}
    else:
        types = set[str](kinds)
    for form in part.get("anyOf", ()):
        types |= _kinds(form, whole)
    return types


def without_titles(schema: Any) -> Any:
    """Return the schema without generated titles and without `additionalProperties: true`, because every byte counts
    in a host's context.
    """
    if isinstance(schema, dict):
        fields = cast("dict[str, Any]", schema)
        return {key: without_titles(value) for key, value in fields.items() if not _is_superfluous(key, value)}
    if isinstance(schema, list):
        return [without_titles(part) for part in cast("list[Any]", schema)]
    return schema


def _is_superfluous(key: str, value: Any) -> bool:
    return (key == "title" and isinstance(value, str)) or (key == "additionalProperties" and value is True)


MAX_SUMMARY_CHARACTERS = 100
CLAUSE_ENDS = re.compile("[:;] ")


def direct_tools(tools: Mapping[str, AnyTool]) -> tuple[ServerTool, ...]:
    """Return a server tool for each catalogue tool. Names have an underscore instead of the dot, which some hosts
    refuse.
    """
    return tuple(_direct_tool(tool) for tool in tools.values())


def _direct_tool(tool: AnyTool) -> ServerTool:
    async def call(context: ServerContext, caller: Caller, args: Args) -> ToolResponse:
        # Pass only the arguments that the host sent, because the engine fills in defaults.
        sent = args.model_dump(mode="json", exclude_unset=True)
        return ToolResponse(await context.call_tool(caller, tool.name, sent), detail="full")

    time_limit = None
    if tool.time_limit != Tool.time_limit:
        time_limit = tool.time_limit

    return ServerTool(
        mcp_name(tool.name),
        _listed_summary(tool),
        tool.args_model,
        call,
        read_only=tool.safety_level is SafetyLevel.READ_ONLY,
        destructive=tool.safety_level is SafetyLevel.DESTRUCTIVE or bool(tool.destructive_with),
        idempotent=tool.idempotence is Idempotence.IDEMPOTENT,
        open_world=tool.name.startswith(("asset.", "file.")),
        time_limit=time_limit,
        described_as=tool,
    )


def _listed_summary(tool: AnyTool) -> str:
    """Return the first sentence of a tool's summary, at most about 100 characters long.

    A longer sentence ends before its first colon or semicolon, or before its last comma. The page of the tool has the
    complete text.
    """
    sentence = tool.summary().partition(". ")[0].removesuffix(".")
    if len(sentence) > MAX_SUMMARY_CHARACTERS:
        sentence = CLAUSE_ENDS.split(sentence, maxsplit=1)[0]
    if len(sentence) > MAX_SUMMARY_CHARACTERS:
        sentence = sentence[:MAX_SUMMARY_CHARACTERS].rpartition(", ")[0] or sentence
    return sentence + "."
