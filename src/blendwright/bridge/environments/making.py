"""Creation and removal of the user's environments. A new environment is created in a temporary directory and moved when complete.

Only one process at a time creates or removes environments. It deletes unfinished directories that earlier processes left.
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
"""A function that receives one line of progress at a time."""

_UNFINISHED = ".unfinished-"
_LOCK = ".lock"
# The number of a failed program's last lines in an error.
_TAIL_LINES = 12


def add_series(
    series: Series, progress: Progress, *, name: str | None = None, python: Path | None = None
) -> Environment:
    """Create an environment with the wheel of a series. Raise EnvironmentUnfit with a fix if a requirement is missing."""
    interpreter = _interpreter_for(series, python)
    requirements = series.requirements
    with _new_environment(name or series.name) as (directory, finish):
        progress(f"Python {interpreter.text} ({interpreter.path})")
        _run([interpreter.path, "-P", "-m", "venv", directory], progress)
        environment = Environment(
            name=name or series.name, blender=series.version, python=interpreter.text, lock=digest(requirements),
            directory=directory,
        )  # fmt: skip
        _install(environment.interpreter, requirements, directory, progress)
        # The user installs nothing into it, and pip's programs contain the path of the temporary directory.
        _run([environment.interpreter, "-P", "-m", "pip", "uninstall", "--quiet", "--yes", "pip"], progress)
        progress("compiling")
        _compile(environment.interpreter, directory)
        progress("starting Blender once")
        version = _version_of(environment.interpreter)
        return finish(replace(environment, blender=version))


def add_executable(path: Path, progress: Progress, *, name: str | None = None) -> Environment:
    """Install the packages that an installed Blender lacks for its Python. Raise EnvironmentUnfit if it is not a Blender, or is too old."""
    executable = path.absolute()
    progress(f"asking {executable} for its version")
    blender, python = ask_executable(executable)
    requirements = packages_for_executables()
    with _new_environment(name or ".".join(blender.split(".")[:2])) as (directory, finish):
        progress(f"Blender {blender} with Python {python}")
        pip = directory / "pip"
        _run([sys.executable, "-P", "-m", "venv", pip], progress)
        environment = Environment(
            name=directory.name, blender=blender, python=python, lock=digest(requirements), executable=str(executable),
            directory=directory,
        )  # fmt: skip
        version = ".".join(python.split(".")[:2])
        target = ("--target", str(directory / PACKAGES), "--python-version", version, "--implementation", "cp")
        with_pip = Environment(environment.name, blender, python, environment.lock, directory=pip).interpreter
        _install(with_pip, requirements, directory, progress, target)
        shutil.rmtree(pip)
        return finish(environment)


def remove(name: str, progress: Progress) -> Environment:
    """Remove an environment permanently and return it. Raise Refusal for an unknown name."""
    with _locked() as root:
        by_name = {environment.name: environment for environment in environments()}
        environment = by_name.get(name)
        if environment is None:
            cure = did_you_mean(name, list(by_name), otherwise="`blendwright blender list` shows the added Blenders.")
            raise Refusal.of(Fault.TARGET_NOT_FOUND, f"there is no Blender '{name}' that was added", cure)
        progress(f"removing {environment.directory}")
        # Move it away as a whole first, so that no process starts a partly removed Blender.
        doomed = Path(tempfile.mkdtemp(prefix=_UNFINISHED, dir=root))
        environment.directory.rename(doomed / name)
        remove_directory(doomed)
        return environment


def _interpreter_for(series: Series, python: Path | None) -> Interpreter:
    """Return a Python for a series: the given one, or one of this machine. Raise EnvironmentUnfit without a suitable one."""
    if python is None:
        interpreter = find_interpreter(series.python)
        problem = "which is not on this machine"
    else:
        interpreter = ask(python)
        problem = f"but {python} is another version, does not run, or lacks venv"
    if interpreter is None or interpreter.version[:2] != series.python:
        message = f"Blender {series.name} needs Python {series.python_text}, {problem}"
        cure = (
            f"Install it (uv python install {series.python_text}, pyenv install {series.python_text}, or apt-get install "
            f"python{series.python_text}-venv), then: blendwright blender add {series.name}"
        )
        raise EnvironmentUnfit(message, cure=cure)
    return interpreter


@contextlib.contextmanager
def _locked() -> Generator[Path]:
    """Lock the directory of environments within the block, and remove unfinished ones. Yield the directory."""
    root = blenders_directory()
    try:
        root.mkdir(parents=True, exist_ok=True)
        lock = os.open(root / _LOCK, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        cure = "Set XDG_DATA_HOME to a writable directory."
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
def _new_environment(name: str) -> Generator[tuple[Path, Callable[[Environment], Environment]]]:
    """Yield a directory for a new environment, and a function that moves it to its final path. Remove unfinished files afterwards."""
    if not NAME.fullmatch(name):
        cure = "Use letters, digits, dots, hyphens and underscores."
        raise Refusal.of(Fault.ARGS_INVALID, f"'{name}' is not a valid name for a Blender", cure)
    with _locked() as root:
        unfinished = Path(tempfile.mkdtemp(prefix=_UNFINISHED, dir=root))
        directory = unfinished / name
        directory.mkdir()

        def finish(environment: Environment) -> Environment:
            write_record(environment, directory)
            target = root / name
            if target.exists():
                target.rename(unfinished / "before")
            directory.rename(target)
            return replace(environment, directory=target)

        try:
            yield directory, finish
        finally:
            remove_directory(unfinished)


def _install(python: Path, requirements: str, directory: Path, progress: Progress, target: Sequence[str] = ()) -> None:
    """Install pinned wheels with checked hashes, without building sources. pip's configuration defines the index."""
    file = directory / "requirements.txt"
    file.write_text(requirements, "utf-8")
    options = ("--require-hashes", "--no-deps", "--only-binary", ":all:", "--no-compile", "--disable-pip-version-check")
    if target:
        progress("installing")
    else:
        progress("installing; Blender alone has about 300 MB")
    _run([python, "-P", "-m", "pip", "install", "--progress-bar", "off", *options, *target, "-r", file], progress)


def _run(command: Sequence[str | Path], progress: Progress) -> None:
    """Run a program to its end and report its downloads. On failure, raise EnvironmentUnfit with its last lines."""
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
                    lines = [*lines[1 - _TAIL_LINES :], line.strip()]
                    # pip does not download files from its cache.
                    if line.strip().startswith(("Downloading", "Using cached")):
                        progress(line.strip())
            except BaseException:
                process.kill()
                raise
    except OSError as error:
        raise EnvironmentUnfit(f"{command[0]} cannot be started: {error.strerror}") from error
    if process.returncode != 0:
        errors = [line for line in lines if line.startswith(("ERROR", "Error"))]
        reason = " ".join(errors[-1:] or lines[-2:]) or f"exit code {process.returncode}"
        words = " ".join(map(str, command[1:4]))
        message = f"`{Path(command[0]).name} {words}` failed: {reason}"
        cure = "Check the connection and the free disk space, and run the command again."
        raise EnvironmentUnfit(message, cure=cure, details={"output": lines})


def _compile(python: Path, directory: Path) -> None:
    """Compile the modules of an environment and of this package for its Python. Workers themselves write no compiled files.

    Ignore failures: some of Blender's files are templates, and the package may be in a read-only directory.
    """
    base = [python, "-P", "-m", "compileall", "-q", "-q", "-j", "0"]
    for folder in (directory / "lib", directory / "Lib", PACKAGE):
        if folder.is_dir():
            subprocess.run([*base, folder], stdin=subprocess.DEVNULL, capture_output=True, check=False)


def _version_of(python: Path) -> str:
    """Start the Blender of an environment once and return its version. A missing system library shows here, not during later work."""
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
    # The last line is like `5.2.3 LTS`. Blender may print other lines before it.
    return done.stdout.splitlines()[-1].split()[0]
