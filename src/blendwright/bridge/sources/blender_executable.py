"""Workers that are Blender executables: a launcher confines each before its first line runs."""

from __future__ import annotations

import os
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from blendwright.bridge.environments.records import environments
from blendwright.bridge.sources.python_environment import START_FILE
from blendwright.bridge.worker_source import ProcessSource
from blendwright.values.errors import EnvironmentUnfit


@dataclass(frozen=True)
class BlenderExecutable(ProcessSource):
    """A Blender that was installed by itself. It brings its own Python, whichever that is, which is given what a worker needs."""

    path: Path

    @classmethod
    def from_text(cls, text: str) -> Self | None:
        path = Path(text).expanduser()
        if path.exists():
            found = None
        else:
            found = shutil.which(text)
        return cls(path if found is None else Path(found))

    def command(self, arguments: list[str]) -> list[str]:
        if not os.access(self.path, os.X_OK) or self.path.is_dir():
            cure = "Give the path of a Blender executable, or a version: `blendwright blender list` shows those that are here."
            raise EnvironmentUnfit(f"{self.path} is not an executable file", cure=cure)
        for python, packages in packages_by_python().items():
            arguments += ["--packages", python, str(packages)]
        # The launcher starts in the scratch, where a relative path would mean another file.
        blender = self.path.absolute()
        arguments += ["--readable", str(blender.resolve().parent)]
        # -P keeps the working directory, where anything may lie, out of sys.path.
        launcher = [sys.executable, "-P", "-m", "blendwright.blender.worker.launch", "--parent", str(os.getpid())]
        return [*launcher, str(blender), str(START_FILE), "--", *arguments]


def packages_by_python() -> dict[str, Path]:
    """By version of Python, where pydantic is for it: compiled packages of one Python cannot be loaded by another.

    Which Python a Blender has only shows inside it, so it is offered all of them.
    """
    import pydantic  # not above: most workers are no executables

    own = ".".join(map(str, sys.version_info[:2]))
    added = [each for each in environments() if each.executable is not None and each.problem() is None]
    return {
        **{each.python.rpartition(".")[0]: each.packages for each in reversed(added)},
        own: Path(pydantic.__file__).resolve().parent.parent,
    }
