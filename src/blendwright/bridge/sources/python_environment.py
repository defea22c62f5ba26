"""Workers that are Pythons with the bpy wheel: that of this environment, or of another one."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

import blendwright
from blendwright.bridge.environments.records import PYTHONS
from blendwright.bridge.worker_source import ProcessSource

PACKAGE = Path(blendwright.__file__).resolve().parent
# Runs the worker with the very package that the core runs, whatever the other Python has installed.
START_FILE = PACKAGE / "blender" / "worker" / "start.py"


@dataclass(frozen=True)
class PythonEnvironment(ProcessSource):
    """An interpreter whose environment has bpy, numpy and pydantic."""

    python: Path = field(default_factory=lambda: Path(sys.executable))

    @classmethod
    def from_text(cls, text: str) -> Self | None:
        """A directory that is an environment, or its interpreter."""
        path = Path(text).expanduser()
        if path.is_file() and path.name.startswith("python"):
            return cls(path)
        return next((cls(path / name) for name in PYTHONS if (path / name).is_file()), None)

    def command(self, arguments: list[str]) -> list[str]:
        # Not resolved: the link in an environment is what makes it one. -P keeps the file's own directory out of sys.path.
        return [str(self.python.absolute()), "-P", str(START_FILE), "--", *arguments]
