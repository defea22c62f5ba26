"""Methods that misbehave on purpose, for the tests of the bridge. A worker extension."""

from __future__ import annotations

import ctypes
import os
import sys
import time
from typing import Any

from blendwright.blender.worker.conversation import Handler

_FOREVER = 1_000_000


def sleep(params: dict[str, Any]) -> object:
    """Sleep `seconds` like Python code does, or forever like native code that holds the interpreter lock."""
    seconds = params.get("seconds")
    if seconds is None:
        # A PyDLL keeps the lock during the call: no other thread of the process runs, no Python signal handler fires.
        ctypes.PyDLL(None).sleep(_FOREVER)
    else:
        time.sleep(seconds)
    return None


def write_everywhere(params: dict[str, Any]) -> object:
    """Write to standard output and error, as Python and as C code do."""
    text = str(params["text"])
    sys.stdout.write(f"{text} by Python on stdout\n")
    sys.stderr.write(f"{text} by Python on stderr\n")
    sys.stdout.flush()
    os.write(1, f"{text} by C on stdout\n".encode())
    os.write(2, f"{text} by C on stderr\n".encode())
    return None


def crash(params: dict[str, Any]) -> object:
    """Die of `how`: abort, segfault or exit."""
    how = params["how"]
    if how == "abort":
        os.abort()
    if how == "segfault":
        ctypes.string_at(0)
    os._exit(int(params.get("code", 7)))


def environment(params: dict[str, Any]) -> object:
    """The environment variables of this process."""
    return dict(os.environ)


def fail(params: dict[str, Any]) -> object:
    """Raise."""
    raise RuntimeError(str(params.get("message", "asked to fail")))


def fill(params: dict[str, Any]) -> object:
    """A string of `bytes` characters."""
    return "x" * int(params["bytes"])


def make_unused(params: dict[str, Any]) -> object:
    """Make a datablock that no file will hold, since nobody uses it."""
    import bpy

    lights: Any = bpy.data.lights
    return lights.new("Unused", "POINT").name


METHODS: dict[str, Handler] = {
    "test.sleep": sleep,
    "test.print": write_everywhere,
    "test.crash": crash,
    "test.environment": environment,
    "test.fail": fail,
    "test.fill": fill,
    "test.unused": make_unused,
}
