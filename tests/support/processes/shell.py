"""The program in a directory of its own: its entry in this process, or the console script beside this Python."""

from __future__ import annotations

import io
import json
import os
import pty
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from blendwright import entry

# Commands that tell programs of their progress.
IN_LINES = {("batch", "run"), ("batch", "retry")}
PROGRAM = Path(sys.executable).with_name("blendwright")


@dataclass(frozen=True)
class Ran:
    """What a command left: its exit code, and what it printed."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """Standard output as exactly one JSON document."""
        return json.loads(self.out)

    @property
    def lines(self) -> list[Any]:
        """Standard output as one JSON document in each line."""
        return [json.loads(line) for line in self.out.splitlines()]


class Shell:
    """Runs `blendwright` in a directory: in this process, which has loaded it already, or as the program that a user has."""

    def __init__(self, place: Path) -> None:
        self.place = place

    def __call__(self, *arguments: str, code: int, stdin: bytes = b"") -> Ran:
        return self._checked(_in_this_process(self.place, arguments, stdin), arguments, code)

    def program(self, *arguments: str, code: int, stdin: bytes = b"") -> Ran:
        done = subprocess.run(
            [PROGRAM, *arguments], cwd=self.place, input=stdin, capture_output=True, timeout=90, check=False
        )
        return self._checked(Ran(done.returncode, done.stdout.decode(), done.stderr.decode()), arguments, code)

    def _checked(self, ran: Ran, arguments: tuple[str, ...], code: int) -> Ran:
        assert "Traceback" not in ran.out + ran.err
        assert ran.code == code, (arguments, ran)
        if arguments[:2] in IN_LINES and "--json" in arguments:
            assert ran.lines
        elif "--json" in arguments:
            assert ran.document is not None
        return ran


def _in_this_process(place: Path, arguments: tuple[str, ...], stdin: bytes) -> Ran:
    """The same entry with the same streams of bytes; what a command leaves in this process is put back."""
    out, err = io.BytesIO(), io.BytesIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        before = dict(os.environ)
        patch.setattr(sys, "argv", [str(PROGRAM), *arguments])
        patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8"))
        patch.setattr(sys, "stdout", io.TextIOWrapper(out, encoding="utf-8", write_through=True))
        patch.setattr(sys, "stderr", io.TextIOWrapper(err, encoding="utf-8", write_through=True))
        try:
            entry.main()
            code = 0
        except SystemExit as stop:
            code = stop.code if isinstance(stop.code, int) else int(stop.code is not None)
        finally:
            os.environ.clear()
            os.environ.update(before)
        return Ran(int(code), out.getvalue().decode(), err.getvalue().decode())


def at_a_terminal(place: Path, answers: str, *arguments: str) -> tuple[int, str]:
    """The program with a terminal as standard input and error; everything that it showed there."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [PROGRAM, *arguments], cwd=place, stdin=theirs, stderr=theirs, stdout=subprocess.PIPE, start_new_session=True
    )
    os.close(theirs)
    os.write(ours, answers.encode())
    shown = b""
    try:
        while part := os.read(ours, 4096):
            shown += part
    except OSError:
        pass  # how a terminal says that nobody is on the other side any more
    os.close(ours)
    out, _ = process.communicate(timeout=90)
    return process.returncode, shown.decode(errors="replace") + out.decode()
