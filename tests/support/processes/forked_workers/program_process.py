"""The template of programs: a process that has loaded the whole core, and Blender for the workers of its programs.

`python -P program_process.py FD`, as `template_process.py`. A program that is forked off forks a template of workers first, while it has
one thread; what the program then does with Blender, it does over the wire.
"""

from __future__ import annotations

import contextlib
import fcntl
import importlib
import os
import pkgutil
import random
import runpy
import signal
import socket
import sys
import threading
import time
import traceback
from pathlib import Path
from typing import Any, NoReturn

sys.path.append(str(Path(__file__).parents[3]))
from support.processes.forked_workers import template_process
from support.processes.forked_workers.template import ForkedWorkers, Template

sys.path.pop()


def load() -> None:
    template_process.load()

    import blendwright.server
    from blendwright.cli import application
    from blendwright.cli.application import load_command
    from blendwright.cli.commands import COMMANDS

    assert application.app and all(map(load_command, COMMANDS))
    for module in pkgutil.iter_modules(blendwright.server.__path__, "blendwright.server."):
        importlib.import_module(module.name)


def become_program(request: dict[str, Any], descriptors: list[int]) -> NoReturn:
    """What happens between fork and exec, and what a new interpreter would find; then the program as it always is."""
    code: Any = 1
    try:
        control, child = _fork_template(request["added"], descriptors)
        workers = ForkedWorkers(template=Template(control, child, Path.cwd()))
        if request["session"]:
            os.setsid()
        _place_streams(descriptors, but=control.fileno())
        _forget_what_was_read(request)

        from blendwright.bridge import spawn

        spawn.start_process = workers.start
        code = _run(request["arguments"])
    except BaseException:
        os.write(2, traceback.format_exc().encode())
    finally:
        os._exit(code)


def _fork_template(added: dict[str, str], descriptors: list[int]) -> tuple[socket.socket, int]:
    """A process that forks the workers of this one and ends with it: the socket for asking it, and its pid."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    child = os.fork()
    if child == 0:
        try:
            os.setsid()
            ours.close()
            for descriptor in descriptors:
                os.close(descriptor)
            template_process.serve(theirs, added, template_process.become_worker)
        finally:
            os._exit(0)
    theirs.close()
    return ours, child


def _place_streams(descriptors: list[int], but: int) -> None:
    """Standard input, output and error, and no other descriptor but one."""
    free = [fcntl.fcntl(each, fcntl.F_DUPFD, 3) for each in descriptors]
    for number, descriptor in enumerate(free):
        os.dup2(descriptor, number)
    for descriptor in [int(each.name) for each in Path("/proc/self/fd").iterdir()]:
        if descriptor not in (0, 1, 2, but):
            with contextlib.suppress(OSError):  # the one that the listing was read from
                os.close(descriptor)
    line = {number: 1 if os.isatty(number) else -1 for number in (0, 1)}
    sys.stdin = sys.__stdin__ = open(0, buffering=line[0], encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stdout = sys.__stdout__ = open(1, "w", buffering=line[1], encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = sys.__stderr__ = open(  # noqa: SIM115
        2, "w", buffering=1, encoding="utf-8", errors="backslashreplace", closefd=False
    )


def _forget_what_was_read(request: dict[str, Any]) -> None:
    """What was taken from the environment, from the start of the process or from chance when modules were loaded."""
    from blendwright.util import crash_points

    os.chdir(request["directory"])
    os.environ.clear()
    os.environ.update(request["environment"])
    time.tzset()
    random.seed()
    template_process.tempfile.tempdir = None
    crash_points.arm(os.environ.get(crash_points.VARIABLE, ""))
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.argv = request["arguments"]


def _run(arguments: list[str]) -> int:
    from blendwright import entry

    try:
        if arguments[0].endswith(".py"):
            runpy.run_path(arguments[0], run_name="__main__")
        else:
            entry.main()
        code: Any = 0
    except SystemExit as stop:
        code = stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    # As an interpreter that ends, but for what Blender would take down.
    shutdown: Any = threading
    shutdown._shutdown()
    sys.stdout.flush()
    sys.stderr.flush()
    return int(code)


if __name__ == "__main__":
    template_process.main(int(sys.argv[1]), load, become_program)
