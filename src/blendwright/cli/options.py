"""The options and arguments that several commands have, each declared once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from blendwright.cli.parameters import argument, option
from blendwright.dialects import registry
from blendwright.tool_api.promises import Determinism
from blendwright.values.errors import Refusal
from blendwright.values.faults import Fault
from blendwright.values.plan import Boundary
from blendwright.workspace.locations import workspace_directory


def _directory(workspace: str) -> str:
    """Whatever a command does with a workspace, a file cannot be one."""
    workspace_directory(workspace)
    return workspace


def png_name(image: Path | None) -> Path | None:
    if image is not None and image.suffix.lower() != ".png":
        cure = "Pictures are written as PNG: end the name in .png."
        raise Refusal.of(Fault.ARGS_INVALID, f"{image} is not the name of a .png file", cure)
    return image


def _dialect_name(value: str) -> str:
    if value not in registry.names():
        import typer

        raise typer.BadParameter(f"'{value}' is not one of {', '.join(registry.names())}.")
    return value


Workspace = Annotated[str, option("--workspace DIR", "The workspace to use.", callback=_directory)]
AsJson = Annotated[bool, option("--json", "Print one JSON document on standard output, nothing else.")]
Scene = Annotated[str | None, option("--scene FILE.blend", "Start from this file; it is not written.")]
Blender = Annotated[
    str | None,
    option("--blender VERSION|PATH", "5.2 or another that was added, an executable, or an environment with a bpy."),
]
FleetEngine = Annotated[
    str | None,
    option("--engine URL|env", "postgres://user@host/database; env: BLENDWRIGHT_ENGINE, which may hold a password."),
]
Attach = Annotated[
    str | None, option("--attach PID|auto", "Work in this open window; auto: in the one that is open, if one is.")
]
Image = Annotated[
    Path | None,
    option(
        "--image PNG",
        "Write a quick picture there afterwards, of some 640 x 480 pixels.",
        callback=png_name,
    ),
]
Export = Annotated[Path | None, option("--export FILE", "Write the scene there afterwards, replacing what is there.")]
Timeout = Annotated[float | None, option("--timeout SECONDS", "Deadline of the whole command.", min=0.001)]
Approve = Annotated[
    list[str] | None, option("--approve NAME", "Allow what is asked about: destructive, a tool, a mode or a root.")
]
MinimumDeterminism = Annotated[
    Determinism | None, option("--determinism", "Refuse calls whose results are of a weaker class.")
]
ContractFile = Annotated[Path | None, option("--contract FILE", "Hold to this contract; refused when it is outdated.")]
PlanFile = Annotated[str, argument("PLAN", "A JSON file, a program (.star), or - for standard input.")]
Set = Annotated[list[str] | None, option("--set NAME=VALUE", "A parameter of the program; JSON, or text as it is.")]
TakenBack = Annotated[
    Boundary | None,
    option("--boundary", "What a failure takes back: the operation, or all; of a program, all by default."),
]
Instead = Annotated[bool, option("--instead", "In place of the last plan, which is taken back first.")]
InsteadOf = Annotated[
    str | None, option("--instead-of REQUEST", "In place of that plan; the plans after it are run again on top.")
]
RequestId = Annotated[str | None, option("--request-id ID", "For plans that do not bring their own.")]
DIALECTS = "|".join(registry.names())
InDialect = Annotated[
    str | None, option(f"--dialect {DIALECTS}", "Take it for this dialect, whatever its shape.", parser=_dialect_name)
]
