"""Workers that are Blender executables. A launcher confines each one before its first line runs."""

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
    """A Blender executable from its installer. Its bundled Python gets the packages that a worker needs."""

    path: Path

    @classmethod
    def from_text(cls, text: str) -> Self | None:
        path = Path(text).expanduser()
        if not path.exists():
            program = shutil.which(text)
            if program is not None:
                path = Path(program)
        return cls(path)

    def command(self, arguments: list[str]) -> list[str]:
        if not os.access(self.path, os.X_OK) or self.path.is_dir():
            cure = "Give the path of a Blender executable, or a version. `blendwright blender list` shows the available versions."
            raise EnvironmentUnfit(f"{self.path} is not an executable file", cure=cure)
        for python, packages in packages_by_python().items():
            arguments += ["--packages", python, str(packages)]
        # The launcher starts in the scratch directory, where a relative path would name another file.
        blender = self.path.absolute()
        arguments += ["--readable", str(blender.resolve().parent)]
        # -P keeps the working directory with its unknown files out of sys.path.
        launcher = [sys.executable, "-P", "-m", "blendwright.blender.worker.launch", "--parent", str(os.getpid())]
        return [*launcher, str(blender), str(START_FILE), "--", *arguments]


def packages_by_python() -> dict[str, Path]:
    """Return the directory of pydantic by Python version. Compiled packages work only with one Python version.

    Only Blender itself knows its Python version, so it gets all of them.
    """
    import pydantic  # local, because most workers are not executables

    packages: dict[str, Path] = {}
    for environment in reversed(environments()):
        if environment.executable is not None and environment.problem() is None:
            packages[environment.python.rpartition(".")[0]] = environment.packages
    own_version = ".".join(map(str, sys.version_info[:2]))
    packages[own_version] = Path(pydantic.__file__).resolve().parent.parent
    return packages
