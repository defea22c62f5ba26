"""A bare Blender that executes what it is sent, as the other side of the comparison; it also reads scenes for the checks.

As a program it answers lines of JSON: `{"code": …}` is executed, what it printed is the answer; `{"open": FILE}` opens a file;
`{"facts": true}` tells what the scene is.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
import traceback
from pathlib import Path
from typing import Any

from bench.trial.recorder import ENVIRONMENT, Call, json_bytes


class BareBlender:
    """A Blender of its own process that keeps what was defined from call to call."""

    FIRST_TEXT = "exec {code}: executes Python in Blender; answers what it printed, or the traceback."

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._opened: Path | None = None
        self._process = self._start()

    def _start(self) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "bench.trial.bare_blender"]
        return subprocess.Popen(
            command, cwd=self._directory, env=ENVIRONMENT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def call(self, code: str) -> Call:
        """Execute code. Counted like calls of a server: what is sent as arguments, what comes back as text."""
        look = self._directory / "look.png"
        look.unlink(missing_ok=True)
        try:
            answer: dict[str, Any] = self._ask({"code": code})
        except EOFError as error:
            # As a person would: start it again, with the file that was open.
            self.close()
            self._process = self._start()
            if self._opened is not None:
                self.open(self._opened)
            answer = {"printed": f"{error}; what was not saved is lost\n", "failed": True}
        printed: str = answer["printed"]
        arguments = {"code": code}
        return Call(
            tool="exec",
            arguments=arguments,
            failed=answer["failed"],
            sent=json_bytes({"name": "exec", "arguments": arguments}),
            received=len(printed.encode()),
            wire=json_bytes(printed),
            picture_bytes=look.stat().st_size if look.exists() else 0,
            answer=printed,
        )

    def facts(self, file: Path | None = None) -> dict[str, Any]:
        """What the scene is, or that of a .blend file."""
        if file is not None:
            self.open(file)
        return self._ask({"facts": True})

    def open(self, file: Path) -> None:
        """Open a .blend file, before a trial or after it."""
        self._opened = file
        self._ask({"open": str(file.resolve())})

    def close(self) -> None:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(60)
        self._process.stdout.close()

    def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise EOFError("Blender has ended")
        return json.loads(line)


def _answer(request: dict[str, Any], names: dict[str, Any]) -> dict[str, Any]:
    from bench.trial.scene_facts import scene_facts

    if "facts" in request:
        return scene_facts()
    if "open" in request:
        import bpy

        blender: Any = bpy
        blender.ops.wm.open_mainfile(filepath=request["open"])
        return {}
    printed = io.StringIO()
    failed = False
    with contextlib.redirect_stdout(printed):
        try:
            exec(request["code"], names)
        except Exception as error:
            failed = True
            # Without the line of this file that executes the code.
            own = error.__traceback__.tb_next if error.__traceback__ else None
            printed.write("".join(traceback.format_exception(type(error), error, own)))
    return {"printed": printed.getvalue(), "failed": failed}


def main() -> None:
    # Blender itself writes to the standard output, which is for answers here.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    names: dict[str, Any] = {}
    for line in sys.stdin:
        answers.write(json.dumps(_answer(json.loads(line), names)) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
