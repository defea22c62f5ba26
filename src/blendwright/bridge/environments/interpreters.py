"""Finds the Pythons of this machine that really run: on the PATH, and those that pyenv and uv have installed.

A file that exists proves nothing: a shim of pyenv fails unless its version is the chosen one. `scripts/find-python` does the same
for make, before there is any Python to run this.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

# What an environment is made with: Debian, for one, leaves it out of its Pythons.
_QUESTION = "import json, sys, venv, ensurepip; print(json.dumps([list(sys.version_info[:3]), sys.executable]))"
_SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class Interpreter:
    """A Python that has answered."""

    path: Path
    version: tuple[int, int, int]

    @property
    def text(self) -> str:
        return ".".join(map(str, self.version))


def find_interpreter(version: tuple[int, int]) -> Interpreter | None:
    """The first Python of this version that runs and can make environments."""
    for path in _candidates(version):
        found = ask(path)
        if found is not None and found.version[:2] == version:
            return found
    return None


@cache
def ask(path: Path) -> Interpreter | None:
    """The interpreter at a path, by its own account; None where it does not run or cannot make environments."""
    try:
        done = subprocess.run(
            [path, "-I", "-c", _QUESTION], stdin=subprocess.DEVNULL, capture_output=True, timeout=_SECONDS, check=True
        )
        version, _ = json.loads(done.stdout)
        major, minor, patch = version
    except (OSError, subprocess.SubprocessError, ValueError, TypeError):
        return None
    return Interpreter(path, (int(major), int(minor), int(patch)))


def _candidates(version: tuple[int, int]) -> Iterator[Path]:
    """Where such a Python may be, each file once."""
    major, minor = version
    if sys.platform == "win32":
        suffix = ".exe"
    else:
        suffix = ""
    names = tuple(f"{name}{suffix}" for name in (f"python{major}.{minor}", f"python{major}", "python"))
    if sys.version_info[:2] == version:
        folders = [Path(sys.base_prefix, "bin"), Path(sys.base_prefix)]
    else:
        folders = []
    folders += [Path(part) for part in os.environ.get("PATH", "").split(os.pathsep) if part]
    for root in _installations():
        places = sorted(root.glob(f"*{major}.{minor}[.-]*"), key=_patch, reverse=True)
        folders += [folder for place in places for folder in (place / "bin", place)]
    seen: set[Path] = set()
    for folder in folders:
        for name in names:
            path = folder / name
            if path not in seen and path.is_file() and os.access(path, os.X_OK):
                seen.add(path)
                yield path


def _installations() -> Iterator[Path]:
    """The directories in which pyenv and uv keep a directory for each Python."""
    home = os.environ.get("HOME") or os.environ.get("USERPROFILE")
    if root := os.environ.get("PYENV_ROOT"):
        yield Path(root, "versions")
    if home:
        yield Path(home, ".pyenv", "versions")
        yield Path(home, ".pyenv", "pyenv-win", "versions")
    if root := os.environ.get("UV_PYTHON_INSTALL_DIR"):
        yield Path(root)
    if data := os.environ.get("XDG_DATA_HOME"):
        yield Path(data, "uv", "python")
    if home:
        yield Path(home, ".local", "share", "uv", "python")
        yield Path(home, "AppData", "Roaming", "uv", "python")


def _patch(place: Path) -> tuple[int, ...]:
    """The numbers in the name of an installation, so that 3.13.10 comes after 3.13.9."""
    digits = "".join(each if each.isdigit() else " " for each in place.name.split("-linux")[0])
    return tuple(int(part) for part in digits.split())
