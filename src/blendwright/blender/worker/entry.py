"""The life of a worker process: tie to the parent, confine, load Blender, serve, end.

The order is essential. No part of Blender may be imported before the process is confined.
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
    """Run one worker. This function never returns."""
    code = START_FAILED
    try:
        code = _serve(parse(argv))
    except Exception:
        # This is the outermost code of a worker. The core reads the reason from the log.
        logger.exception("the worker failed")
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        # Skip Blender's teardown: it is slow, may crash in the wheel, and saves nothing of value.
        os._exit(code)


def _serve(options: argparse.Namespace) -> int:
    """Run the worker until the conversation ends, and return its exit code."""
    _ignore_interrupts()
    lifeline.die_with_parent(options.parent)
    for fd in (options.read_fd, options.write_fd):
        os.set_inheritable(fd, False)

    # Landlock and seccomp apply to the calling thread and to threads that it starts later. Importing bpy starts threads.
    confinement = confine(allowance(options))
    if options.lifeline_fd is not None:
        lifeline.watch(options.lifeline_fd)

    load_late()
    importlib.import_module("bpy")
    # Blender in background mode installs a handler for Ctrl-C.
    _ignore_interrupts()

    from blendwright.blender.worker import handlers

    methods = handlers.build(options.scratch, confinement)
    # A large scene has hundreds of thousands of live Python objects and hardly any cycles. Repeated collections over all of
    # them took more time than the steps.
    gc.freeze()
    gc.set_threshold(200_000, 20, 20)
    gc.enable()
    return Loop(options.read_fd, options.write_fd, methods).run()


def _ignore_interrupts() -> None:
    """Ignore Ctrl-C. A terminal sends it to every process of the group, and only the core decides about it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def parse(argv: Sequence[str]) -> argparse.Namespace:
    """Return the parsed arguments of a worker."""
    parser = argparse.ArgumentParser(prog="blendwright-worker", allow_abbrev=False)
    parser.add_argument("--read-fd", type=int, required=True)
    parser.add_argument("--write-fd", type=int, required=True)
    parser.add_argument("--scratch", type=Path, required=True)
    parser.add_argument("--parent", type=int, required=True, help="the process to end with")
    parser.add_argument(
        "--lifeline-fd", type=int, help="a pipe whose end stops the worker, if the kernel has no death signal"
    )
    parser.add_argument(
        "--readable", type=Path, action="append", default=[], help="a further directory that may be read"
    )
    parser.add_argument("--readable-file", nargs=3, action="append", default=[], metavar=("PATH", "DEVICE", "INODE"))
    parser.add_argument("--memory-mb", type=int, default=16_384, help="limit of the address space in megabytes")
    parser.add_argument("--file-mb", type=int, default=4096, help="maximum size of a file in megabytes")
    parser.add_argument("--home", type=Path, help="the user's home, if a launcher knows it")
    parser.add_argument(
        "--packages",
        nargs=2,
        action="append",
        default=[],
        metavar=("PYTHON", "DIR"),
        help="packages for a Python version; see start.py",
    )
    return parser.parse_args(argv)


def allowance(options: argparse.Namespace) -> Allowance:
    """Return the access that the arguments of a worker permit."""
    package_directories = [Path(directory) for _, directory in options.packages]
    return Allowance(
        options.scratch,
        # An extension is a single file, which is as valid here as a directory.
        readable=[*package_directories, *options.readable, *extension_files()],
        files=[(Path(path), (int(device), int(inode))) for path, device, inode in options.readable_file],
        address_space=options.memory_mb << 20,
        file_size=options.file_mb << 20,
        home=options.home,
    )
