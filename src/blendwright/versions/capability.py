"""Registration of the capability `versions`."""

from __future__ import annotations

from blendwright.capabilities import Capability, Command

CAPABILITY = Capability(
    name="versions",
    summary="Another Blender: replay a workspace there, upgrade it, compare how a file opens.",
    commands={
        "upgrade": Command(
            "versions.commands",
            "upgrade",
            "Replay the workspace in another Blender next to the current one, report differences, and move it there if you confirm.",
        ),
        "compare": Command(
            "versions.commands",
            "compare",
            "Open a file in two Blenders and compare the scenes. Exit code 1 means that they differ.",
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
