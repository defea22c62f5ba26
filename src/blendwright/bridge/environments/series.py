"""The series of Blender that can be installed from the bpy wheels: their versions, their Pythons and their pinned requirements."""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib import metadata, util
from importlib.resources import files

# As people write it: 5.2, or the very version 5.2.3.
VERSION_TEXT = re.compile(r"(\d+\.\d+)(\.\d+)?")


@dataclass(frozen=True, slots=True)
class Series:
    """One series of Blender, with the version of it that we have pinned."""

    name: str
    version: str
    python: tuple[int, int]
    """The one version of Python that its wheels are made for."""
    requires: tuple[str, ...]
    """What a worker needs beside it; `scripts/lock_requirements.py` pins it."""

    @property
    def python_text(self) -> str:
        return ".".join(map(str, self.python))

    @property
    def requirements(self) -> str:
        """Everything that a worker of it needs, pinned, with the hash of every file; names no index."""
        return files("blendwright.bridge.environments").joinpath("locks", f"{self.name}.txt").read_text("utf-8")


# Blender's FBX exporter breaks on what NumPy 2.5 deprecates.
_NUMPY_2 = ("numpy>=2.2,<2.5", "pydantic>=2.12")
_NUMPY_1 = ("numpy<2", "pydantic>=2.12")

# The newest first: what is taken where nobody says otherwise.
SERIES: tuple[Series, ...] = (
    Series("5.2", "5.2.3", (3, 13), _NUMPY_2),
    Series("5.1", "5.1.2", (3, 13), _NUMPY_2),
    Series("5.0", "5.0.1", (3, 11), _NUMPY_1),
    Series("4.5", "4.5.15", (3, 11), _NUMPY_1),
    Series("4.2", "4.2.23", (3, 11), _NUMPY_1),
)
NEWEST = SERIES[0]


def series_named(text: str) -> Series | None:
    """The series that `5.2`, or its pinned version, names."""
    return next((series for series in SERIES if text in (series.name, series.version)), None)


def packages_for_executables() -> str:
    """What a worker needs inside a Blender that brings its own Python and NumPy, pinned for every Python."""
    return files("blendwright.bridge.environments").joinpath("locks", "executable.txt").read_text("utf-8")


def own_blender() -> str | None:
    """The version of the bpy in this environment, which is not loaded for it; None where there is none."""
    if util.find_spec("bpy") is None:
        return None
    try:
        return metadata.version("bpy")
    except metadata.PackageNotFoundError:
        return "unknown"
