"""Confinement of a worker. It must be applied before `import bpy` and before any thread exists.

A Blender executable starts threads before it runs this project's first line. There a launcher applies the restrictions that
survive exec, early enough for all threads (`confine_before_exec`). The worker inside adds the rest (`confine`).

Afterwards the process reads only files that Python and Blender need, and writes only its scratch directory. It communicates only
through descriptors that it already holds, and it starts, signals and inspects no other process. This package must never import
bpy or numpy, because both start threads, and these would stay unconfined.
"""

import platform
import sys
from pathlib import Path

from blendwright.blender.confinement.report import Allowance, Confinement
from blendwright.blender.confinement.selftest import ACTS
from blendwright.blender.confinement.syscalls import this_architecture
from blendwright.wire.worker_environment import private_directories

__all__ = ["Allowance", "Confinement", "confine", "confine_before_exec"]

_applied: Confinement | None = None


def confine(allowance: Allowance) -> Confinement:
    """Confine this process permanently, and return which restrictions hold.

    Missing support is not an error. It lowers the level and adds a reason. A second call changes nothing and returns the first
    result, because confinement cannot be widened.
    """
    global _applied
    if _applied is None:
        _make_private(allowance.scratch)
        _applied = _confine(allowance)
    return _applied


def confine_before_exec(allowance: Allowance, executable: Path) -> Path | None:
    """Apply the restrictions that survive exec of `executable`. Return the user's home, which is unreachable afterwards.

    Missing support is not an error here. The worker reports it after exec.
    """
    _make_private(allowance.scratch)
    if sys.platform != "linux" or this_architecture() is None:
        return None

    from blendwright.blender.confinement.linux import before_exec, home_of_user

    home = home_of_user()
    before_exec(allowance, executable)
    return home


def _make_private(scratch: Path) -> None:
    for directory in private_directories(scratch):
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)


def _confine(allowance: Allowance) -> Confinement:
    architecture = this_architecture()
    if sys.platform != "linux":
        return _unconfined(f"{platform.system()} offers no confinement that a process can apply to itself")
    if architecture is None:
        return _unconfined(f"no system call numbers for {platform.machine()}")

    from blendwright.blender.confinement.linux import confine_linux  # imports modules that exist only on Linux

    return confine_linux(architecture, allowance)


def _unconfined(reason: str) -> Confinement:
    """Return an account of no confinement. Without restrictions, all acts count as not refused."""
    return Confinement("none", 0, False, False, tuple(ACTS), reason)
