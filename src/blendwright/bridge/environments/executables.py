"""Queries of an installed Blender for its version and the version of its Python."""

from __future__ import annotations

import json
import os
import re
import subprocess
import tempfile
from pathlib import Path

from blendwright.bridge.environments.series import SERIES
from blendwright.values.errors import EnvironmentUnfit

# The deadline of the query in seconds.
_SECONDS = 120.0
_MARK = "blendwright-asks:"
_QUESTION = (
    f"import bpy, sys, json; print({_MARK!r} + json.dumps([bpy.app.version_string, '%d.%d.%d' % sys.version_info[:3]]))"
)
OLDEST = SERIES[-1].name


def ask_executable(path: Path) -> tuple[str, str]:
    """Return the versions of a Blender and of its Python. Raise EnvironmentUnfit if the file is not a Blender, or is too old."""
    cure = "Give the path of a Blender executable."
    if not os.access(path, os.X_OK) or path.is_dir():
        raise EnvironmentUnfit(f"{path} is not an executable file", cure=cure)
    flags = ("--background", "--factory-startup", "--python-expr", _QUESTION)
    with tempfile.TemporaryDirectory() as home:
        try:
            process = subprocess.run(
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
            raise EnvironmentUnfit(
                f"the Blender version of {path} is unknown, because it does not run: {error}", cure=cure
            ) from error
    lines = process.stdout.splitlines()
    answers = [line.removeprefix(_MARK) for line in lines if line.startswith(_MARK)]
    try:
        blender, python = map(str, json.loads("".join(answers[:1])))
    except ValueError as error:
        message = f"{path} did not report a Blender version (exit code {process.returncode})"
        raise EnvironmentUnfit(message, cure=cure, details={"output": lines[-12:]}) from error
    version = re.match(r"\d+\.\d+", blender)
    if version is None or _numbers(version[0]) < _numbers(OLDEST):
        raise EnvironmentUnfit(f"{path} is Blender {blender}", cure=f"Blendwright needs Blender {OLDEST} or newer.")
    return version[0] + blender[version.end() :].split(" ")[0], python


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))
