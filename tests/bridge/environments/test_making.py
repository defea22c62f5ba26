"""Environments are made whole or not at all. The wheels here are small ones that stand for the real, which `make blenders` installs."""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from blendwright.bridge.environments import making, records, series
from blendwright.bridge.environments.executables import ask_executable
from blendwright.bridge.environments.records import environment_named, environments
from blendwright.bridge.environments.series import Series
from blendwright.bridge.sources.named_blender import NamedBlender
from blendwright.bridge.sources.python_environment import PythonEnvironment
from blendwright.values.errors import EnvironmentUnfit, Refusal

HERE = sys.version_info[:2]
SMALL = Series("9.1", "9.1.0", (HERE[0], HERE[1]), ())


def wheel(place: Path, name: str, version: str, files: dict[str, str]) -> str:
    """A wheel in a directory; the line of a lock that pins it."""
    place.mkdir(exist_ok=True)
    info = f"{name}-{version}.dist-info"
    path = place / f"{name}-{version}-py3-none-any.whl"
    content = files | {
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(f"{each},,\n" for each in (*content, f"{info}/RECORD"))
    with zipfile.ZipFile(path, "w") as archive:
        for each, text in (content | {f"{info}/RECORD": record}).items():
            archive.writestr(each, text)
    return f"{name}=={version} --hash=sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}\n"


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One of this Python, with pip and nothing else, to copy: four seconds of processor time go into each that is made."""
    place = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", place], check=True)
    return place


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Path:
    """The user's Blenders, none yet, and an index of wheels beside them that is the only one."""
    run = making._run  # pyright: ignore[reportPrivateUsage]

    def run_or_copy(command: Sequence[str | Path], progress: making.Progress) -> None:
        if command[1:3] == ["-m", "venv"]:
            shutil.copytree(request.getfixturevalue("environment"), command[3], symlinks=True, dirs_exist_ok=True)
        else:
            run(command, progress)

    monkeypatch.setattr(making, "_run", run_or_copy)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "wheels"))
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setattr(making, "_compile", _compile_environment_only)
    return tmp_path / "data" / "blendwright" / "blenders"


def _compile_environment_only(python: Path, directory: Path) -> None:
    subprocess.run([python, "-m", "compileall", "-q", directory / "lib"], check=True)


def locked(monkeypatch: pytest.MonkeyPatch, lock: str) -> None:
    monkeypatch.setattr(Series, "requirements", property(lambda self: lock))
    monkeypatch.setattr(series, "SERIES", (SMALL,))
    monkeypatch.setattr(records, "series_named", {SMALL.name: SMALL}.get)


def blender_wheel(place: Path, version: str = "9.1.0") -> str:
    app = f"class app:\n    version_string = '{version} LTS'\nprint('Blender prints something')\n"
    return wheel(place, "bpy", version, {"bpy/__init__.py": app})


def test_an_environment_is_made_listed_found_outdated_and_removed(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    locked(monkeypatch, blender_wheel(tmp_path / "wheels"))
    told: list[str] = []
    made = making.add_series(SMALL, told.append)
    assert any(str(made.python) in line for line in told) and "compiling" in told
    assert environments() == [made] and made.directory == root / "9.1" and made.problem() is None and not made.outdated
    assert made.blender == "9.1.0", "as it says itself"
    assert NamedBlender("9.1").source() == PythonEnvironment(made.interpreter)
    (module,) = made.directory.glob("lib/*/site-packages/bpy")
    assert list((module / "__pycache__").glob("*.pyc")), "workers write no compiled modules"
    assert not list(made.directory.glob("lib/*/site-packages/pip")), "nothing that workers do not need"
    assert sorted(path.name for path in root.iterdir()) == [".lock", "9.1"]

    # Pins that have changed make it outdated.
    monkeypatch.setattr(Series, "requirements", property(lambda self: "other pins"))
    assert environments()[0].outdated

    told.clear()
    assert making.remove("9.1", told.append) == made
    assert environments() == [] and [path.name for path in root.iterdir()] == [".lock"]
    with pytest.raises(Refusal, match=r"no Blender '9\.1'"):
        making.remove("9.1", told.append)


@pytest.mark.parametrize(
    "hashes",
    [
        pytest.param(f" --hash=sha256:{'0' * 64}", id="another hash"),
        pytest.param("", id="no hash", marks=pytest.mark.slow),
    ],
)
def test_a_file_without_its_hash_is_refused_and_leaves_nothing(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hashes: str
) -> None:
    locked(monkeypatch, f"bpy==9.1.0{hashes}\n")
    blender_wheel(tmp_path / "wheels")
    with pytest.raises(EnvironmentUnfit, match="pip") as caught:
        making.add_series(SMALL, lambda line: None)
    assert any("HASHES" in line.upper() for line in caught.value.details["output"]), caught.value.details
    assert [path.name for path in root.iterdir()] == [".lock"]


KILLED = """
import sys
from pathlib import Path
from blendwright.bridge.environments import making
from blendwright.bridge.environments.series import Series
Series.requirements = property(lambda self: "")
def stop(command, progress):
    print("installing", flush=True)
    sys.stdin.read()
making._run = stop
making.add_series(Series("9.1", "9.1.0", sys.version_info[:2], ()), lambda line: None)
"""


def test_what_was_broken_off_is_no_environment_and_is_cleared_away(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    process = subprocess.Popen([sys.executable, "-c", KILLED], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin is not None and process.stdout is not None
    assert process.stdout.readline() == b"installing\n"
    with pytest.raises(EnvironmentUnfit, match="another process adds or removes"):
        making.remove("9.1", lambda line: None)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    left = [path.name for path in root.iterdir() if path.name != ".lock"]
    assert len(left) == 1 and environments() == [] and environment_named("9.1") is None
    with pytest.raises(Refusal):
        making.remove("9.1", lambda line: None)
    assert [path.name for path in root.iterdir()] == [".lock"]


@pytest.mark.slow
def test_an_interruption_leaves_nothing(root: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None and process.stdout.readline() == b"installing\n"
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=120)
    assert [path.name for path in root.iterdir()] == [".lock"]


def test_a_python_that_is_not_here_is_named_with_ways_to_get_it(root: Path, tmp_path: Path) -> None:
    wanted = replace(SMALL, python=(3, 99))
    with pytest.raises(EnvironmentUnfit, match=r"needs Python 3\.99, which is not on this machine") as caught:
        making.add_series(wanted, lambda line: None)
    assert caught.value.cure is not None and "blendwright blender add 9.1" in caught.value.cure
    with pytest.raises(EnvironmentUnfit, match=r"needs Python 3\.99, but .* is another version, does not run"):
        making.add_series(wanted, lambda line: None, python=tmp_path / "python")
    assert not root.exists(), "nothing was begun"


EXECUTABLE = """#!{python}
import sys, types
bpy = types.ModuleType("bpy")
bpy.app = types.SimpleNamespace(version_string={version!r})
sys.modules["bpy"] = bpy
assert sys.argv[1:4] == ["--background", "--factory-startup", "--python-expr"]
print("Blender quits")
exec(sys.argv[4])
"""


def executable(place: Path, version: str) -> Path:
    place.write_text(EXECUTABLE.format(python=sys.executable, version=version))
    place.chmod(0o755)
    return place


def test_an_installed_blender_is_given_packages_for_its_own_python(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = wheel(tmp_path / "wheels", "pydantic", "2.99", {"pydantic/__init__.py": ""})
    monkeypatch.setattr(making, "packages_for_executables", lambda: lock)
    made = making.add_executable(executable(tmp_path / "blender", "9.3.2"), lambda line: None)
    assert (made.name, made.blender) == ("9.3", "9.3.2") and made.python.startswith(".".join(map(str, HERE)))
    assert [path.name for path in made.packages.iterdir() if path.is_dir()] != [] and (
        made.packages / "pydantic"
    ).is_dir()
    assert sorted(path.name for path in made.directory.iterdir()) == [
        "environment.json",
        "packages",
        "requirements.txt",
    ]
    assert environments() == [made]
    (tmp_path / "blender").unlink()
    assert "cannot be run any more" in str(environments()[0].problem())


@pytest.mark.parametrize(
    ("version", "message"), [("3.6.1", r"is Blender 3\.6\.1"), ("", "is Blender")], ids=["too old", "no version"]
)
def test_what_is_no_blender_of_use_is_refused(tmp_path: Path, version: str, message: str) -> None:
    with pytest.raises(EnvironmentUnfit, match=message):
        ask_executable(executable(tmp_path / "blender", version))
    silent = tmp_path / "other"
    silent.write_text("#!/bin/sh\nexit 3\n")
    silent.chmod(0o755)
    with pytest.raises(EnvironmentUnfit, match="did not report a Blender version"):
        ask_executable(silent)
    with pytest.raises(EnvironmentUnfit, match="not an executable file"):
        ask_executable(tmp_path)
