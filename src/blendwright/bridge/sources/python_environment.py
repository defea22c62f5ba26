"""Workers that are Pythons with the bpy wheel: that of this environment, or of another one that has blendwright too."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from blendwright.bridge.worker_source import ProcessSource

# -P keeps the working directory, where anything may lie, out of sys.path.
RUN_MODULE = ("-P", "-m")
INTERPRETERS = ("bin/python", "Scripts/python.exe")


@dataclass(frozen=True)
class PythonEnvironment(ProcessSource):
    """An interpreter whose environment has bpy, numpy, pydantic and the same blendwright."""

    python: Path = field(default_factory=lambda: Path(sys.executable))

    @classmethod
    def from_text(cls, text: str) -> Self | None:
        """A directory that is an environment, or its interpreter."""
        path = Path(text).expanduser()
        if path.is_file() and path.name.startswith("python"):
            return cls(path)
        return next((cls(path / name) for name in INTERPRETERS if (path / name).is_file()), None)

    def command(self, arguments: list[str]) -> list[str]:
        # Not resolved: the link in an environment is what makes it one.
        return [str(self.python.absolute()), *RUN_MODULE, "blendwright.blender.worker", *arguments]
