"""Confinement of a worker: called first of all in the process, before `import bpy` and before any thread exists.

A Blender executable has threads before it runs our first line. There a launcher applies what survives exec, in time for all
of them (`confine_before_exec`), and the worker inside adds the rest (`confine`).

Afterwards the process reads only what Python and Blender need, writes only its scratch, talks only through
descriptors it already holds, and starts, signals and inspects no other process. This package must never import
bpy or numpy: both start threads, and those would stay outside.
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
    """Confine this process for good, and say what holds.

    Missing support is no error but a lower level with a reason. A second call changes nothing, since confinement cannot be
    widened: it returns the account of the first.
    """
    global _applied
    if _applied is None:
        _make_private(allowance.scratch)
        _applied = _confine(allowance)
    return _applied


def confine_before_exec(allowance: Allowance, executable: Path) -> Path | None:
    """Apply to this process what survives becoming `executable`; returns the user's home, which is out of reach then.

    What is missing is no error here: the worker that follows gives the account.
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
        return _unconfined(f"{platform.system()} offers no confinement that a process can put on itself")
    if architecture is None:
        return _unconfined(f"no system call numbers for {platform.machine()}")

    from blendwright.blender.confinement.linux import confine_linux  # imports modules that only Linux has

    return confine_linux(architecture, allowance)


def _unconfined(reason: str) -> Confinement:
    """Nothing is in place, so no act is tried and none counts as refused."""
    return Confinement("none", 0, False, False, tuple(ACTS), reason)
