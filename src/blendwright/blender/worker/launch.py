"""Becomes a Blender executable, after applying to the process what survives exec: its end with the parent, limits, Landlock.

`python -P -m blendwright.blender.worker.launch --parent PID BLENDER START_FILE -- WORKER ARGUMENTS`.
Runs in our Python, never inside Blender.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from blendwright.blender.confinement import confine_before_exec
from blendwright.blender.worker import entry, lifeline

CANNOT_RUN = 126


def launch(argv: Sequence[str]) -> NoReturn:
    """Replace this process by Blender."""
    split = list(argv).index("--")
    parser = argparse.ArgumentParser(prog="blendwright-launch", allow_abbrev=False)
    parser.add_argument("--parent", type=int, required=True)
    parser.add_argument("blender")
    parser.add_argument("start_file")
    options = parser.parse_args(argv[:split])
    worker = entry.parse(argv[split + 1 :])
    # All of it holds across exec: Blender ends with the core from its first instruction on, and its threads are born confined.
    lifeline.die_with_parent(options.parent)
    if sys.platform == "linux":
        from blendwright.blender.confinement.linux import forbid_new_privileges

        forbid_new_privileges()
    home = confine_before_exec(entry.allowance(worker), Path(options.blender))
    # Without the third, Blender's Python would not look at its environment, and hash texts otherwise in every process.
    flags = ("--background", "--factory-startup", "--python-use-system-env", "--python")
    command = [options.blender, *flags, options.start_file, *argv[split:]]
    if home is not None:
        command += ["--home", str(home)]
    try:
        os.execv(options.blender, command)
    except OSError as error:
        # A script that starts Blender from elsewhere, say: only the directory of what was named may be run.
        sys.stderr.write(
            f"{options.blender} cannot be run confined: {error.strerror}; name the Blender executable itself\n"
        )
        sys.stderr.flush()
        os._exit(CANNOT_RUN)


if __name__ == "__main__":
    launch(sys.argv[1:])
