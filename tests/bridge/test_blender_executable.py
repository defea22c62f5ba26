"""A Blender executable, which has threads before it runs our first line: confined by the launcher and by the worker in it.

A real one cannot be had here. A script stands for its command line and for its threads; the bpy behind it is real.
"""

from __future__ import annotations

import shutil
import stat
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

import pytest

import blendwright
from blendwright.bridge.environments.records import Environment, environment_named, write_record
from blendwright.bridge.environments.series import SERIES
from blendwright.bridge.sources.blender_executable import BlenderExecutable
from blendwright.bridge.spawn import WorkerSettings
from blendwright.values.errors import EnvironmentUnfit
from support.processes.blender_environments import use_blender

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="confinement exists on Linux only")

# Like Blender, it loads its libraries and starts its threads, then runs the file that it was given. One of the threads tries what
# none may, before and after the worker has confined itself, and writes down how it went.
STAND_IN = """
import ctypes, json, os, resource, runpy, sys, threading
assert sys.argv[1:5] == ["--background", "--factory-startup", "--python-use-system-env", "--python"], sys.argv
import bpy
from pathlib import Path

def attempt(act):
    try:
        act()
    except OSError as error:
        return error.strerror
    return "done"

def attempts():
    return {{
        "read outside": attempt(lambda: Path({secret!r}).read_text()),
        "write outside": attempt(lambda: Path({secret!r} + ".new").write_text("x")),
        "run a program": attempt(lambda: os.posix_spawn("/usr/bin/env", ["env", "true"], {{}})),
        "write scratch": attempt(lambda: Path("thread.txt").write_text("x")),
    }}

def intruder():
    early = attempts()
    started.set()
    os.read(told, 1)
    Path("intruder.json").write_text(json.dumps({{"early": early, "late": attempts()}}))
    done.set()

started, done = threading.Event(), threading.Event()
told, tell = os.pipe()
threading.Thread(target=intruder, daemon=True).start()
started.wait()

from types import SimpleNamespace
from importlib.util import module_from_spec, spec_from_file_location
spec = spec_from_file_location("blendwright", {package!r} + "/__init__.py", submodule_search_locations=[{package!r}])
sys.modules["blendwright"] = module_from_spec(spec)
from blendwright.blender.worker import extensions
def ask(params):
    os.write(tell, b"x")
    done.wait()
    return {{
        "attempts": json.loads(Path("intruder.json").read_text()),
        "threads": os.stat("/proc/self/task").st_nlink - 2,
        "address_space": resource.getrlimit(resource.RLIMIT_AS)[1],
    }}
loaded = extensions.load_extensions
extensions.load_extensions = lambda: [*loaded(), SimpleNamespace(METHODS={{"test.intruder": ask}})]
runpy.run_path(sys.argv[5], run_name="__main__")
"""

PLAIN = """
import runpy
assert sys.argv[1:5] == ["--background", "--factory-startup", "--python-use-system-env", "--python"], sys.argv
assert sys.argv[6] == "--", sys.argv
runpy.run_path(sys.argv[5], run_name="__main__")
"""


def script(place: Path, text: str) -> Path:
    place.parent.mkdir(exist_ok=True)
    place.write_text(text)
    place.chmod(place.stat().st_mode | stat.S_IXUSR)
    return place


def stand_in(place: Path, text: str, *, interpreter: Path | None = None, packages: Path | None = None) -> Path:
    """A script beside an interpreter of its own, as Blender brings one: nothing outside its directory may be run."""
    place.parent.mkdir()
    python = place.with_name("python")
    original = Path(sys.executable if interpreter is None else interpreter).resolve()
    shutil.copy(original, python)
    config = f"home = {original.parent}\ninclude-system-site-packages = false\n"
    place.with_name("pyvenv.cfg").write_text(config)
    packages = packages or Path(sysconfig.get_paths()["purelib"])
    return script(place, f"#!{python}\nimport sys\nsys.path += [{str(packages)!r}]\n{text}")


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    path = tmp_path / "secret.txt"
    path.write_text("secret")
    return path


def test_its_threads_are_confined_as_fully_as_the_worker(
    own_settings: WorkerSettings, tmp_path: Path, secret: Path
) -> None:
    text = STAND_IN.format(secret=str(secret), package=str(Path(blendwright.__file__).parent))
    with BlenderExecutable(stand_in(tmp_path / "bin" / "blender", text)).open_pool(own_settings) as pool:
        worker = pool.take()
        account = worker.profile.confinement
        seen = worker.call("test.intruder", {}, deadline=20)
        assert worker.hash(full=True)
        assert worker.profile.pid == worker.pid
    assert seen["threads"] > 2, "it had threads before the worker began"
    assert (account["level"], account["selftest"], account["reason"]) == ("full", [], None)
    assert (account["seccomp"], account["rlimits"]) == (True, True)
    assert seen["address_space"] > 0
    early, late = seen["attempts"]["early"], seen["attempts"]["late"]
    assert early["read outside"] == late["read outside"] == "Permission denied"
    assert early["write outside"] == late["write outside"] == "Permission denied"
    assert late["run a program"] == "Operation not permitted"
    assert early["write scratch"] == late["write scratch"] == "done"
    assert not secret.with_name("secret.txt.new").exists()


@pytest.mark.slow
def test_a_relative_path_means_the_file_that_the_core_sees(
    own_settings: WorkerSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in(tmp_path / "bin" / "blender", PLAIN)
    monkeypatch.chdir(tmp_path)
    with BlenderExecutable(Path("bin/blender")).open_pool(own_settings) as pool:
        assert pool.take().call("ping", {}, deadline=20) == {}


def test_a_script_that_starts_blender_from_elsewhere_is_told_what_to_name(
    own_settings: WorkerSettings, tmp_path: Path
) -> None:
    elsewhere = script(tmp_path / "elsewhere" / "interpreter", "#!/bin/sh\nexit 0\n")
    blender = script(tmp_path / "bin" / "blender", f"#!{elsewhere}\n")
    with (
        BlenderExecutable(blender).open_pool(own_settings) as pool,
        pytest.raises(EnvironmentUnfit, match="name the Blender executable itself"),
    ):
        pool.take()


@dataclass(frozen=True)
class WithPlaces(BlenderExecutable):
    """May read what its directory only has links to, as a Blender has all of it in its own."""

    places: tuple[Path, ...] = ()

    def command(self, arguments: list[str]) -> list[str]:
        more = [part for place in self.places for part in ("--readable", str(place))]
        return super().command([*arguments, *more])


def test_an_executable_works_with_its_own_python_whichever_that_is(
    own_settings: WorkerSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Our own pydantic is compiled for another one. What it lacks is got by `blender add`, and until then the command is named."""
    others = [each.name for each in SERIES if each.name in ("5.2", "4.5") and each.python != sys.version_info[:2]]
    other = use_blender(others[0], monkeypatch)
    environment = environment_named(other)
    assert environment is not None
    (site,) = environment.directory.glob("lib/python*/site-packages")
    ships = _links(tmp_path / "ships", site, "bpy", "numpy", "numpy.libs")
    # As a distribution has it: older than what pydantic needs.
    (ships / "typing_extensions.py").write_text("")
    path = stand_in(tmp_path / "bin" / "blender", PLAIN, interpreter=environment.interpreter, packages=ships)
    source = WithPlaces(path, (ships, site, environment.interpreter.resolve().parents[1]))

    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    python = environment.python.rpartition(".")[0]
    with (
        source.open_pool(own_settings) as pool,
        pytest.raises(EnvironmentUnfit, match=f"no pydantic for its Python {python}") as caught,
    ):
        pool.take()
    assert "blendwright blender add PATH" in str(caught.value.cure)

    place = tmp_path / "data" / "blendwright" / "blenders" / "studio"
    place.mkdir(parents=True)
    needed = ("pydantic", "pydantic_core", "annotated_types", "typing_inspection", "typing_extensions.py")
    _links(place / "packages", site, *needed)
    write_record(Environment("studio", environment.blender, environment.python, "0", executable=str(path)), place)
    with source.open_pool(own_settings) as pool:
        worker = pool.take()
        assert worker.profile.python == environment.python and worker.hash(full=True)
        assert worker.profile.version_string.startswith(other)


def _links(place: Path, site: Path, *names: str) -> Path:
    place.mkdir()
    for name in names:
        if (site / name).exists():
            (place / name).symlink_to(site / name)
    return place
