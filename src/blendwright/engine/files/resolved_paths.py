"""Paths in arguments as the file system has them: absolute, and through no link."""

from __future__ import annotations

import errno
from pathlib import Path

from blendwright.values.errors import Refusal
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding


def resolved(path: str, at: str) -> Path:
    """A path without links. Raises Refusal for what no file can have: too long, a loop of links, a null byte, an unknown user's home."""
    try:
        return without_links(Path(path).expanduser())
    except (OSError, RuntimeError, ValueError) as error:
        raise Refusal([unusable(error, at)]) from error


def without_links(path: Path) -> Path:
    resolved = path.resolve()
    try:
        resolved.stat()
    except OSError as error:
        # Python 3.13 leaves a loop of links as it is; before, it was an error.
        if error.errno == errno.ELOOP:
            raise
    return resolved


def resolved_or_none(path: Path) -> Path | None:
    """A path without links; None for a loop of them, which Python 3.13 and later take for a file that is not there."""
    try:
        return path.resolve()
    except RuntimeError:
        return None


def unusable(error: Exception, at: str) -> Finding:
    return Finding(Fault.ARGS_INVALID, f"not a usable path: {error}", at, "Check the path.")


def first_existing(path: Path) -> Path:
    if path.exists():
        return path
    return first_existing(path.parent)
