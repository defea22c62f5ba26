"""The commands `blendwright snapshot` and `gates`, which read the scene."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import typer

from blendwright.cli.options import AsJson, Blender, Scene, Workspace
from blendwright.cli.output import Cell, Exit, SafeConsole, present
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
    """Return the argument of a gate from GATE or GATE=VALUE, with numbers and lists of numbers as JSON numbers."""
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
        if numbers[0].is_integer():
            return {"gate": gate, "value": int(numbers[0])}
        return {"gate": gate, "value": value}
    return {"gate": gate, "value": numbers}


def _show_gates(out: SafeConsole, report: dict[str, Any]) -> None:
    rows: list[Sequence[Cell]] = []
    for gate in report["gates"]:
        name = gate["gate"]
        if not gate["required"]:
            name += " (advisory)"
        rows.append((MARKS[gate["status"]], name, (gate["message"], "dim")))
    out.columns(rows)
    if report["geometry"] is not None:
        size = " x ".join(f"{length:g}" for length in report["geometry"]["size"])
        counts = [f"{count} {kind}" for kind, count in report["geometry"].items() if kind != "size" and count]
        out.show(f"{report['node_group']}: {', '.join(counts) or 'nothing'}; {size} m", "dim")
    if report["success"]:
        out.show("passed", "bold green")
    else:
        out.show("failed: " + ", ".join(report["failed_gates"]), "bold red")
