"""Registers the capability `setup`."""

from __future__ import annotations

from blendwright.capabilities import Capability, Command

CAPABILITY = Capability(
    name="setup",
    summary="What this machine has: a check of everything, the hosts, and the Blenders.",
    commands={
        "doctor": Command(
            "setup.commands", "doctor", "Check that Blendwright can work here; says what is missing and how to get it."
        ),
        "init-host": Command("setup.commands", "init_host", "Configure a host to start our server."),
        "blender": Command(
            "setup.commands", "blender_app", "The Blenders that can be used: list, add and remove them."
        ),
    },
    examples={
        "doctor": ("blendwright doctor", "blendwright doctor --host gemini-cli"),
        "init-host": (
            "blendwright init-host claude-desktop",
            "blendwright init-host codex --print          # only show what would be written",
        ),
        "blender": ("blendwright blender list",),
        "blender list": ("blendwright blender list",),
        "blender add": ("blendwright blender add 4.5", "blendwright blender add /usr/bin/blender --name studio"),
        "blender remove": ("blendwright blender remove 4.5",),
    },
)
