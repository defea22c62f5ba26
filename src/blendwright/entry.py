"""The entry point of the command `blendwright`.

If a command runs something, Blender starts while the rest of the program loads. `--version` loads no other module.
"""

from __future__ import annotations

import os
import sys

from blendwright import __version__


def main() -> None:
    """Run the command line of this process."""
    arguments = sys.argv[1:]
    if arguments == ["--version"] and _print_version():
        return

    # `--version` does not need this module, so the import is not at the top.
    from blendwright.util.interrupts import hold_interrupts

    # A plugin of pydantic could come from any package in the environment, so pydantic must load none.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    hold_interrupts()
    from blendwright.workspace.early_blender import blender_started

    with blender_started(arguments):
        _run()


def _print_version() -> bool:
    """Print the version and return True. Return False if standard output fails; the full program then reports the error."""
    try:
        sys.stdout.write(f"blendwright {__version__}\n")
        sys.stdout.flush()
    except (OSError, ValueError, AttributeError):  # full, closed, or None
        return False
    return True


def _run() -> None:
    from blendwright.cli.main import main as run

    run()
