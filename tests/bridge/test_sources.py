"""Where workers come from: which source a setting names, and an environment beside this one that really starts."""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig
from pathlib import Path

import pytest

import blendwright
from blendwright.bridge.environments.records import Environment, write_record
from blendwright.bridge.environments.series import own_blender
from blendwright.bridge.sources import KINDS, named_blender, worker_source
from blendwright.bridge.sources.blender_executable import BlenderExecutable
from blendwright.bridge.sources.named_blender import NamedBlender
from blendwright.bridge.sources.python_environment import PythonEnvironment
from blendwright.bridge.spawn import WorkerSettings, spawn
from blendwright.bridge.worker import WorkerProcess
from blendwright.engine.files.scratch import open_scene_file
from blendwright.values.errors import EnvironmentUnfit, WorkerFault
from blendwright.wire import frames, package_version

# What a worker imports besides the standard library and our own package.
NEEDED = ("bpy", "numpy", "numpy.libs", "pydantic", "pydantic_core", "annotated_types", "typing_inspection")


def other_environment(place: Path, *, without: str | None = None) -> Path:
    """An environment of its own, whose packages are hard links to those of this one. Ours is not among them."""
    packages = Path(sysconfig.get_paths()["purelib"])
    target = place / packages.relative_to(sys.prefix)
    target.mkdir(parents=True)
    for name in NEEDED:
        if (packages / name).is_dir() and name != without:
            shutil.copytree(
                packages / name, target / name, copy_function=_link, ignore=shutil.ignore_patterns("__pycache__")
            )
    _link(str(packages / "typing_extensions.py"), str(target / "typing_extensions.py"))
    (place / "bin").mkdir()
    (place / "bin" / "python").symlink_to(Path(sys.executable).resolve())
    (place / "pyvenv.cfg").write_text(
        f"home = {Path(sys.executable).resolve().parent}\ninclude-system-site-packages = false\n"
    )
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


@pytest.mark.parametrize(
    ("without", "message", "cure"),
    [("pydantic", "no pydantic for its Python", "install pydantic"), ("bpy", "no bpy", "blendwright blender add")],
)
def test_an_environment_that_lacks_something_is_told_how_to_get_it(
    tmp_path: Path, without: str, message: str, cure: str
) -> None:
    environment = other_environment(tmp_path / "other", without=without)
    with (
        worker_source(environment).open_pool(WorkerSettings(tmp_path / "scratch")) as pool,
        pytest.raises(EnvironmentUnfit, match=message) as caught,
    ):
        pool.take()
    assert caught.value.cure is not None and cure in caught.value.cure


def test_a_worker_of_another_package_is_refused_with_both_versions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when the sources of a checkout are edited under a server that runs."""
    monkeypatch.setattr(package_version, "package_hash", lambda: "0" * 64)
    with (
        worker_source().open_pool(WorkerSettings(tmp_path / "scratch")) as pool,
        pytest.raises(
            EnvironmentUnfit, match=r"the core runs blendwright .*sources 0{12}.* the worker runs blendwright"
        ) as caught,
    ):
        pool.take()
    assert caught.value.cure is not None and "Start it again" in caught.value.cure


@pytest.mark.parametrize(
    "package",
    [
        pytest.param(None, marks=pytest.mark.slow),
        pytest.param({}, marks=pytest.mark.slow),
        {"version": blendwright.__version__, "hash": "0" * 64, "python": "3.13.0"},
    ],
)
def test_a_worker_refuses_a_core_of_another_package(tmp_path: Path, package: object) -> None:
    """Also one from before it was said: each side looks for itself."""
    child = spawn(PythonEnvironment().command, WorkerSettings(tmp_path / "scratch"))
    worker = WorkerProcess(child)
    try:
        with pytest.raises(WorkerFault) as caught:
            worker.call("hello", {"protocol": frames.PROTOCOL, "package": package}, deadline=60)
    finally:
        worker.close(0.0)
    assert caught.value.code == "package_mismatch"


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The directory of the user's Blenders, empty."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return tmp_path / "data" / "blendwright" / "blenders"


def added(data: Path, name: str, version: str, *, executable: Path | None = None) -> Path:
    """What `blendwright blender add` leaves behind, as far as files tell."""
    place = data / name
    (place / "bin").mkdir(parents=True)
    (place / "packages").mkdir()
    (place / "bin" / "python").symlink_to(sys.executable)
    at = None if executable is None else str(executable)
    write_record(Environment(name, version, "3.13.0", "0", executable=at), place)
    return place


def test_a_version_names_what_was_added(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = added(data, "5.1", "5.1.2")
    source = worker_source("5.1")
    assert source == NamedBlender("5.1") and NamedBlender("5.1").source() == PythonEnvironment(place / "bin" / "python")
    assert NamedBlender("5.1.2").source() == NamedBlender("5.1").source()
    program = tmp_path / "blender"
    program.write_text("")
    program.chmod(0o755)
    added(data, "studio", "4.3.2", executable=program)
    assert worker_source("studio") == NamedBlender("studio")
    assert NamedBlender("studio").source() == BlenderExecutable(program)
    monkeypatch.chdir(tmp_path)
    assert worker_source("blender") == BlenderExecutable(Path("blender")), "what nobody added is a path"


def test_the_blender_of_this_environment_can_be_named_too(data: Path) -> None:
    own = own_blender()
    assert own is not None
    assert NamedBlender(own).source() == NamedBlender(own.rpartition(".")[0]).source() == PythonEnvironment()


def test_what_is_missing_is_said_with_the_command_that_gets_it(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(named_blender, "own_blender", lambda: None)
    for text, cure in (("4.5", "blendwright blender add 4.5"), ("2.79", "Available: 5.2, 5.1, 5.0, 4.5, 4.2")):
        with pytest.raises(EnvironmentUnfit, match=f"no Blender {text}") as caught:
            NamedBlender(text).command([])
        assert caught.value.cure is not None and cure in caught.value.cure
    place = added(data, "5.1", "5.1.2")
    (place / "bin" / "python").unlink()
    with pytest.raises(EnvironmentUnfit, match=r"Python 3\.13\.0 is missing") as caught:
        NamedBlender("5.1").command([])
    assert caught.value.cure == "Create it again: blendwright blender add 5.1"


def test_a_core_without_bpy_takes_the_newest_that_was_added(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(named_blender, "own_blender", lambda: None)
    assert worker_source() == NamedBlender("5.2"), "which says how to get it"
    added(data, "4.5", "4.5.15")
    newest = added(data, "5.10", "5.10.0")
    added(data, "5.2", "5.2.3")
    assert worker_source() == PythonEnvironment(newest / "bin" / "python")
    (newest / "bin" / "python").unlink()
    assert worker_source() == PythonEnvironment(data / "5.2" / "bin" / "python"), (
        "one that cannot be used is passed over"
    )


def test_what_needs_a_scratch_directory_is_refused_where_a_worker_has_no_process_of_ours(
    worker: WorkerProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(WorkerProcess, "process", None)
    assert worker.hash(full=True) == worker.hash()
    with pytest.raises(EnvironmentUnfit, match="started itself") as caught:
        open_scene_file(worker, Path("scene.blend"), "the file")
    assert caught.value.cure is not None
