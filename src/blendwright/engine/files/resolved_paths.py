"""Paths in arguments, resolved: absolute and without links."""

from __future__ import annotations

import errno
from pathlib import Path

from blendwright.values.errors import Refusal
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding


def resolved(path: str, at: str) -> Path:
    """Return the path without links. Raises Refusal for an impossible path, such as a loop of links, a null byte
    or an unknown user.
    """
    try:
        return without_links(Path(path).expanduser())
    except (OSError, RuntimeError, ValueError) as error:
        raise Refusal([unusable(error, at)]) from error


def without_links(path: Path) -> Path:
    resolved = path.resolve()
    try:
        resolved.stat()
    except OSError as error:
        # Since Python 3.13, resolve() ignores a loop of links; earlier versions raise an error.
        if error.errno == errno.ELOOP:
            raise
    return resolved


def resolved_or_none(path: Path) -> Path | None:
    """Return the path without links, or None for a loop of links before Python 3.13. Later versions return a
    missing file.
    """
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
