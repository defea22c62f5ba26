"""Directories of batches are passed on, and others may write there: only what a batch has made is removed, and no link is followed."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from pathlib import Path

from blendwright.util.directory_removal import remove_entry
from blendwright.util.no_follow import open_directory
from blendwright.values.errors import EnvironmentUnfit


def remove_own(root: Path, inside: Path, *names: str) -> None:
    """Remove entries of a directory `inside` of a root. It is opened as itself: where somebody has put a link in its place, nothing is
    removed. What cannot be removed stays."""
    with contextlib.suppress(OSError), open_directory(root.resolve() / inside) as directory:
        for name in names:
            with contextlib.suppress(OSError):
                remove_entry(name, directory)


def refuse_links(paths: Iterable[Path]) -> None:
    """Raises EnvironmentUnfit for the first path that is a link."""
    for path in paths:
        if path.is_symlink():
            message = f"{path} is a link, and batches make none: what it leads to would be written to and cleared"
            raise EnvironmentUnfit(message, cure="Remove the link, or name another directory as --out.")
