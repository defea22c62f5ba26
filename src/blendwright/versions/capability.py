"""Registers the capability `versions`."""

from __future__ import annotations

from blendwright.capabilities import Capability, Command

CAPABILITY = Capability(
    name="versions",
    summary="Another Blender: replay a workspace there, move it, compare how a file opens.",
    commands={
        "upgrade": Command(
            "versions.commands",
            "upgrade",
            "Replay the workspace in another Blender beside its own, report where they part, and move it there when you say so.",
        ),
        "compare": Command(
            "versions.commands",
            "compare",
            "Open a file in two Blenders and compare: will the scene survive? Exit code 1 says that it parts.",
        ),
    },
)
