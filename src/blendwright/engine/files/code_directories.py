"""Directories that hold code: environments, packages and version control. No call writes there, with or without an approval.

A program that is started later executes or obeys what lies in them, and nobody looks at the single file any more.
"""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from blendwright.tool_api.file_kinds import plain_name

CODE_DIRECTORY_NAMES = frozenset(
    {"site-packages", "dist-packages", "node_modules", "__pycache__", "conda-meta", ".git", ".hg", ".svn", ".bzr"}
)
# Directories that describe an installed package to Python, and zipped or unzipped packages.
PACKAGE_SUFFIXES = (".dist-info", ".egg-info", ".egg")
# A directory that holds one of these is an environment.
ENVIRONMENT_MARKERS = ("pyvenv.cfg", "conda-meta")


def code_directory(path: Path, root: Path | None) -> tuple[Path, str] | None:
    """Return the directory of code that a path lies in, and what makes it one.

    Both paths are absolute and without links. Directories from the root upwards were chosen by the owner of the policy and do not
    count, so a project whose own directory is importable can still be written to. Packages of this interpreter count in any case.
    """
    for directory in path.parents:
        if directory in _installation(sys.prefix):
            return directory, "is where this Python keeps its packages"
    for directory in _below(path, root):
        name = plain_name(directory.name)
        if name in CODE_DIRECTORY_NAMES or name.endswith(PACKAGE_SUFFIXES):
            return directory, "holds packages or the data of version control"
        if any(os.path.lexists(directory / marker) for marker in ENVIRONMENT_MARKERS):
            return directory, "is an environment of Python or Conda"
        if directory in _import_path(tuple(sys.path)):
            return directory, "is a directory that this Python imports from"
    return None


def _below(path: Path, root: Path | None) -> Iterator[Path]:
    """Yield the directories that hold the path, from the innermost one up to the root, without the root itself."""
    for directory in path.parents:
        if directory == root:
            return
        yield directory


@cache
def _installation(prefix: str) -> frozenset[Path]:
    names = ("stdlib", "platstdlib", "purelib", "platlib")
    return frozenset(Path(sysconfig.get_path(name)).resolve() for name in names)


@cache
def _import_path(entries: tuple[str, ...]) -> frozenset[Path]:
    return frozenset(Path(entry).resolve() for entry in entries if entry)
