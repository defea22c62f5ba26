"""Makes and removes the environments of this user. Each is made beside the others and moved into its place when it is whole.

Only one process at a time makes or removes: what another one left half made is then known to be left over, and is removed.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from blendwright.bridge import exit_diagnosis
from blendwright.bridge.environments.executables import ask_executable
from blendwright.bridge.environments.interpreters import Interpreter, ask, find_interpreter
from blendwright.bridge.environments.records import (
    NAME,
    PACKAGES,
    Environment,
    blenders_directory,
    digest,
    environments,
    write_record,
)
from blendwright.bridge.environments.series import Series, packages_for_executables
from blendwright.util.directory_removal import remove_directory
from blendwright.util.file_lock import is_locked_elsewhere
from blendwright.values.errors import EnvironmentUnfit, Refusal, WorkerLost
from blendwright.values.faults import Fault
from blendwright.values.findings import did_you_mean
from blendwright.wire.package_version import PACKAGE

Progress = Callable[[str], None]
"""Is told what is being done, one line at a time."""

_UNFINISHED = ".unfinished-"
_LOCK = ".lock"
# The last lines that a program printed before it failed.
_TAIL = 12


def add_series(
    series: Series, progress: Progress, *, name: str | None = None, python: Path | None = None
) -> Environment:
    """Make an environment with the wheel of a series. Raises EnvironmentUnfit with the cure where something is missing."""
    interpreter = _interpreter_for(series, python)
    requirements = series.requirements
    with _being_made(name or series.name) as (directory, finish):
        progress(f"Python {interpreter.text} ({interpreter.path})")
        _run([interpreter.path, "-P", "-m", "venv", directory], progress)
        made = Environment(
            name=name or series.name, blender=series.version, python=interpreter.text, lock=digest(requirements),
            directory=directory,
        )  # fmt: skip
        _install(made.interpreter, requirements, directory, progress)
        # Nobody installs anything into it by hand, and the programs beside it name the directory that it was made in.
        _run([made.interpreter, "-P", "-m", "pip", "uninstall", "--quiet", "--yes", "pip"], progress)
        progress("compiling")
        _compile(made.interpreter, directory)
        progress("starting Blender once")
        version = _version_of(made.interpreter)
        return finish(replace(made, blender=version))


def add_executable(path: Path, progress: Progress, *, name: str | None = None) -> Environment:
    """Get what an installed Blender lacks, for its own Python. Raises EnvironmentUnfit where it is none, or is too old."""
    executable = path.absolute()
    progress(f"asking {executable}")
    blender, python = ask_executable(executable)
    requirements = packages_for_executables()
    with _being_made(name or ".".join(blender.split(".")[:2])) as (directory, finish):
        progress(f"Blender {blender} with Python {python}")
        pip = directory / "pip"
        _run([sys.executable, "-P", "-m", "venv", pip], progress)
        made = Environment(
            name=directory.name, blender=blender, python=python, lock=digest(requirements), executable=str(executable),
            directory=directory,
        )  # fmt: skip
        version = ".".join(python.split(".")[:2])
        target = ("--target", str(directory / PACKAGES), "--python-version", version, "--implementation", "cp")
        with_pip = Environment(made.name, blender, python, made.lock, directory=pip).interpreter
        _install(with_pip, requirements, directory, progress, target)
        shutil.rmtree(pip)
        return finish(made)


def remove(name: str, progress: Progress) -> Environment:
    """Remove one for good. Raises Refusal where there is none of this name."""
    with _locked() as root:
        found = next((each for each in environments() if each.name == name), None)
        if found is None:
            names = [each.name for each in environments()]
            cure = did_you_mean(name, names, otherwise="`blendwright blender list` shows those that are here.")
            raise Refusal.of(Fault.TARGET_NOT_FOUND, f"there is no Blender '{name}' that was added", cure)
        progress(f"removing {found.directory}")
        # First out of sight as a whole, so that nobody starts half of it.
        doomed = Path(tempfile.mkdtemp(prefix=_UNFINISHED, dir=root))
        found.directory.rename(doomed / name)
        remove_directory(doomed)
        return found


def _interpreter_for(series: Series, python: Path | None) -> Interpreter:
    found = find_interpreter(series.python) if python is None else ask(python)
    if found is None or found.version[:2] != series.python:
        wanted = f"Blender {series.name} needs Python {series.python_text}"
        here = f", and {python} is none that runs and has venv" if python else ", which is not on this machine"
        cure = (
            f"Install it (uv python install {series.python_text}, pyenv install {series.python_text}, or apt-get install "
            f"python{series.python_text}-venv), then: blendwright blender add {series.name}"
        )
        raise EnvironmentUnfit(wanted + here, cure=cure)
    return found


@contextlib.contextmanager
def _locked() -> Generator[Path]:
    """Nobody else makes or removes; what is unfinished is left over."""
    root = blenders_directory()
    try:
        root.mkdir(parents=True, exist_ok=True)
        lock = os.open(root / _LOCK, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        cure = "Set XDG_DATA_HOME to a directory that can be written."
        raise EnvironmentUnfit(f"{root} cannot be written: {error.strerror}", cure=cure) from error
    try:
        if is_locked_elsewhere(lock):
            raise EnvironmentUnfit(
                f"another process adds or removes a Blender in {root}", cure="Wait until it has ended."
            )
        for unfinished in root.glob(f"{_UNFINISHED}*"):
            remove_directory(unfinished)
        yield root
    finally:
        os.close(lock)


@contextlib.contextmanager
def _being_made(name: str) -> Generator[tuple[Path, Callable[[Environment], Environment]]]:
    """A directory to make it in, and what moves it into its place; nothing is left of it where that is not reached."""
    if not NAME.fullmatch(name):
        cure = "Use letters, digits, dots, hyphens and underscores."
        raise Refusal.of(Fault.ARGS_INVALID, f"'{name}' cannot be the name of a Blender", cure)
    with _locked() as root:
        unfinished = Path(tempfile.mkdtemp(prefix=_UNFINISHED, dir=root))
        directory = unfinished / name
        directory.mkdir()

        def finish(made: Environment) -> Environment:
            write_record(made, directory)
            place = root / name
            if place.exists():
                place.rename(unfinished / "before")
            directory.rename(place)
            return replace(made, directory=place)

        try:
            yield directory, finish
        finally:
            remove_directory(unfinished)


def _install(python: Path, requirements: str, place: Path, progress: Progress, target: Sequence[str] = ()) -> None:
    """Pinned versions only, each file with its hash, nothing built from sources. Where from is for pip's own configuration."""
    file = place / "requirements.txt"
    file.write_text(requirements, "utf-8")
    options = ("--require-hashes", "--no-deps", "--only-binary", ":all:", "--no-compile", "--disable-pip-version-check")
    progress("installing; Blender alone is some 300 MB" if not target else "installing")
    _run([python, "-P", "-m", "pip", "install", "--progress-bar", "off", *options, *target, "-r", file], progress)


def _run(command: Sequence[str | Path], progress: Progress) -> None:
    """Run a program to its end, telling what it collects. Raises EnvironmentUnfit with the last lines that it printed."""
    lines: list[str] = []
    try:
        with subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        ) as process:
            assert process.stdout is not None
            try:
                for line in process.stdout:
                    lines = [*lines[1 - _TAIL :], line.strip()]
                    # Files from a cache are not downloaded.
                    if line.strip().startswith(("Downloading", "Using cached")):
                        progress(line.strip())
            except BaseException:
                process.kill()
                raise
    except OSError as error:
        raise EnvironmentUnfit(f"{command[0]} cannot be started: {error.strerror}") from error
    if process.returncode != 0:
        said = next((line for line in reversed(lines) if line.startswith(("ERROR", "Error"))), " ".join(lines[-2:]))
        words = " ".join(str(part) for part in command[1:4])
        message = f"`{Path(command[0]).name} {words}` failed: {said or f'exit code {process.returncode}'}"
        cure = "Check the connection and the free disk space, and run the command again."
        raise EnvironmentUnfit(message, cure=cure, details={"output": lines})


def _compile(python: Path, directory: Path) -> None:
    """Compiled modules for workers, which write none: of everything in the environment, and of our own package for its Python.

    Some of Blender's files are templates and cannot be compiled, and our package may lie where we cannot write: neither matters.
    """
    base = [python, "-P", "-m", "compileall", "-q", "-q", "-j", "0"]
    for place in (directory / "lib", directory / "Lib", PACKAGE):
        if place.is_dir():
            subprocess.run([*base, place], stdin=subprocess.DEVNULL, capture_output=True, check=False)


def _version_of(python: Path) -> str:
    """The Blender in an environment, started once: whatever the system lacks shows here and not in the middle of some work."""
    program = "import bpy; print(bpy.app.version_string)"
    with tempfile.TemporaryDirectory() as home:
        environment: Mapping[str, str] = {**os.environ, "HOME": home, "BLENDER_USER_RESOURCES": home}
        done = subprocess.run(
            [python, "-I", "-c", program],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            env=environment,
            check=False,
        )
    lines = (done.stdout + done.stderr).splitlines()
    if done.returncode != 0:
        raise exit_diagnosis.start_failed(WorkerLost(f"it ended with exit code {done.returncode}"), lines)
    # As in `5.2.3 LTS`, after whatever Blender prints itself.
    return done.stdout.splitlines()[-1].split()[0]
