"""The series of Blender with bpy wheels: their versions, their Pythons and their pinned requirements."""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib import metadata, util
from importlib.resources import files

# A series such as 5.2, or an exact version such as 5.2.3.
VERSION_TEXT = re.compile(r"(\d+\.\d+)(\.\d+)?")


@dataclass(frozen=True, slots=True)
class Series:
    """A series of Blender, with its pinned version."""

    name: str
    version: str
    python: tuple[int, int]
    """The only Python version that its wheels support."""
    requires: tuple[str, ...]
    """The other requirements of a worker. `scripts/lock_requirements.py` pins them."""

    @property
    def python_text(self) -> str:
        return ".".join(map(str, self.python))

    @property
    def requirements(self) -> str:
        """The pinned requirements of a worker, with the hash of every file and without an index."""
        return files("blendwright.bridge.environments").joinpath("locks", f"{self.name}.txt").read_text("utf-8")


# Blender's FBX exporter uses functions that NumPy 2.5 deprecates, and fails.
_NUMPY_2 = ("numpy>=2.2,<2.5", "pydantic>=2.12")
_NUMPY_1 = ("numpy<2", "pydantic>=2.12")

# The newest first, because that is the default.
SERIES: tuple[Series, ...] = (
    Series("5.2", "5.2.3", (3, 13), _NUMPY_2),
    Series("5.1", "5.1.2", (3, 13), _NUMPY_2),
    Series("5.0", "5.0.1", (3, 11), _NUMPY_1),
    Series("4.5", "4.5.15", (3, 11), _NUMPY_1),
    Series("4.2", "4.2.23", (3, 11), _NUMPY_1),
)
NEWEST = SERIES[0]


def series_named(text: str) -> Series | None:
    """Return the series with this name or this pinned version; None without one."""
    for series in SERIES:
        if text in (series.name, series.version):
            return series
    return None


def packages_for_executables() -> str:
    """Return the pinned packages that a worker needs inside an installed Blender with its bundled Python and NumPy."""
    return files("blendwright.bridge.environments").joinpath("locks", "executable.txt").read_text("utf-8")


def own_blender() -> str | None:
    """Return the version of bpy in this environment without importing it; None without bpy."""
    if util.find_spec("bpy") is None:
        return None
    try:
        return metadata.version("bpy")
    except metadata.PackageNotFoundError:
        return "unknown"
