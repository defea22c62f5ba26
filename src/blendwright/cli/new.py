"""blendwright new: a workspace to start with, and what to do next."""

from __future__ import annotations

import shlex
from pathlib import Path

from blendwright.app.opening import DEFAULT_WORKSPACE
from blendwright.app.policy_files import FILE as POLICY
from blendwright.app.workspaces import EXAMPLE, create_workspace
from blendwright.cli.options import AsJson, Blender, Scene, Workspace
from blendwright.cli.output import note_external_files, present
from blendwright.cli.safe_console import SafeConsole

PURPOSES = {POLICY: "what calls may do here; everything is at its default", EXAMPLE: "a plan to try"}


def new(
    workspace: Workspace = DEFAULT_WORKSPACE, scene: Scene = None, blender: Blender = None, json: AsJson = False
) -> int:
    """Start a workspace with an empty scene or a copy of a .blend file, a policy to edit and a plan to try."""
    made = create_workspace(workspace, scene=scene, blender=blender)
    following = _next_commands(workspace)
    document = {
        "ok": True, "workspace": str(made.directory), "scene": scene, "scene_hash": made.scene_hash,
        "written": [str(file) for file in made.written], "next": following,
        "externals": [external.to_json() for external in made.externals],
    }  # fmt: skip

    def show(out: SafeConsole) -> None:
        origin = "an empty scene" if scene is None else f"the scene of {scene}"
        out.labelled("new workspace", f"{workspace}: {origin}", "bold green")
        if made.written:
            rows = [(str(Path(workspace, file.name)), (PURPOSES[file.name], "dim")) for file in made.written]
            out.columns(rows, indent=2)
        note_external_files(made.findings)
        out.show("next")
        for command in following:
            out.show(f"  {command}")

    return present(json, lambda: document, show)


def _next_commands(workspace: str) -> list[str]:
    """The next two commands, as they can be typed here."""
    plan = shlex.quote(str(Path(workspace, EXAMPLE)))
    option = "" if workspace == DEFAULT_WORKSPACE else f" --workspace {shlex.quote(workspace)}"
    return [f"blendwright preview {plan}{option}", f"blendwright run {plan}{option} --image scene.png"]
