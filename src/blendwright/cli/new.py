"""blendwright new: a workspace to start with, and what to do next."""

from __future__ import annotations

import shlex
from pathlib import Path

from rich.text import Text

from blendwright.app.opening import DEFAULT_WORKSPACE
from blendwright.app.policy_files import FILE as POLICY
from blendwright.app.starting import EXAMPLE, begin
from blendwright.cli.externals import say_externals
from blendwright.cli.output import AsJson, Blender, Columns, Exit, Scene, Workspace, console, print_json

PURPOSES = {POLICY: "what calls may do here; everything is at its default", EXAMPLE: "a plan to try"}


def new(
    workspace: Workspace = DEFAULT_WORKSPACE, scene: Scene = None, blender: Blender = None, json: AsJson = False
) -> int:
    """Start a workspace with an empty scene or a copy of a .blend file, a policy to edit and a plan to try."""
    made = begin(workspace, scene=scene, blender=blender)
    following = _following(workspace)
    if json:
        print_json(
            {"ok": True, "workspace": str(made.place), "scene": scene, "scene_hash": made.scene_hash,
             "written": [str(file) for file in made.written], "next": following,
             "externals": [external.to_json() for external in made.externals]}
        )  # fmt: skip
        return Exit.DONE
    out = console()
    begun = "an empty scene" if scene is None else f"the scene of {scene}"
    out.print(Text("new workspace ", style="bold green").append(f"{workspace}: {begun}", style="default"))
    table = Columns(indent=2)
    for file in made.written:
        table.row(str(Path(workspace, file.name)), Text(PURPOSES[file.name], style="dim"))
    if made.written:
        out.print(table)
    say_externals(made.externals)
    out.print(Text("next"))
    for command in following:
        out.print(Text(f"  {command}"))
    return Exit.DONE


def _following(workspace: str) -> list[str]:
    """The next two commands, as they can be typed here."""
    plan = shlex.quote(str(Path(workspace, EXAMPLE)))
    option = "" if workspace == DEFAULT_WORKSPACE else f" --workspace {shlex.quote(workspace)}"
    return [f"blendwright preview {plan}{option}", f"blendwright run {plan}{option} --image scene.png"]
