"""The program as a user has it: the console script beside this Python, in a directory of its own."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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


class Shell:
    """Runs `blendwright` in a directory."""

    def __init__(self, place: Path) -> None:
        self.place = place

    def __call__(self, *arguments: str, code: int, stdin: bytes = b"") -> Ran:
        done = subprocess.run(
            [PROGRAM, *arguments], cwd=self.place, input=stdin, capture_output=True, timeout=90, check=False
        )
        ran = Ran(done.returncode, done.stdout.decode(), done.stderr.decode())
        assert "Traceback" not in ran.out + ran.err
        assert ran.code == code, (arguments, ran)
        if "--json" in arguments:
            assert ran.document is not None
        return ran


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
