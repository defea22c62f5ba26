"""The registration of the capability `setup`."""

from __future__ import annotations

from blendwright.capabilities import Capability, Command

CAPABILITY = Capability(
    name="setup",
    summary="Check this machine, configure language-model hosts, and manage Blenders.",
    commands={
        "doctor": Command(
            "setup.commands", "doctor", "Check that Blendwright can work here; prints each problem with its fix."
        ),
        "init-host": Command("setup.commands", "init_host", "Configure a language-model host to start our server."),
        "blender": Command("setup.commands", "blender_app", "List, add and remove the Blenders of this machine."),
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
