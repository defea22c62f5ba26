"""The user's environments: their paths and their records. This module only reads; `making.py` creates and removes them."""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, cast

from blendwright.bridge.environments.series import series_named
from blendwright.values.errors import EnvironmentUnfit

RECORD = "environment.json"
# Valid names of environments. They are also directory names, so they must not contain separators or start with a dot.
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
PYTHONS = ("bin/python", "Scripts/python.exe")
PACKAGES = "packages"


@dataclass(frozen=True, slots=True)
class Environment:
    """A Blender that the user has added: an environment with the bpy wheel, or packages for an installed executable."""

    name: str
    blender: str
    """The version that Blender reports."""
    python: str
    lock: str
    """The hash of the pinned requirements that were installed."""
    executable: str | None = None
    """The path of the installed Blender; None if the environment has the wheel."""
    directory: Path = Path()

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "directory": str(self.directory)}

    @property
    def interpreter(self) -> Path:
        """The path of the environment's Python."""
        for name in PYTHONS:
            path = self.directory / name
            if path.is_file():
                return path
        return self.directory / PYTHONS[0]

    @property
    def packages(self) -> Path:
        """The directory of packages that an executable's Python lacks."""
        return self.directory / PACKAGES

    def problem(self) -> str | None:
        """Return why the environment is not usable, as far as files show; None if it is usable."""
        if self.executable is not None:
            if not os.access(self.executable, os.X_OK):
                return f"{self.executable} cannot be run any more"
            if not self.packages.is_dir():
                return "its packages are missing"
            return None
        # `is_file` is false for a link to a deleted Python.
        if not self.interpreter.is_file():
            return f"its Python {self.python} is missing"
        return None

    @property
    def outdated(self) -> bool:
        """True if the current pinned requirements differ from the requirements of this environment."""
        series = series_named(self.name)
        return self.executable is None and series is not None and digest(series.requirements) != self.lock

    @property
    def rank(self) -> tuple[int, ...]:
        """The numbers of the Blender version, for sorting."""
        return tuple(map(int, re.findall(r"\d+", self.blender)[:3]))


def digest(requirements: str) -> str:
    """Return the hash of pinned requirements."""
    return hashlib.sha256(requirements.encode()).hexdigest()


def blenders_directory() -> Path:
    """Return the directory of the user's environments, which may not exist. Raise EnvironmentUnfit for a user without a home."""
    if root := os.environ.get("XDG_DATA_HOME"):
        return Path(root) / "blendwright" / "blenders"
    try:
        home = Path.home()
    except RuntimeError as error:
        raise EnvironmentUnfit("this user has no home directory", cure="Set HOME or XDG_DATA_HOME to one.") from error
    if sys.platform == "win32":
        data = Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local")
    elif sys.platform == "darwin":
        data = home / "Library" / "Application Support"
    else:
        data = home / ".local" / "share"
    return data / "blendwright" / "blenders"


def environments() -> list[Environment]:
    """Return the user's environments, the newest Blender first. An unfinished one has no record and is left out."""
    try:
        folders = list(blenders_directory().iterdir())
    except (OSError, EnvironmentUnfit):
        return []
    return sorted(_recorded(folders), key=lambda environment: (environment.rank, environment.name), reverse=True)


def environment_named(name: str) -> Environment | None:
    """Return the environment with this name, otherwise one with this exact Blender version; None without one."""
    candidates = environments()
    for environment in candidates:
        if environment.name == name:
            return environment
    for environment in candidates:
        if environment.blender == name:
            return environment
    return None


def write_record(environment: Environment, directory: Path) -> None:
    """Write the record of an environment into a directory."""
    content = environment.to_json()
    del content["name"], content["directory"]
    (directory / RECORD).write_text(json.dumps(content, indent=2) + "\n", "utf-8")


def _recorded(folders: list[Path]) -> Iterator[Environment]:
    """Yield the environments among these directories."""
    for folder in folders:
        if not NAME.fullmatch(folder.name):
            continue
        try:
            content = cast("dict[str, Any]", json.loads((folder / RECORD).read_text("utf-8")))
            yield Environment(name=folder.name, directory=folder, **content)
        except (OSError, ValueError, TypeError):
            continue
