"""Registers the capability `console`."""

from __future__ import annotations

from blendwright.capabilities import Capability, Command

CAPABILITY = Capability(
    name="console",
    summary="The page in which workspaces and batches are watched and acted in.",
    commands={
        "ui": Command(
            "console.commands",
            "ui",
            "Open the console: a page on this machine in which runs and batches are watched, approved, undone and proven.",
        ),
    },
    offers={"server.companion": "console.commands:with_console"},
    needs=(
        "history",
        "proofs",
    ),
    examples={
        "ui": ("blendwright ui", "blendwright ui shop --read-only --no-open", "blendwright ui --engine env"),
    },
)
