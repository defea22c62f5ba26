"""Whose files are believed: settings decide what is allowed, so only the user, or root, may have written them."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from blendwright.values.errors import EnvironmentUnfit


def read_own_file(file: Path) -> bytes:
    """What a file of settings holds. Raises EnvironmentUnfit where somebody else could have written it, OSError where it cannot be read."""
    require_own_directory(file.parent, f"{file} is not taken")
    with file.open("rb") as opened:
        if problem := _foreign(os.fstat(opened.fileno()), is_directory=False):
            raise _unfit(f"{file} is not taken: it {problem}", file)
        real = file.resolve()
        if real.parent != file.parent.resolve():  # behind a link
            require_own_directory(real.parent, f"{file} is not taken")
        return opened.read()


def require_own_directory(directory: Path, refused: str) -> None:
    """Raises EnvironmentUnfit where somebody else could put files into a directory; where it is not there yet, into the nearest above."""
    there = next((one for one in (directory, *directory.parents) if one.exists()), None)
    if there is not None and (problem := _foreign(there.stat(), is_directory=True)):
        raise _unfit(f"{refused}: the directory {there} {problem}", there)


def _foreign(found: os.stat_result, *, is_directory: bool) -> str | None:
    """Who else could change it. In a directory like /tmp nobody can replace what belongs to another."""
    if not hasattr(os, "geteuid"):
        return None
    if found.st_uid not in (os.geteuid(), 0):
        return "belongs to another user"
    if is_directory and found.st_mode & stat.S_ISVTX:
        return None
    if found.st_mode & stat.S_IWOTH:
        return "can be written by everybody"
    if found.st_mode & stat.S_IWGRP and found.st_gid not in (os.getegid(), 0):
        return "can be written by a group that is not yours"
    return None


def _unfit(message: str, path: Path) -> EnvironmentUnfit:
    import shlex

    name = shlex.quote(str(path))
    cure = f"Make it yours alone (`chown $(id -u) {name}`, `chmod go-w {name}`) if you trust what is in it, or name another workspace."
    return EnvironmentUnfit(message, cure=cure)
