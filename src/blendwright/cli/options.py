"""The options and arguments that several commands have, each declared once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from blendwright.app.opening import place_of
from blendwright.tool_api.promises import Determinism
from blendwright.values.errors import Refusal
from blendwright.values.faults import Fault


def _directory(workspace: str) -> str:
    """Whatever a command does with a workspace, a file cannot be one."""
    place_of(workspace)
    return workspace


def _png(image: Path | None) -> Path | None:
    if image is not None and image.suffix.lower() != ".png":
        cure = "Pictures are written as PNG: end the name in .png."
        raise Refusal.of(Fault.ARGS_INVALID, f"{image} is not the name of a .png file", cure)
    return image


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
        "--blender", metavar="PATH", help="A Blender executable, or an environment with a bpy, to use instead."
    ),
]
Image = Annotated[
    Path | None,
    typer.Option("--image", metavar="PNG", help="Write a picture of the scene there afterwards.", callback=_png),
]
Export = Annotated[
    Path | None,
    typer.Option("--export", metavar="FILE", help="Write the scene there afterwards, replacing what is there."),
]
Timeout = Annotated[
    float | None, typer.Option("--timeout", metavar="SECONDS", min=0.001, help="Deadline of the whole command.")
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
