"""A launcher that replaces itself by a Blender executable, after applying the restrictions that survive exec.

These are the end with the parent process, resource limits and Landlock.
`python -P -m blendwright.blender.worker.launch --parent PID BLENDER START_FILE -- WORKER ARGUMENTS`.
It runs in Blendwright's Python, never inside Blender.
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
    """Replace this process by Blender. Exit with CANNOT_RUN if that is impossible."""
    separator = list(argv).index("--")
    parser = argparse.ArgumentParser(prog="blendwright-launch", allow_abbrev=False)
    parser.add_argument("--parent", type=int, required=True)
    parser.add_argument("blender")
    parser.add_argument("start_file")
    options = parser.parse_args(argv[:separator])
    worker = entry.parse(argv[separator + 1 :])
    # These restrictions survive exec. Blender ends with the core from its first instruction on, and its threads start confined.
    lifeline.die_with_parent(options.parent)
    if sys.platform == "linux":
        from blendwright.blender.confinement.linux import forbid_new_privileges

        forbid_new_privileges()
    home = confine_before_exec(entry.allowance(worker), Path(options.blender))
    # Without `--python-use-system-env`, Blender's Python would ignore its environment and hash strings differently per process.
    flags = ("--background", "--factory-startup", "--python-use-system-env", "--python")
    command = [options.blender, *flags, options.start_file, *argv[separator:]]
    if home is not None:
        command += ["--home", str(home)]
    try:
        os.execv(options.blender, command)
    except OSError as error:
        # For example, the path names a script that starts Blender elsewhere. Only files in the path's directory may run.
        sys.stderr.write(
            f"{options.blender} cannot run confined: {error.strerror}; name the Blender executable itself\n"
        )
        sys.stderr.flush()
        os._exit(CANNOT_RUN)


if __name__ == "__main__":
    launch(sys.argv[1:])
