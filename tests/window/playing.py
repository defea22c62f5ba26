"""A window that tests play: a process with Blender's wheel and the real extension, and a person's hands in it.

with PlayedWindow(tmp_path) as window:
    window.do("bpy.data.objects['Cube'].location.x = 3")
    window.undo()
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import IO, Any, Self, cast

import pytest

import blendwright
from blendwright.bridge.environments.series import own_blender, series_named
from blendwright.window.extension_file import extension_files
from support.processes.blender_environments import DATA, use_blender
from window.played_process import ELSEWHERE

ROOT = Path(__file__).resolve().parents[2]
PROCESS = Path(__file__).with_name("played_process.py")
PACKAGE = Path(blendwright.__file__).parent


def copy_extension(directory: Path) -> Path:
    """Build the extension as an importable package, and return its parent directory."""
    package = directory / "blendwright_extension"
    package.mkdir(parents=True, exist_ok=True)
    for name, data in extension_files().items():
        (package / name).write_bytes(data)
    return directory


def python_of(series: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return a Python with a Blender of this series, or skip the test if there is none."""
    use_blender(series, monkeypatch)
    matching_series = series_named(series)
    if matching_series is not None and own_blender() == matching_series.version:
        return sys.executable
    return str(DATA / "blendwright" / "blenders" / series / "bin" / "python")


class PlayedWindow:
    """A Blender that a user has open. `directory` holds its rendezvous, its copy of the extension and its log."""

    def __init__(
        self,
        directory: Path,
        python: str = sys.executable,
        packages: tuple[str, ...] = (),
        user_files: Path | None = None,
        elsewhere: bool = False,
    ) -> None:
        """Prepare a window that `start` opens.

        `user_files` is the directory of Blender's preferences and extensions; without it no extension is installed.
        `elsewhere` removes features that only systems like this one have."""
        self.directory = directory
        self.windows = directory / "windows"
        self._python = python
        self._packages = packages
        self._user_files = user_files
        self._elsewhere = elsewhere
        self._process: subprocess.Popen[str] | None = None
        self.pid = 0

    def start(self) -> Self:
        self.directory.mkdir(parents=True, exist_ok=True)
        extension = copy_extension(self.directory)
        self.windows.mkdir(mode=0o700, exist_ok=True)
        # As a person starts Blender: nothing of the project on its path, but for what the core names.
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        environment["BLENDWRIGHT_WINDOWS"] = str(self.windows)
        if self._user_files is not None:
            environment["BLENDER_USER_RESOURCES"] = str(self._user_files)
        if self._elsewhere:
            environment[ELSEWHERE] = "1"
        with self.log.open("a") as log:
            self._process = subprocess.Popen(
                [self._python, str(PROCESS), str(extension), str(self.windows), str(PACKAGE), *self._packages],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                env=environment,
            )
        self.pid = int(self._answer()["pid"])
        return self

    __enter__ = start

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def log(self) -> Path:
        return self.directory / "blender.log"

    @property
    def note(self) -> dict[str, Any]:
        """The content of this window's rendezvous note."""
        return json.loads((self.windows / f"{self.pid}.json").read_text("utf-8"))

    # ------------------------------------------------------------------ the person's hands

    def do(self, code: str, *, push: bool = True) -> None:
        """Edit by hand: run Python code in Blender, with the undo step that an operator would push."""
        self._deed("do", code=code, push=push)

    def ask(self, expression: str) -> Any:
        """Return the value of a Python expression in the window, converted by JSON."""
        return self._deed("ask", expression=expression)

    def undo(self) -> None:
        """Undo, as Ctrl-Z does."""
        self._deed("undo")

    def redo(self) -> None:
        """Redo, as Ctrl-Shift-Z does."""
        self._deed("redo")

    def mode(self, name: str, mode: str) -> None:
        """Make an object active and change its mode to 'EDIT', 'SCULPT' or 'OBJECT'."""
        self._deed("mode", name=name, mode=mode)

    def save(self, path: Path | None = None) -> None:
        """Save, as Ctrl-S or Save As does."""
        self._deed("save", path="" if path is None else str(path))

    def open(self, path: Path | None = None) -> None:
        """Open a file, or a new one, as Ctrl-N does."""
        self._deed("open", path="" if path is None else str(path))

    def answer_next(self, answer: str) -> None:
        """Press "approve" or "decline" as soon as the sidebar shows an approval."""
        self._deed("answer_next", answer=answer)

    def rest(self, seconds: float) -> float:
        """Do nothing for this many seconds, and return the processor seconds that the window spent meanwhile."""
        return cast("float", self._deed("rest", seconds=seconds))

    def connect(self) -> None:
        self._deed("connect", path=str(self.windows))

    def disconnect(self) -> None:
        self._deed("disconnect")

    def use_extension(self, package: str) -> None:
        """Continue with another copy of the extension, which Blender has installed. From now on its pump is called."""
        self._deed("use_extension", package=package)

    def file(self) -> str:
        """Return the path of the open file; an empty string before the first save."""
        return cast("str", self.ask("bpy.data.filepath"))

    def fingerprint(self) -> str:
        """Return the full scene hash of the window."""
        return cast("str", self._deed("fingerprint"))

    # ------------------------------------------------------------------ the process

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def kill(self) -> None:
        """Kill the process, as `kill -9` does."""
        assert self._process is not None
        self._process.kill()
        self._process.communicate()
        self._process = None

    def stop(self) -> None:
        """Close the window without saving."""
        if self._process is None:
            return
        for pipe in (self._process.stdin, self._process.stdout):
            cast("IO[str]", pipe).close()
        try:
            self._process.wait(60)
        except subprocess.TimeoutExpired:
            self.kill()
        self._process = None

    def _deed(self, deed: str, **options: Any) -> Any:
        assert self._process is not None and self._process.stdin is not None
        self._process.stdin.write(json.dumps({"deed": deed, **options}) + "\n")
        self._process.stdin.flush()
        answer = self._answer()
        if "error" in answer:
            raise AssertionError(f"{deed} failed in the window: {answer['error']}")
        return answer["answer"]

    def _answer(self) -> dict[str, Any]:
        assert self._process is not None and self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise AssertionError(f"the window has ended: {self.log.read_text(errors='replace')[-2000:]}")
        return json.loads(line)
