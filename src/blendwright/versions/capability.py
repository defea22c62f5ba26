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
    examples={
        "upgrade": (
            "blendwright upgrade --blender 5.2            # only the report",
            "blendwright upgrade --blender 5.2 --yes --report report",
        ),
        "compare": ("blendwright compare shop.blend --blender 4.5 --blender 5.2",),
    },
)
