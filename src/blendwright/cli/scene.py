"""blendwright snapshot, gates: questions about the scene."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from blendwright.cli.options import AsJson, Blender, Scene, Workspace
from blendwright.cli.output import Exit, SafeConsole, present
from blendwright.cli.progress import waiting
from blendwright.cli.session import ask_tool

READING = "reading the scene"
MARKS = {"passed": ("✓", "green"), "failed": ("✗", "red"), "not_judged": ("?", "yellow")}


def snapshot(
    workspace: Workspace = ".blendwright",
    scene: Scene = None,
    blender: Blender = None,
    find: Annotated[
        str | None, typer.Option("--find", metavar="PATTERN", help="Only objects with such names (* and ?).")
    ] = None,
    offset: Annotated[int, typer.Option("--offset", metavar="N", help="Skip that many objects.", min=0)] = 0,
    limit: Annotated[int, typer.Option("--limit", metavar="N", help="At most so many objects.", min=1, max=1000)] = 200,
    json: AsJson = False,
) -> int:
    """Show a scene: its objects page by page, its collections, materials, settings and fingerprint."""
    args: dict[str, Any] = {"offset": offset, "limit": limit}
    if find is not None:
        args["name"] = find
    with waiting(READING, show=not json):
        page = ask_tool("scene.snapshot", args, workspace, scene, blender)
    return present(json, lambda: page, lambda out: _show_snapshot(out, page))


def _show_snapshot(out: SafeConsole, page: dict[str, Any]) -> None:
    objects = page["objects"]["items"]
    out.columns(
        (
            (entry["name"], "bold"), entry["type"],
            f"({', '.join(f'{value:g}' for value in entry['transform']['location'])})",
            (", ".join(entry["collections"]), "dim"),
        )
        for entry in objects
    )  # fmt: skip
    out.show(f"{len(objects)} of {page['objects']['total']} objects", "dim")
    out.show(f"scene {page['fingerprint']}", "dim")


def gates(
    name: Annotated[str, typer.Argument(metavar="OBJECT", help="The object whose tree is judged.")],
    modifier: Annotated[
        str | None,
        typer.Option("--modifier", metavar="NAME", help="Its modifier; the only one with nodes when left out."),
    ] = None,
    gate: Annotated[
        list[str] | None,
        typer.Option(
            "--gate",
            metavar="GATE[=VALUE]",
            help="Require this too: MANIFOLD, MIN_VERTICES=100, MAX_SIZE=2,2,2, HAS_ATTRIBUTE=mask; repeatable.",
        ),
    ] = None,
    workspace: Workspace = ".blendwright",
    scene: Scene = None,
    blender: Blender = None,
    json: AsJson = False,
) -> int:
    """Judge a geometry-nodes tree; ends with 1 when a required gate is not passed."""
    args: dict[str, Any] = {"object": name, "gates": [_gate(text) for text in gate or ()]}
    if modifier is not None:
        args["modifier"] = modifier
    with waiting(READING, show=not json):
        report = ask_tool("geonodes.gates", args, workspace, scene, blender)
    if report["success"]:
        exit_code = Exit.DONE
    else:
        exit_code = Exit.FAILED
    return present(json, lambda: report, lambda out: _show_gates(out, report), exit_code)


def _gate(text: str) -> dict[str, Any]:
    """GATE or GATE=VALUE; numbers and lists of numbers are taken as such, for the gates that want them."""
    gate, equals, value = text.partition("=")
    if not equals:
        return {"gate": gate}
    if gate == "HAS_ATTRIBUTE":
        return {"gate": gate, "value": value}
    try:
        numbers = [float(part) for part in value.split(",")]
    except ValueError:
        return {"gate": gate, "value": value}
    if len(numbers) == 1:
        return {"gate": gate, "value": int(numbers[0]) if numbers[0].is_integer() else value}
    return {"gate": gate, "value": numbers}


def _show_gates(out: SafeConsole, report: dict[str, Any]) -> None:
    verdicts = report["gates"]
    out.columns(
        (MARKS[one["status"]], one["gate"] + ("" if one["required"] else " (advisory)"), (one["message"], "dim"))
        for one in verdicts
    )
    if report["geometry"] is not None:
        size = " x ".join(f"{length:g}" for length in report["geometry"]["size"])
        counts = [f"{count} {what}" for what, count in report["geometry"].items() if what != "size" and count]
        out.show(f"{report['node_group']}: {', '.join(counts) or 'nothing'}; {size} m", "dim")
    if report["success"]:
        verdict = "passed"
    else:
        verdict = "failed: " + ", ".join(report["failed_gates"])
    out.show(verdict, "bold green" if report["success"] else "bold red")
