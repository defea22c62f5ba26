"""Declarations of the options and arguments that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from blendwright.dialects import registry
from blendwright.tool_api.promises import Determinism
from blendwright.values.errors import Refusal
from blendwright.values.faults import Fault
from blendwright.values.plan import Boundary
from blendwright.workspace.locations import workspace_directory


def _directory(workspace: str) -> str:
    """Return the value of --workspace. Raise EnvironmentUnfit when the path cannot be a directory."""
    workspace_directory(workspace)
    return workspace


def png_name(image: Path | None) -> Path | None:
    """Return the path of a picture. Raise Refusal when its name does not end in .png."""
    if image is not None and image.suffix.lower() != ".png":
        cure = "Pictures are written as PNG: end the name in .png."
        raise Refusal.of(Fault.ARGS_INVALID, f"{image} is not the name of a .png file", cure)
    return image


def _dialect_name(value: str) -> str:
    if value not in registry.names():
        raise typer.BadParameter(f"'{value}' is not one of {', '.join(registry.names())}.")
    return value


Workspace = Annotated[
    str, typer.Option("--workspace", metavar="DIR", help="The workspace to use.", callback=_directory)
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document on standard output, nothing else.")]
Scene = Annotated[
    str | None, typer.Option("--scene", metavar="FILE.blend", help="Start from this file; it is not written.")
]
Blender = Annotated[
    str | None,
    typer.Option(
        "--blender",
        metavar="VERSION|PATH",
        help="5.2 or another that was added, an executable, or an environment with a bpy.",
    ),
]
FleetEngine = Annotated[
    str | None,
    typer.Option(
        "--engine",
        metavar="URL|env",
        help="postgres://user@host/database; env: BLENDWRIGHT_ENGINE, which may hold a password.",
    ),
]
Attach = Annotated[
    str | None,
    typer.Option(
        "--attach", metavar="PID|auto", help="Work in this open window; auto: in the one that is open, if one is."
    ),
]
Image = Annotated[
    Path | None,
    typer.Option(
        "--image",
        metavar="PNG",
        help="Write a quick picture there afterwards, of some 640 x 480 pixels.",
        callback=png_name,
    ),
]
Export = Annotated[
    Path | None,
    typer.Option("--export", metavar="FILE", help="Write the scene there afterwards, replacing what is there."),
]
Timeout = Annotated[
    float | None, typer.Option("--timeout", metavar="SECONDS", help="Deadline of the whole command.", min=0.001)
]
Approve = Annotated[
    list[str] | None,
    typer.Option("--approve", metavar="NAME", help="Allow what is asked about: destructive, a tool, a mode or a root."),
]
MinimumDeterminism = Annotated[
    Determinism | None, typer.Option("--determinism", help="Refuse calls whose results are of a weaker class.")
]
ContractFile = Annotated[
    Path | None, typer.Option("--contract", metavar="FILE", help="Hold to this contract; refused when it is outdated.")
]
PlanFile = Annotated[
    str, typer.Argument(metavar="PLAN", help="A JSON file, a program (.star), or - for standard input.")
]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="A parameter of the program; JSON, or text as it is."),
]
TakenBack = Annotated[
    Boundary | None,
    typer.Option("--boundary", help="What a failure takes back: the operation, or all; of a program, all by default."),
]
Instead = Annotated[bool, typer.Option("--instead", help="In place of the last plan, which is taken back first.")]
InsteadOf = Annotated[
    str | None,
    typer.Option(
        "--instead-of", metavar="REQUEST", help="In place of that plan; the plans after it are run again on top."
    ),
]
RequestId = Annotated[
    str | None, typer.Option("--request-id", metavar="ID", help="For plans that do not bring their own.")
]
DIALECTS = "|".join(registry.names())
InDialect = Annotated[
    str | None,
    typer.Option(
        "--dialect", metavar=DIALECTS, help="Take it for this dialect, whatever its shape.", parser=_dialect_name
    ),
]
