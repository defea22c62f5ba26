"""Removal of files that a batch has made. Other users may write to a batch's directory, so these functions never follow a link."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from pathlib import Path

from blendwright.util.directory_removal import remove_entry
from blendwright.util.no_follow import open_directory
from blendwright.values.errors import EnvironmentUnfit


def remove_own(root: Path, inside: Path, *names: str) -> None:
    """Remove entries of the directory `inside` a root. Remove nothing if a symbolic link replaces that directory. Ignore failures."""
    with contextlib.suppress(OSError), open_directory(root.resolve() / inside) as directory:
        for name in names:
            with contextlib.suppress(OSError):
                remove_entry(name, directory)


def refuse_links(paths: Iterable[Path]) -> None:
    """Raise EnvironmentUnfit for the first path that is a symbolic link."""
    for path in paths:
        if path.is_symlink():
            message = f"{path} is a symbolic link; the batch would write to its target and clear it"
            raise EnvironmentUnfit(message, cure="Remove the link, or choose another directory as --out.")
