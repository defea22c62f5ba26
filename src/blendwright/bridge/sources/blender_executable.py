"""Workers that are Blender executables: a launcher confines each before its first line runs."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import pydantic

import blendwright
from blendwright.bridge.sources.python_environment import RUN_MODULE
from blendwright.bridge.worker_source import ProcessSource
from blendwright.values.errors import EnvironmentUnfit

PACKAGE = Path(blendwright.__file__).resolve().parent


@dataclass(frozen=True)
class BlenderExecutable(ProcessSource):
    """A Blender that was installed by itself. It brings its own Python, which is given our packages."""

    path: Path

    @classmethod
    def from_text(cls, text: str) -> Self | None:
        return cls(Path(text))

    def command(self, arguments: list[str]) -> list[str]:
        if not os.access(self.path, os.X_OK):
            raise EnvironmentUnfit(
                f"{self.path} is not an executable file", cure="give the path of a Blender executable"
            )
        for root in dict.fromkeys((PACKAGE.parent, Path(pydantic.__file__).resolve().parent.parent)):
            arguments += ["--import-root", str(root)]
        # The launcher starts in the scratch, where a relative path would mean another file.
        blender = self.path.absolute()
        arguments += ["--readable", str(blender.resolve().parent)]
        launcher = [sys.executable, *RUN_MODULE, "blendwright.blender.worker.launch", "--parent", str(os.getpid())]
        start_file = PACKAGE / "blender" / "worker" / "start.py"
        return [*launcher, str(blender), str(start_file), "--", *arguments]
