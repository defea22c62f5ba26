"""Errors that explain why a worker ended or could not start, derived from its exit status and its log."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from blendwright.bridge.environments.series import NEWEST
from blendwright.values.errors import EnvironmentUnfit, WorkerError, WorkerFault, WorkerLost
from blendwright.wire.package_version import PACKAGE_MISMATCH

# The maximum size of a log's tail.
_TAIL_BYTES = 8192
_TAIL_LINES = 20

_MISSING_LIBRARY = re.compile(r"(lib[\w.+-]+\.so[\w.]*): cannot open shared object file")

# The message of `blender/worker/start.py`.
_NO_PACKAGES = re.compile(r"no pydantic for Python (\d+\.\d+)")

# Library that the bpy wheel links against -> its Debian package.
LIBRARIES = {
    "libX11.so.6": "libx11-6",
    "libXrender.so.1": "libxrender1",
    "libXfixes.so.3": "libxfixes3",
    "libXi.so.6": "libxi6",
    "libxkbcommon.so.0": "libxkbcommon0",
    "libXext.so.6": "libxext6",
    "libSM.so.6": "libsm6",
    "libICE.so.6": "libice6",
    "libGL.so.1": "libgl1",
    "libEGL.so.1": "libegl1",
}


def log_tail(log: Path) -> list[str]:
    """Return the last lines of a worker's log; an empty list without a log."""
    try:
        with log.open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - _TAIL_BYTES))
            text = file.read().decode("utf-8", "replace")
    except OSError:
        return []
    return text.splitlines()[-_TAIL_LINES:]


def worker_lost(pid: int, status: int, tail: Sequence[str], reason: str | None) -> WorkerLost:
    """Return the error for calls that were waiting for a worker that ended with `status` (as in Popen.returncode)."""
    details: dict[str, Any] = {"pid": pid, "log": list(tail)}
    if status < 0:
        details["signal"] = -status
        how = f"was ended by signal {-status} ({_signal_name(-status)})"
    else:
        details["exit_code"] = status
        how = f"ended with exit code {status}"
    if reason is not None:
        details["reason"] = reason
        how += f": {reason}"
    return WorkerLost(f"the worker (pid {pid}) {how}", details=details)


def start_failed(error: WorkerError, tail: Sequence[str]) -> EnvironmentUnfit:
    """Return the error for a worker that ended or failed before its hello."""
    text = "\n".join(tail)
    details = {**error.details, "log": list(tail)}
    if match := _MISSING_LIBRARY.search(text):
        library = match[1]
        package = LIBRARIES.get(library)
        cure = f"install the system library {library}"
        if package:
            cure += f" (Debian, Ubuntu: apt install {package})"
        message = f"Blender cannot start: the system library {library} is missing"
        return EnvironmentUnfit(message, cure=cure, details={**details, "library": library})
    if isinstance(error, WorkerFault) and error.code == PACKAGE_MISMATCH:
        cure = "The sources have changed since this program was started. Start it again."
        return EnvironmentUnfit(f"Blender is not usable: {error.message}", cure=cure, details=details)
    if "No module named 'bpy'" in text:
        message = "Blender cannot start: its Python has no bpy"
        return EnvironmentUnfit(message, cure=f"Get a Blender: blendwright blender add {NEWEST.name}", details=details)
    if match := _NO_PACKAGES.search(text):
        message = f"Blender cannot start: there is no pydantic for its Python {match[1]}"
        cure = "For an executable, run `blendwright blender add PATH` with its path. In another Python environment, install pydantic."
        return EnvironmentUnfit(message, cure=cure, details=details)
    lines = [line.strip() for line in tail if line.strip()]
    last = "its log is empty"
    if lines:
        last = lines[-1]
    return EnvironmentUnfit(f"Blender cannot start: {error.message}; the last line of its log: {last}", details=details)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return "unknown"
