"""Checks of file ownership. Settings decide what is allowed, so only the user or root may be able to write them."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from blendwright.values.errors import EnvironmentUnfit


def read_own_file(file: Path) -> bytes:
    """Return the content of a settings file.

    Raise EnvironmentUnfit when another user could have written it, and OSError when it is unreadable.
    """
    refused = f"{file} is not used"
    require_own_directory(file.parent, refused)
    with file.open("rb") as opened:
        problem = _foreign_access(os.fstat(opened.fileno()), is_directory=False)
        if problem is not None:
            raise _unfit(f"{refused}: it {problem}", file)
        real = file.resolve()
        if real.parent != file.parent.resolve():  # behind a link
            require_own_directory(real.parent, refused)
        return opened.read()


def require_own_directory(directory: Path, refused: str) -> None:
    """Raise EnvironmentUnfit when another user could put files into a directory.

    For a missing directory, check its nearest parent.
    """
    existing = next((path for path in (directory, *directory.parents) if path.exists()), None)
    if existing is None:
        return
    problem = _foreign_access(existing.stat(), is_directory=True)
    if problem is not None:
        raise _unfit(f"{refused}: the directory {existing} {problem}", existing)


def _foreign_access(status: os.stat_result, *, is_directory: bool) -> str | None:
    """Return the reason why another user could change a path, or None.

    In a sticky directory like /tmp, users cannot replace files of others.
    """
    if not hasattr(os, "geteuid"):
        return None
    if status.st_uid not in (os.geteuid(), 0):
        return "belongs to another user"
    if is_directory and status.st_mode & stat.S_ISVTX:
        return None
    if status.st_mode & stat.S_IWOTH:
        return "can be written by every user"
    if status.st_mode & stat.S_IWGRP and status.st_gid not in (os.getegid(), 0):
        return "can be written by a group to which you do not belong"
    return None


def _unfit(message: str, path: Path) -> EnvironmentUnfit:
    import shlex

    name = shlex.quote(str(path))
    fix = f"Make it yours alone (`chown $(id -u) {name}`, `chmod go-w {name}`) if you trust its content, or name another workspace."
    return EnvironmentUnfit(message, cure=fix)
