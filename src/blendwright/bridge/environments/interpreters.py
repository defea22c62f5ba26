"""Detection of the usable Pythons of this machine: on the PATH, and installed by pyenv or uv.

An existing file may not run: a shim of pyenv fails unless its version is selected. `scripts/find-python` does the same for make,
before any Python is known.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

# The query imports the modules that create environments, because Debian, for example, leaves them out of its Pythons.
_QUESTION = "import json, sys, venv, ensurepip; print(json.dumps([list(sys.version_info[:3]), sys.executable]))"
# The deadline of the query in seconds.
_SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class Interpreter:
    """A Python that was run successfully."""

    path: Path
    version: tuple[int, int, int]

    @property
    def text(self) -> str:
        return ".".join(map(str, self.version))


def find_interpreter(version: tuple[int, int]) -> Interpreter | None:
    """Return the first Python of this version that runs and can create environments; None without one."""
    for path in _candidates(version):
        interpreter = ask(path)
        if interpreter is not None and interpreter.version[:2] == version:
            return interpreter
    return None


@cache
def ask(path: Path) -> Interpreter | None:
    """Run the interpreter at a path and return its version. Return None if it does not run or cannot create environments."""
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
    """Yield the possible paths of a Python of this version, each once."""
    major, minor = version
    if sys.platform == "win32":
        suffix = ".exe"
    else:
        suffix = ""
    names = (f"python{major}.{minor}{suffix}", f"python{major}{suffix}", f"python{suffix}")
    if sys.version_info[:2] == version:
        folders = [Path(sys.base_prefix, "bin"), Path(sys.base_prefix)]
    else:
        folders = []
    folders += [Path(part) for part in os.environ.get("PATH", "").split(os.pathsep) if part]
    for root in _installations():
        for installation in sorted(root.glob(f"*{major}.{minor}[.-]*"), key=_patch, reverse=True):
            folders += [installation / "bin", installation]
    seen: set[Path] = set()
    for folder in folders:
        for name in names:
            path = folder / name
            if path not in seen and path.is_file() and os.access(path, os.X_OK):
                seen.add(path)
                yield path


def _installations() -> Iterator[Path]:
    """Yield the directories in which pyenv and uv keep a directory for each Python."""
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


def _patch(installation: Path) -> tuple[int, ...]:
    """Return the numbers in the name of an installation, so that 3.13.10 sorts after 3.13.9."""
    name = installation.name.split("-linux")[0]
    return tuple(map(int, re.findall(r"\d+", name)))
