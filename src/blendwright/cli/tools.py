"""blendwright tools: the catalogue, or one tool's page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any

import orjson
import typer

from blendwright.cli.options import AsJson
from blendwright.cli.output import present
from blendwright.cli.safe_console import SafeConsole
from blendwright.tool_api.tool import AnyTool
from blendwright.tools import catalog
from blendwright.values.errors import Refusal
from blendwright.values.faults import Fault
from blendwright.values.findings import did_you_mean

PROMISES = ("safety_level", "safety_mode", "determinism", "idempotence", "revert", "replayable", "writes")


def tools(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="A tool's name, or the beginning of some.")] = None,
    json: AsJson = False,
) -> int:
    """List the tools, or show one with its arguments, promises and examples."""
    known = catalog.tools()
    if name is not None and name in known:
        tool = known[name]
        return present(json, tool.declaration, lambda out: _show_page(out, tool))
    chosen = [known[each] for each in names_beginning_with(name, known, "tool")]
    listed = [{"name": tool.name, "version": tool.version, "summary": tool.summary()} for tool in chosen]
    return present(
        json,
        lambda: {"fingerprint": catalog.fingerprint(), "tools": listed},
        lambda out: out.columns(
            ((tool.name, "bold"), (tool.safety_level.value, "dim"), tool.summary()) for tool in chosen
        ),
    )


def _show_page(out: SafeConsole, tool: AnyTool) -> None:
    page = tool.declaration()
    out.labelled(tool.name, f"version {tool.version}", "bold", text_style="dim")
    out.show((type(tool).__doc__ or "").strip())
    out.print()
    schema = page["args_schema"]
    show_arguments(out, schema.get("properties", {}), schema.get("required", ()))
    for promise in PROMISES:
        value = ", ".join(page["writes"]) if promise == "writes" else str(page[promise]).lower()
        if promise == "safety_level":
            value += "".join(f", destructive with {name}" for name in page["destructive_with"])
        out.show(f"  {promise:13}{value or 'nothing'}")
    show_examples(out, tool.name, (dict(example.args) for example in tool.examples))


def names_beginning_with(start: str | None, known: Iterable[str], what: str) -> list[str]:
    """All names, or those that begin so. Raises Refusal, with a name that is near, when there is none."""
    names = list(known)
    chosen = [name for name in names if name.startswith(start or "")]
    if not chosen:
        cure = did_you_mean(str(start), names, otherwise=f"List them all: blendwright {what}s")
        raise Refusal.of(Fault.TOOL_NOT_ALLOWED, f"there is no {what} named '{start}'", cure)
    return chosen


def show_arguments(out: SafeConsole, properties: Mapping[str, dict[str, Any]], required: Iterable[str]) -> None:
    """The arguments of a tool or the inputs of a macro."""
    needed = set(required)
    out.columns(
        (
            (
                (name, "bold"),
                _type_of(schema),
                (_default_of(schema, name in needed), "dim"),
                schema.get("description", ""),
            )
            for name, schema in properties.items()
        ),
        indent=2,
    )
    out.print()


def show_examples(out: SafeConsole, name: str, examples: Iterable[Mapping[str, Any]]) -> None:
    """Calls as they can be typed."""
    out.print()
    for args in examples:
        out.show(f"  blendwright call {name} --args '{orjson.dumps(args).decode()}'")


def _type_of(schema: dict[str, Any]) -> str:
    """A schema in a word, for a table."""
    if "enum" in schema:
        return " | ".join(str(choice) for choice in schema["enum"])
    if "anyOf" in schema:
        return " or ".join(_type_of(part) for part in schema["anyOf"])
    if schema.get("type") == "array":
        size = schema.get("maxItems") if schema.get("maxItems") == schema.get("minItems") else None
        return f"{size} numbers" if size else "list"
    return str(schema.get("type", schema.get("const", "object")))


def _default_of(schema: dict[str, Any], required: bool) -> str:
    return "required" if required else f"= {orjson.dumps(schema.get('default')).decode()}"
