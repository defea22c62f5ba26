"""The environments of this user: where they are, and what is written down about each. Reads only; `making.py` makes and removes them."""

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
# Also the names of directories, so nothing in them may lead elsewhere.
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
PYTHONS = ("bin/python", "Scripts/python.exe")
PACKAGES = "packages"


@dataclass(frozen=True, slots=True)
class Environment:
    """One Blender that this user has added: an environment with its wheel, or packages for an executable that is installed."""

    name: str
    blender: str
    """Its version, as it says itself."""
    python: str
    lock: str
    """The hash of the pinned requirements that it was made of."""
    executable: str | None = None
    """The installed Blender; None where the environment has the wheel."""
    directory: Path = Path()

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "directory": str(self.directory)}

    @property
    def interpreter(self) -> Path:
        return next(
            (path for name in PYTHONS if (path := self.directory / name).is_file()), self.directory / PYTHONS[0]
        )

    @property
    def packages(self) -> Path:
        """For an executable: what its Python lacks."""
        return self.directory / PACKAGES

    def problem(self) -> str | None:
        """What keeps it from being used, as far as files tell; None where nothing does."""
        if self.executable is not None:
            if os.access(self.executable, os.X_OK):
                gone = None
            else:
                gone = f"{self.executable} cannot be run any more"
            return gone or (None if self.packages.is_dir() else "its packages are gone")
        # A link to a Python that was removed since is no file.
        if self.interpreter.is_file():
            return None
        return f"its Python {self.python} is gone"

    @property
    def outdated(self) -> bool:
        """Whether our pins are others than those that it was made of."""
        series = series_named(self.name)
        return self.executable is None and series is not None and digest(series.requirements) != self.lock

    @property
    def rank(self) -> tuple[int, ...]:
        """Grows with the version of Blender."""
        return tuple(int(part) for part in re.findall(r"\d+", self.blender)[:3])


def digest(requirements: str) -> str:
    return hashlib.sha256(requirements.encode()).hexdigest()


def blenders_directory() -> Path:
    """Where the environments of this user are, or would be. Raises EnvironmentUnfit for a user without a home."""
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
    """Those of this user, the newest Blender first. What is half made has no record and is none."""
    try:
        folders = list(blenders_directory().iterdir())
    except (OSError, EnvironmentUnfit):
        return []
    return sorted(_found(folders), key=lambda found: (found.rank, found.name), reverse=True)


def environment_named(name: str) -> Environment | None:
    """The one of this name, or of this very version of Blender."""
    found = environments()
    return next((each for each in found if each.name == name), None) or next(
        (each for each in found if each.blender == name), None
    )


def write_record(environment: Environment, directory: Path) -> None:
    content = {name: value for name, value in environment.to_json().items() if name not in ("name", "directory")}
    (directory / RECORD).write_text(json.dumps(content, indent=2) + "\n", "utf-8")


def _found(folders: list[Path]) -> Iterator[Environment]:
    for folder in folders:
        if not NAME.fullmatch(folder.name):
            continue
        try:
            content = cast("dict[str, Any]", json.loads((folder / RECORD).read_text("utf-8")))
            yield Environment(name=folder.name, directory=folder, **content)
        except (OSError, ValueError, TypeError):
            continue
