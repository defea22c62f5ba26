"""Runs commands of the program in processes of their own that begin in the same moment. Forked: nothing has to be imported again.

Run as a program; a line is JSON: the directory, and a list of argument lists. The answer is a list of [code, out, err].
"""

from __future__ import annotations

import json
import os
import signal
import sys
import tempfile
import time
import traceback
from typing import Any

from blendwright import entry
from blendwright.cli import application
from blendwright.cli.application import load_command
from blendwright.cli.commands import COMMANDS
from blendwright.tools.catalog import tool_classes

SECONDS = 100.0


def serve() -> None:
    for line in sys.stdin:
        place, commands = json.loads(line)
        os.write(1, (json.dumps(_together(place, commands)) + "\n").encode())


def _together(place: str, commands: list[list[str]]) -> list[Any]:
    start, ready = os.pipe()
    children: list[tuple[int, list[Any]]] = []
    for arguments in commands:
        printed = [tempfile.TemporaryFile(), tempfile.TemporaryFile()]  # noqa: SIM115 - until the answer is read
        child = os.fork()
        if child == 0:
            os.close(ready)
            _live(place, arguments, start, [file.fileno() for file in printed])
        children.append((child, printed))
    os.close(start)
    os.close(ready)  # the end of the pipe is the signal for all
    ends = time.monotonic() + SECONDS
    return [[_wait(child, ends), *map(_text, printed)] for child, printed in children]


def _live(place: str, arguments: list[str], start: int, printed: list[int]) -> None:
    code: Any = 1
    try:
        os.dup2(printed[0], 1)
        os.dup2(printed[1], 2)
        os.chdir(place)
        sys.argv = ["blendwright", *arguments]
        os.read(start, 1)
        entry.main()
        code = 0
    except SystemExit as stop:
        code = stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    except BaseException:
        # The outermost place of a child, which must never go on as the server.
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _wait(child: int, ends: float) -> int:
    while True:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() > ends:
            os.kill(child, signal.SIGKILL)
            ends = float("inf")
        time.sleep(0.005)


def _text(file: Any) -> str:
    file.seek(0)
    return file.read().decode()


if __name__ == "__main__":
    assert application.app and tool_classes() and all(map(load_command, COMMANDS))
    serve()
