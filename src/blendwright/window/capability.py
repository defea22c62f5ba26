"""The declaration of the capability `window`: its commands, examples and offers."""

from __future__ import annotations

from blendwright.capabilities import Capability, Command

CAPABILITY = Capability(
    name="window",
    summary="A Blender that a person has open, as the scene of a workspace.",
    commands={
        "attach": Command(
            "window.commands.attach",
            "attach",
            "Work in an open Blender: bind the workspace to its window, whose scene becomes the current scene.",
        ),
        "detach": Command(
            "window.commands.attach",
            "detach",
            "Detach the workspace from the window: it continues without a window, with the scene of its last commit.",
        ),
        "extension": Command(
            "window.commands.extension",
            "extension",
            "Write the extension for a Blender that you have open: one file for Blender 4.2 to 5.2 on every system.",
        ),
    },
    examples={
        "attach": ("blendwright attach --list", "blendwright attach", "blendwright attach 4711 --restore"),
        "detach": ("blendwright detach",),
        "extension": ("blendwright extension", "blendwright extension --output window.zip"),
    },
    offers={"scene_host": "window.hosting"},
)
