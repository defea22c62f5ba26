"""blendwright tools: the catalogue, or one tool's page."""

from __future__ import annotations

from typing import Annotated, Any

import orjson
import typer
from rich.text import Text

from blendwright.cli.output import AsJson, Columns, Exit, console, print_json
from blendwright.tool_api.tool import AnyTool
from blendwright.tools import catalog
from blendwright.values.errors import Refusal
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding, did_you_mean


def tools(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="A tool's name, or the beginning of some.")] = None,
    json: AsJson = False,
) -> int:
    """List the tools, or show one with its arguments, promises and examples."""
    known = catalog.tools()
    if name in known:
        _page(known[name], json)
        return Exit.DONE
    chosen = [tool for tool in known.values() if name is None or tool.name.startswith(name)]
    if not chosen:
        cure = did_you_mean(str(name), known, otherwise="List them all: blendwright tools")
        raise Refusal([Finding(Fault.TOOL_NOT_ALLOWED, f"there is no tool named '{name}'", "", cure)])
    if json:
        listed = [{"name": tool.name, "version": tool.version, "summary": tool.summary()} for tool in chosen]
        print_json({"fingerprint": catalog.fingerprint(), "tools": listed})
        return Exit.DONE
    table = Columns()
    for tool in chosen:
        table.row(Text(tool.name, style="bold"), Text(tool.safety_level.value, style="dim"), Text(tool.summary()))
    console().print(table)
    return Exit.DONE


def _page(tool: AnyTool, json: bool) -> None:
    page = tool.declaration()
    if json:
        print_json(page)
        return
    out = console()
    out.print(Text(f"{tool.name} ", style="bold").append(f"version {tool.version}", style="dim"))
    out.print(Text((type(tool).__doc__ or "").strip()))
    out.print()
    grid = Columns(indent=2)
    for field, schema in page["args_schema"].get("properties", {}).items():
        required = field in page["args_schema"].get("required", ())
        grid.row(Text(field, style="bold"), Text(type_of(schema)), Text(default_of(schema, required), style="dim"),
                     Text(schema.get("description", "")))  # fmt: skip
    out.print(grid)
    out.print()
    promises = ("safety_level", "safety_mode", "determinism", "idempotence", "revert", "replayable", "writes")
    for promise in promises:
        value = page[promise]
        shown = ", ".join(page["writes"]) if promise == "writes" else str(value).lower()
        if promise == "safety_level":
            shown += "".join(f", destructive with {name}" for name in page["destructive_with"])
        out.print(Text(f"  {promise:13}{shown or 'nothing'}"))
    out.print()
    for example in tool.examples:
        out.print(Text(f"  blendwright call {tool.name} --args '{orjson.dumps(dict(example.args)).decode()}'"))


def type_of(schema: dict[str, Any]) -> str:
    """A schema in a word, for a table."""
    if "enum" in schema:
        return " | ".join(str(choice) for choice in schema["enum"])
    if "anyOf" in schema:
        return " or ".join(type_of(part) for part in schema["anyOf"])
    if schema.get("type") == "array":
        size = schema.get("maxItems") if schema.get("maxItems") == schema.get("minItems") else None
        return f"{size} numbers" if size else "list"
    return str(schema.get("type", schema.get("const", "object")))


def default_of(schema: dict[str, Any], required: bool) -> str:
    return "required" if required else f"= {orjson.dumps(schema.get('default')).decode()}"
