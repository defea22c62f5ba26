"""Workers that are Pythons with the bpy wheel: the Python of this environment, or of another one."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

import blendwright
from blendwright.bridge.environments.records import PYTHONS
from blendwright.bridge.worker_source import ProcessSource

PACKAGE = Path(blendwright.__file__).resolve().parent
# The file that runs the worker with the core's package, whatever version the other Python has installed.
START_FILE = PACKAGE / "blender" / "worker" / "start.py"


@dataclass(frozen=True)
class PythonEnvironment(ProcessSource):
    """An interpreter whose environment has bpy, numpy and pydantic."""

    python: Path = field(default_factory=lambda: Path(sys.executable))

    @classmethod
    def from_text(cls, text: str) -> Self | None:
        """Return the source for the path of an environment's directory or interpreter; None for another text."""
        path = Path(text).expanduser()
        if path.is_file() and path.name.startswith("python"):
            return cls(path)
        for name in PYTHONS:
            if (path / name).is_file():
                return cls(path / name)
        return None

    def command(self, arguments: list[str]) -> list[str]:
        # Do not resolve the link, because its path identifies the environment. -P keeps the file's directory out of sys.path.
        return [str(self.python.absolute()), "-P", str(START_FILE), "--", *arguments]
