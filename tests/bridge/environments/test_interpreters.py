"""Finding a Python: by the package, and by the script that make uses before there is any. Both must find the same."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from blendwright.bridge.environments import interpreters

SCRIPT = Path(__file__).resolve().parents[3] / "scripts" / "find-python"
HERE = sys.version_info[:2]
VERSION = ".".join(map(str, HERE))
# One that no machine has.
NOWHERE = (3, 99)
REAL = f'#!/bin/sh\nexec "{Path(sys.executable).resolve()}" "$@"\n'
SHIM = "#!/bin/sh\necho 'pyenv: command not found' >&2\nexit 127\n"
# Debian's Python without the package that makes environments.
WITHOUT_VENV = f'#!/bin/sh\nexec "{Path(sys.executable).resolve()}" -c "import nothing_like_that"\n'

Find = Callable[[tuple[int, int]], Path | None]


def by_package(version: tuple[int, int]) -> Path | None:
    interpreters.ask.cache_clear()
    found = interpreters.find_interpreter(version)
    return None if found is None else found.path


def by_script(version: tuple[int, int]) -> Path | None:
    bash = shutil.which("bash", path=os.defpath) or "/bin/bash"
    done = subprocess.run([bash, SCRIPT, ".".join(map(str, version))], capture_output=True, text=True, check=False)
    assert (done.returncode == 0) == bool(done.stdout), done
    return Path(done.stdout.strip()) if done.returncode == 0 else None


@pytest.fixture(params=[by_package, by_script], ids=["package", "script"])
def find(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Find:
    """On a machine with nothing but what the test puts there, beside what shells need."""
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("sort", "tr", "sed", "sh"):
        (tools / name).symlink_to(str(shutil.which(name)))
    monkeypatch.setenv("PATH", os.pathsep.join([str(tmp_path / "bin"), str(tools)]))
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("PYENV_ROOT", "UV_PYTHON_INSTALL_DIR", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "base_prefix", str(tmp_path / "nowhere"))
    return request.param


def program(path: Path, text: str = REAL) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def test_a_python_on_the_path_is_found(find: Find, tmp_path: Path) -> None:
    assert find(HERE) is None
    expected = program(tmp_path / "bin" / f"python{VERSION}")
    assert find(HERE) == expected
    assert find(NOWHERE) is None


def test_a_python_of_another_name_is_found_by_what_it_says(find: Find, tmp_path: Path) -> None:
    program(tmp_path / "bin" / "python3.99")
    expected = program(tmp_path / "bin" / "python3")
    assert find(HERE) == expected
    assert find(NOWHERE) is None, "its name says 3.99, and it is none"


@pytest.mark.parametrize("text", [SHIM, WITHOUT_VENV], ids=["shim", "without venv"])
def test_what_exists_and_fails_does_not_count(find: Find, tmp_path: Path, text: str) -> None:
    program(tmp_path / "bin" / f"python{VERSION}", text)
    assert find(HERE) is None
    expected = program(tmp_path / ".pyenv" / "versions" / f"{VERSION}.0" / "bin" / f"python{VERSION}")
    assert find(HERE) == expected


def test_the_newest_of_pyenv_is_taken(find: Find, tmp_path: Path) -> None:
    versions = tmp_path / ".pyenv" / "versions"
    program(versions / f"{VERSION}.9" / "bin" / f"python{VERSION}")
    expected = program(versions / f"{VERSION}.10" / "bin" / f"python{VERSION}")
    program(versions / "2.7.18" / "bin" / "python2.7")
    assert find(HERE) == expected


@pytest.mark.parametrize("setting", [None, "UV_PYTHON_INSTALL_DIR", "XDG_DATA_HOME"])
def test_what_uv_has_installed_is_found(
    find: Find, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, setting: str | None
) -> None:
    root = tmp_path / ".local" / "share" / "uv" / "python"
    if setting is not None:
        monkeypatch.setenv(setting, str(tmp_path / "data"))
        root = tmp_path / "data" / ("uv/python" if setting == "XDG_DATA_HOME" else "")
    expected = program(root / f"cpython-{VERSION}.4-linux-x86_64-gnu" / "bin" / f"python{VERSION}")
    assert find(HERE) == expected


def test_where_none_runs_the_script_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("PYENV_ROOT", raising=False)
    done = subprocess.run(["bash", SCRIPT, "3.99", "3.98"], capture_output=True, text=True, check=False)
    assert done.returncode == 1 and not done.stdout
    assert "3.99 or 3.98" in done.stderr and "PYTHON=" in done.stderr
