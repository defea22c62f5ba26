"""Becomes a Blender executable, after applying to the process what survives exec.

`python -m blendwright.blender.worker.launch --parent PID BLENDER START_FILE -- WORKER ARGUMENTS`. Runs in our Python, never inside Blender.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from blendwright.blender.worker import lifeline


def launch(argv: Sequence[str]) -> NoReturn:
    """Replace this process by Blender."""
    split = list(argv).index("--")
    parser = argparse.ArgumentParser(prog="blendwright-launch", allow_abbrev=False)
    parser.add_argument("--parent", type=int, required=True)
    parser.add_argument("blender")
    parser.add_argument("start_file")
    options = parser.parse_args(argv[:split])
    # Both hold across exec: Blender ends with the core from its first instruction on, and gains no privileges.
    lifeline.die_with_parent(options.parent)
    lifeline.forbid_new_privileges()
    command = [options.blender, "--background", "--factory-startup", "--python", options.start_file, *argv[split:]]
    os.execv(options.blender, command)


if __name__ == "__main__":
    launch(sys.argv[1:])
