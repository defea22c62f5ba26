"""The blendwright package that a process runs. Core and worker exchange it and work together only if it is the same.

The version alone is not enough, because the sources of a checkout change between versions.
"""

from __future__ import annotations

import hashlib
import os
import sys
from functools import cache
from pathlib import Path
from typing import TypedDict

import blendwright

PACKAGE = Path(blendwright.__file__).parent
# The error code of the answer to a hello from another package.
PACKAGE_MISMATCH = "package_mismatch"
# The packages that run in a worker.
FOLDERS = ("util", "values", "wire", "tool_api", "nodes", "tools", "blender")


class PackageVersion(TypedDict):
    """The package of one side in the handshake."""

    version: str
    hash: str
    python: str


def this_package() -> PackageVersion:
    """Return the package of this process."""
    return {"version": blendwright.__version__, "hash": package_hash(), "python": sys.version.partition(" ")[0]}


def same_package(theirs: object) -> bool:
    """Return whether the other side runs exactly this package. Its Python version may differ."""
    match theirs:
        case {"version": str(version), "hash": str(sources)}:
            ours = this_package()
            return (version, sources) == (ours["version"], ours["hash"])
        case _:
            return False


def mismatch(core: object, worker: object) -> str:
    """Return a message for people about the packages of both sides."""
    return f"the core runs {_described(core)} and the worker runs {_described(worker)}"


def _described(package: object) -> str:
    match package:
        case {"version": str(version), "hash": str(sources), "python": str(python)}:
            return f"blendwright {version} (sources {sources[:12]}, Python {python})"
        case _:
            return "a blendwright that does not say which it is"


@cache
def package_hash() -> str:
    """Return a hash of the sources of all packages that run in a worker."""
    return hash_of(PACKAGE)


def hash_of(package: Path) -> str:
    """Return a hash of the paths and contents of all Python files in FOLDERS of a package."""
    content = hashlib.sha256()
    for part in FOLDERS:
        for folder, folders, files in os.walk(package / part):
            folders.sort()
            for name in sorted(files):
                if name.endswith(".py"):
                    path = f"{folder}/{name}"
                    content.update(f"\0{path[len(str(package)) :]}\0".encode())
                    with open(path, "rb", buffering=0) as file:  # noqa: PTH123 (pathlib doubles the time)
                        content.update(file.read())
    return content.hexdigest()
