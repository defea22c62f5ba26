"""blendwright macros: those of the package and of the workspace, or one macro's page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import orjson
import typer

from blendwright.cli.options import AsJson, Workspace
from blendwright.cli.output import present
from blendwright.cli.safe_console import SafeConsole
from blendwright.cli.tools import names_beginning_with, show_arguments, show_examples
from blendwright.macros import REGISTRY_VERSION, Macro, load_macros, macro_registry
from blendwright.tools import catalog


def macros(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="A macro's name, or the beginning of some.")
    ] = None,
    workspace: Workspace = ".blendwright",
    json: AsJson = False,
) -> int:
    """List the macros, or show one with its inputs, steps, promises and examples."""
    known = load_macros(Path(workspace).resolve(), catalog.tools())
    if name is not None and name in known:
        macro = known[name]
        return present(
            json, lambda: {**macro.declaration(), "source": macro.source}, lambda out: _show_page(out, macro)
        )
    chosen = [known[each] for each in names_beginning_with(name, known, "macro")]
    return present(
        json,
        lambda: {
            "version": REGISTRY_VERSION,
            "fingerprint": macro_registry(known.values()).fingerprint,
            "macros": [_summary(macro) for macro in chosen],
        },
        lambda out: out.columns(
            ((macro.name, "bold"), (macro.source, "dim"), macro.document.summary) for macro in chosen
        ),
    )


def _summary(macro: Macro) -> dict[str, Any]:
    return {
        "name": macro.name,
        "version": macro.version,
        "summary": macro.document.summary,
        "source": macro.source,
        "fingerprint": macro.fingerprint,
    }


def _show_page(out: SafeConsole, macro: Macro) -> None:
    document = macro.document
    out.labelled(macro.name, f"version {macro.version}, {macro.source}", "bold", text_style="dim")
    out.show(document.summary)
    out.print()
    show_arguments(out, macro.properties, macro.declaration()["inputs"].get("required", ()))
    for number, step in enumerate(document.steps, start=1):
        each = f"  for each of {step.for_each}" if step.for_each else ""
        out.labelled(f"  {number:2}  {step.title} ", step.tool + each, "", text_style="dim")
    out.print()
    out.show(f"  safety_level {macro.safety_level.value}")
    out.show(f"  determinism  {macro.determinism.value}")
    out.show(f"  rollback     {'all steps or none' if macro.rollback else 'what was done stays'}")
    for moment, conditions in (("before", document.preconditions), ("after", document.postconditions)):
        for condition in conditions:
            out.show(f"  {moment:13}{orjson.dumps(condition).decode()}")
    out.show(f"  fingerprint  {macro.fingerprint}", "dim")
    show_examples(out, macro.name, (example.inputs for example in document.examples))
