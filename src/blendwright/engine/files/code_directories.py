"""Directories with code: environments, packages and version control. No call may write there, with or without an
approval.

A later program executes the files in these directories, and no person checks each file.
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
# Suffixes of package metadata directories, and of zipped or unzipped packages.
PACKAGE_SUFFIXES = (".dist-info", ".egg-info", ".egg")
# A directory with one of these entries is an environment.
ENVIRONMENT_MARKERS = ("pyvenv.cfg", "conda-meta")


def code_directory(path: Path, root: Path | None) -> tuple[Path, str] | None:
    """Return the code directory that contains the path, and the reason why it counts as one, or None.

    Both paths are absolute, with links resolved. The root and its parents do not count, because the owner of the
    policy chose them; so a call can write to a project whose own directory is importable. The packages of this
    interpreter always count.
    """
    for directory in path.parents:
        if directory in _installation(sys.prefix):
            return directory, "contains the packages of this Python"
    for directory in _below(path, root):
        name = plain_name(directory.name)
        if name in CODE_DIRECTORY_NAMES or name.endswith(PACKAGE_SUFFIXES):
            return directory, "contains packages or the data of version control"
        if any(os.path.lexists(directory / marker) for marker in ENVIRONMENT_MARKERS):
            return directory, "is an environment of Python or Conda"
        if directory in _import_path(tuple(sys.path)):
            return directory, "is a directory that this Python imports from"
    return None


def _below(path: Path, root: Path | None) -> Iterator[Path]:
    """Yield the directories that contain the path, from the innermost one up to the root, without the root itself."""
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
