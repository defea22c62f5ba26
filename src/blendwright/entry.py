"""The way in: `blendwright …` on a command line.

A command that runs something has Blender started while the rest of the program loads. The version needs nothing else at all.
"""

from __future__ import annotations

import os
import sys

from blendwright import __version__


def main() -> None:
    arguments = sys.argv[1:]
    if arguments == ["--version"] and _printed(f"blendwright {__version__}\n"):
        return
    from blendwright.util.interrupts import hold_interrupts  # not at the top: `--version` needs nothing of it

    # Plugins of pydantic would be code of any package in the environment.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    hold_interrupts()
    from blendwright.workspace.early_blender import blender_started

    with blender_started(arguments):
        _run()


def _printed(line: str) -> bool:
    """Whether standard output took it; what to say otherwise is for the program itself to know."""
    try:
        sys.stdout.write(line)
        sys.stdout.flush()
    except (OSError, ValueError, AttributeError):  # full, closed, or not there at all
        return False
    return True


def _run() -> None:
    from blendwright.cli.main import main as run

    run()
