"""The life of a worker process, from its first line to its last: tie to the parent, confine, load Blender, serve, end.

The order is the point of this module: nothing of Blender may be imported before the process is confined.
"""

import argparse
import gc
import importlib
import logging
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from blendwright.blender.confinement import Allowance, confine
from blendwright.blender.worker import lifeline
from blendwright.blender.worker.extensions import extension_files
from blendwright.blender.worker.late_imports import load_late
from blendwright.blender.worker.loop import Loop

START_FAILED = 1

logger = logging.getLogger(__name__)


def main(argv: Sequence[str]) -> NoReturn:
    """Run one worker; never returns."""
    code = START_FAILED
    try:
        code = _serve(parse(argv))
    except Exception:
        # The outermost place of a worker: the core reads the reason from the log.
        logger.exception("the worker failed")
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        # Blender's own teardown is slow and may crash in the wheel; nothing in a worker's memory is worth it.
        os._exit(code)


def _serve(options: argparse.Namespace) -> int:
    _ignore_interrupts()
    lifeline.die_with_parent(options.parent)
    for fd in (options.read_fd, options.write_fd):
        os.set_inheritable(fd, False)

    # Landlock and seccomp hold the thread that asks and those it starts later, and bpy starts threads when it is imported.
    confinement = confine(allowance(options))
    if options.lifeline_fd is not None:
        lifeline.watch(options.lifeline_fd)

    load_late()
    importlib.import_module("bpy")
    # Blender in the background installs a handler of its own for Ctrl-C.
    _ignore_interrupts()

    from blendwright.blender.worker import handlers

    methods = handlers.build(options.scratch, confinement)
    # A large scene means hundreds of thousands of live Python objects and hardly any cycles: looking through all of them
    # again and again took more time than the steps themselves.
    gc.freeze()
    gc.set_threshold(200_000, 20, 20)
    gc.enable()
    return Loop(options.read_fd, options.write_fd, methods).run()


def _ignore_interrupts() -> None:
    """A terminal sends Ctrl-C to everyone; what it means is for the core to decide."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def parse(argv: Sequence[str]) -> argparse.Namespace:
    """The arguments of a worker."""
    parser = argparse.ArgumentParser(prog="blendwright-worker", allow_abbrev=False)
    parser.add_argument("--read-fd", type=int, required=True)
    parser.add_argument("--write-fd", type=int, required=True)
    parser.add_argument("--scratch", type=Path, required=True)
    parser.add_argument("--parent", type=int, required=True, help="the process to end with")
    parser.add_argument("--lifeline-fd", type=int, help="a pipe to wait on, where the kernel has no death signal")
    parser.add_argument("--readable", type=Path, action="append", default=[], help="what may be read besides the usual")
    parser.add_argument("--readable-file", nargs=3, action="append", default=[], metavar=("PATH", "DEVICE", "INODE"))
    parser.add_argument("--memory-mb", type=int, default=16_384, help="address space")
    parser.add_argument("--file-mb", type=int, default=4096, help="the largest file")
    parser.add_argument("--home", type=Path, help="the user's home, when a launcher knows it")
    parser.add_argument(
        "--packages", nargs=2, action="append", default=[], metavar=("PYTHON", "DIR"), help="see start.py"
    )
    return parser.parse_args(argv)


def allowance(options: argparse.Namespace) -> Allowance:
    """What the arguments of a worker allow it."""
    return Allowance(
        options.scratch,
        # Extensions are files, which will do as well.
        readable=[*(Path(place) for _, place in options.packages), *options.readable, *extension_files()],
        files=[(Path(path), (int(device), int(inode))) for path, device, inode in options.readable_file],
        address_space=options.memory_mb << 20,
        file_size=options.file_mb << 20,
        home=options.home,
    )
