"""Where workers come from: which source a setting names, and an environment beside this one that really starts."""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig
from pathlib import Path

import pytest

import blendwright
from blendwright.bridge.sources import KINDS, worker_source
from blendwright.bridge.sources.blender_executable import BlenderExecutable
from blendwright.bridge.sources.python_environment import PythonEnvironment
from blendwright.bridge.spawn import WorkerSettings
from blendwright.bridge.worker import WorkerProcess
from blendwright.run.scratch_files import open_scene_file
from blendwright.values.errors import EnvironmentUnfit

# What a worker imports besides the standard library and our own package.
NEEDED = ("bpy", "numpy", "numpy.libs", "pydantic", "pydantic_core", "annotated_types", "typing_inspection")


def other_environment(place: Path, *, with_blendwright: bool = True) -> Path:
    """An environment of its own, whose packages are hard links to those of this one."""
    packages = Path(sysconfig.get_paths()["purelib"])
    target = place / packages.relative_to(sys.prefix)
    target.mkdir(parents=True)
    for name in NEEDED:
        if (packages / name).is_dir():
            shutil.copytree(
                packages / name, target / name, copy_function=_link, ignore=shutil.ignore_patterns("__pycache__")
            )
    _link(str(packages / "typing_extensions.py"), str(target / "typing_extensions.py"))
    if with_blendwright:
        (target / "blendwright.pth").write_text(f"{Path(blendwright.__file__).parent.parent}\n")
    (place / "bin").mkdir()
    (place / "bin" / "python").symlink_to(Path(sys.executable).resolve())
    (place / "pyvenv.cfg").write_text(f"home = {Path(sys.executable).resolve().parent}\n")
    return place


def _link(source: str, target: str) -> str:
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)
    return target


def test_without_a_setting_workers_are_the_bpy_of_this_environment() -> None:
    assert worker_source() == PythonEnvironment(Path(sys.executable))


def test_a_setting_names_the_first_kind_that_knows_it(tmp_path: Path) -> None:
    (tmp_path / "env" / "bin").mkdir(parents=True)
    python = tmp_path / "env" / "bin" / "python"
    python.touch()
    assert worker_source(tmp_path / "env") == worker_source(str(python)) == PythonEnvironment(python)
    assert worker_source("/opt/blender/blender") == BlenderExecutable(Path("/opt/blender/blender"))
    given = BlenderExecutable(tmp_path)
    assert worker_source(given) is given
    assert KINDS[-1] is BlenderExecutable, "it takes any path"


def test_another_environment_starts_and_runs_our_tools(tmp_path: Path) -> None:
    environment = other_environment(tmp_path / "other")
    with blendwright.open(tmp_path / "workspace", blender=environment, spare=False) as scene:
        assert scene.call("object.create_empty", name="From elsewhere").ok
        assert scene.blender.confinement["level"] in ("full", "partial", "none")


def test_an_environment_without_blendwright_is_told_what_to_install(tmp_path: Path) -> None:
    environment = other_environment(tmp_path / "other", with_blendwright=False)
    with (
        worker_source(environment).open_pool(WorkerSettings(tmp_path / "scratch")) as pool,
        pytest.raises(EnvironmentUnfit, match="no blendwright") as caught,
    ):
        pool.take()
    assert caught.value.cure is not None and "install blendwright" in caught.value.cure


def test_what_needs_a_scratch_directory_is_refused_where_a_worker_has_no_process_of_ours(
    worker: WorkerProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(WorkerProcess, "process", None)
    assert worker.hash(full=True) == worker.hash()
    with pytest.raises(EnvironmentUnfit, match="started itself") as caught:
        open_scene_file(worker, Path("scene.blend"), "the file")
    assert caught.value.cure is not None
