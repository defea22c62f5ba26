"""blendwright macros: those of the package and of the workspace, or one macro's page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import orjson
import typer
from rich.table import Table
from rich.text import Text

from blendwright.cli.output import AsJson, Exit, Workspace, console, print_json
from blendwright.cli.tools import default_of, type_of
from blendwright.macros import REGISTRY_VERSION, Macro, load_macros, registry_fingerprint
from blendwright.tools import catalog
from blendwright.values.errors import Refusal
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding, did_you_mean


def macros(
    name: Annotated[str | None, typer.Argument(help="A macro's name, or the beginning of some.")] = None,
    workspace: Workspace = ".blendwright",
    json: AsJson = False,
) -> int:
    """List the macros, or show one with its inputs, steps, promises and examples."""
    known = load_macros(Path(workspace).resolve(), catalog.tools())
    if name is not None and name in known:
        _page(known[name], json)
        return Exit.DONE
    chosen = [macro for macro in known.values() if name is None or macro.name.startswith(name)]
    if not chosen:
        cure = did_you_mean(str(name), known, otherwise="List them all: blendwright macros")
        raise Refusal([Finding(Fault.TOOL_NOT_ALLOWED, f"there is no macro named '{name}'", "", cure)])
    if json:
        listed = [
            {
                "name": macro.name,
                "version": macro.version,
                "summary": macro.document.summary,
                "source": macro.source,
                "fingerprint": macro.fingerprint,
            }
            for macro in chosen
        ]
        fingerprint = registry_fingerprint(known.values())
        print_json({"version": REGISTRY_VERSION, "fingerprint": fingerprint, "macros": listed})
        return Exit.DONE
    table = Table(box=None, padding=(0, 2, 0, 0), show_header=False)
    for macro in chosen:
        table.add_row(Text(macro.name, style="bold"), Text(macro.source, style="dim"), Text(macro.document.summary))
    console().print(table)
    return Exit.DONE


def _page(macro: Macro, json: bool) -> None:
    page = macro.declaration()
    if json:
        print_json({**page, "source": macro.source})
        return
    document = macro.document
    out = console()
    out.print(Text(f"{macro.name} ", style="bold").append(f"version {macro.version}, {macro.source}", style="dim"))
    out.print(Text(document.summary))
    out.print()
    grid = Table(box=None, padding=(0, 2, 0, 2), show_header=False)
    for field, schema in macro.properties.items():
        required = field in page["inputs"].get("required", ())
        grid.add_row(Text(field, style="bold"), Text(type_of(schema)), Text(default_of(schema, required), style="dim"),
                     Text(schema["description"]))  # fmt: skip
    out.print(grid)
    out.print()
    for number, step in enumerate(document.steps, start=1):
        each = f"  for each of {step.for_each}" if step.for_each else ""
        out.print(Text(f"  {number:2}  {step.title}  ").append(step.tool + each, style="dim"))
    out.print()
    out.print(Text(f"  safety_level {macro.safety_level.value}"))
    out.print(Text(f"  determinism  {macro.determinism.value}"))
    out.print(Text(f"  rollback     {'all steps or none' if macro.rollback else 'what was done stays'}"))
    for moment, conditions in (("before", document.preconditions), ("after", document.postconditions)):
        for condition in conditions:
            out.print(Text(f"  {moment:13}{orjson.dumps(condition).decode()}"))
    out.print(Text(f"  fingerprint  {macro.fingerprint}", style="dim"))
    out.print()
    for example in document.examples:
        out.print(Text(f"  blendwright call {macro.name} --args '{orjson.dumps(example.inputs).decode()}'"))
