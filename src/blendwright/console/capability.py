"""The registration of the capability `console`."""

from __future__ import annotations

from blendwright.capabilities import Capability, Command

CAPABILITY = Capability(
    name="console",
    summary="A local web page in which you watch workspaces and batches and act in them.",
    commands={
        "ui": Command(
            "console.commands",
            "ui",
            "Open the console, a page on this machine in which you watch, approve, undo and prove runs and batches.",
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
