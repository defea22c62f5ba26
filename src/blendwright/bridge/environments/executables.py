"""Asks an installed Blender which version it is, and which Python it brings."""

from __future__ import annotations

import json
import os
import re
import subprocess
import tempfile
from pathlib import Path

from blendwright.bridge.environments.series import SERIES
from blendwright.values.errors import EnvironmentUnfit

_SECONDS = 120.0
_MARK = "blendwright-asks:"
_QUESTION = (
    f"import bpy, sys, json; print({_MARK!r} + json.dumps([bpy.app.version_string, '%d.%d.%d' % sys.version_info[:3]]))"
)
OLDEST = SERIES[-1].name


def ask_executable(path: Path) -> tuple[str, str]:
    """The versions of a Blender and of its Python. Raises EnvironmentUnfit where the file is no Blender, or one that is too old."""
    cure = "Give the path of a Blender executable."
    if not os.access(path, os.X_OK) or path.is_dir():
        raise EnvironmentUnfit(f"{path} is not an executable file", cure=cure)
    flags = ("--background", "--factory-startup", "--python-expr", _QUESTION)
    with tempfile.TemporaryDirectory() as home:
        try:
            done = subprocess.run(
                [path, *flags],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=_SECONDS,
                env={**os.environ, "BLENDER_USER_RESOURCES": home},
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise EnvironmentUnfit(f"{path} cannot be asked which Blender it is: {error}", cure=cure) from error
    answer = next((line for line in done.stdout.splitlines() if line.startswith(_MARK)), None)
    try:
        blender, python = map(str, json.loads((answer or "").removeprefix(_MARK)))
    except ValueError as error:
        message = f"{path} did not say which Blender it is (exit code {done.returncode})"
        raise EnvironmentUnfit(message, cure=cure, details={"output": done.stdout.splitlines()[-12:]}) from error
    version = re.match(r"\d+\.\d+", blender)
    if version is None or _numbers(version[0]) < _numbers(OLDEST):
        raise EnvironmentUnfit(f"{path} is Blender {blender}", cure=f"Blendwright needs Blender {OLDEST} or newer.")
    return version[0] + blender[version.end() :].split(" ")[0], python


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))
