"""Starts worker processes: command line, pipes, environment, scratch. Does not speak with them."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from blendwright.bridge import shader_cache
from blendwright.tools import registry
from blendwright.values.errors import EnvironmentUnfit
from blendwright.wire.worker_environment import LOG_NAME, private_environment
from blendwright.wire.worker_port import ReadableFile

# From the arguments of a worker to the command line that starts it.
Command = Callable[[list[str]], list[str]]

# Linux sends a process its death signal when the THREAD that forked it ends, not when the whole parent process does.
# Workers are asked for by threads that come and go, so one thread that lives as long as the process forks them all.
_SPAWNING_THREAD = ThreadPoolExecutor(max_workers=1, thread_name_prefix="blendwright-spawn")


@dataclass(frozen=True)
class WorkerSettings:
    """What holds for every worker, wherever it comes from."""

    scratch_root: Path
    """Every worker gets a directory of its own in here."""
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    """Variables on top of the private environment; nothing else of the core's own environment is passed on."""
    start_timeout: float = 60.0
    readable: tuple[ReadableFile, ...] = ()
    """Files that workers may read besides what Blender needs."""
    memory_mb: int = 16_384
    """Address space; Blender reserves far more than it touches."""
    scratch_mb: int = 4096
    """The largest file; what they come to together is for the core to watch."""


class Process(Protocol):
    """A started child process of the core."""

    @property
    def pid(self) -> int: ...

    def kill(self) -> None:
        """End it by SIGKILL; one that has ended is left alone."""
        ...

    def wait(self) -> int:
        """Its exit status once it has ended, as in Popen.returncode."""
        ...


@dataclass(frozen=True)
class Child:
    """A started process and the core's ends of its pipes."""

    process: Process
    read_fd: int
    write_fd: int
    scratch: Path
    lifeline_fd: int | None
    scratch_mb: int = WorkerSettings.scratch_mb

    @property
    def log(self) -> Path:
        return self.scratch / LOG_NAME


@dataclass
class EarlyWorker:
    """A worker process that was started before a pool asked for one. Nothing has been sent to it yet."""

    child: Child
    command: Sequence[str]
    settings: WorkerSettings
    release: Callable[[], None]
    """Removes the directory that its scratch is in; to be called when it has ended."""
    adopted: bool = False
    """Whether a pool has taken it over."""

    def fits(self, command: Sequence[str], settings: WorkerSettings) -> bool:
        """Whether this command with these settings would have started the same process, in another scratch directory."""
        same_place = replace(settings, scratch_root=self.settings.scratch_root)
        return (self.command, self.settings) == (command, same_place)

    def discard(self) -> None:
        """End the process and remove its scratch."""
        from blendwright.bridge.worker import WorkerProcess  # an early start does not wait for what speaks with workers

        try:
            worker = WorkerProcess(self.child)
            worker.kill()
            worker.close(0.0)
        finally:
            self.release()


def spawn(command: Command, settings: WorkerSettings) -> Child:
    """Start a worker process; raises EnvironmentUnfit when the executable cannot be run."""
    return _SPAWNING_THREAD.submit(_spawn, command, settings).result()


def _spawn(command_with: Command, settings: WorkerSettings) -> Child:
    settings.scratch_root.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix="worker-", dir=settings.scratch_root.resolve()))
    with contextlib.ExitStack() as on_failure, contextlib.ExitStack() as theirs:
        on_failure.callback(shutil.rmtree, scratch, ignore_errors=True)
        worker_reads, we_write = _pipe(theirs, on_failure)
        we_read, worker_writes = _pipe(on_failure, theirs)
        arguments = ["--read-fd", str(worker_reads), "--write-fd", str(worker_writes)]
        passed = [worker_reads, worker_writes]
        lifeline: int | None = None
        if sys.platform != "linux":
            worker_waits, lifeline = _pipe(theirs, on_failure)
            arguments += ["--lifeline-fd", str(worker_waits)]
            passed.append(worker_waits)
        arguments += ["--scratch", str(scratch), "--parent", str(os.getpid())]
        for file in settings.readable:
            _link(scratch, file)
            arguments += ["--readable-file", str(file.path), str(file.device), str(file.inode)]
        arguments += ["--memory-mb", str(settings.memory_mb), "--file-mb", str(settings.scratch_mb)]
        command = command_with(arguments)
        environment = {**private_environment(scratch), **settings.environment}
        cache = Path(environment["XDG_CACHE_HOME"])
        registry.hand_over(cache)
        shader_cache.hand_over(command_with([]), cache)
        log = theirs.enter_context((scratch / LOG_NAME).open("ab"))
        try:
            process = start_process(
                command, log=log.fileno(), descriptors=passed, environment=environment, directory=scratch
            )
        except OSError as error:
            raise EnvironmentUnfit(f"{command[0]} cannot be started: {error.strerror}") from error
        on_failure.pop_all()
        return Child(process, we_read, we_write, scratch, lifeline, settings.scratch_mb)


def _link(scratch: Path, file: ReadableFile) -> None:
    """Without it the scene lacks one picture, which is no reason to start no worker."""
    if file.link:
        place = scratch / file.link
        with contextlib.suppress(OSError):
            place.parent.mkdir(parents=True, exist_ok=True)
            place.symlink_to(file.path)


def start_process(
    command: list[str], *, log: int, descriptors: Sequence[int], environment: Mapping[str, str], directory: Path
) -> Process:
    """Every worker process is started here; raises OSError where the command cannot be run."""
    return subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=log,
        pass_fds=descriptors,
        env=environment,
        cwd=directory,
        # A session of its own, so that Ctrl-C on the core's terminal does not reach the worker.
        start_new_session=True,
    )


def _pipe(reader: contextlib.ExitStack, writer: contextlib.ExitStack) -> tuple[int, int]:
    """The reading and the writing end, each closed with the stack it is entered in."""
    read_fd, write_fd = os.pipe()
    reader.callback(os.close, read_fd)
    writer.callback(os.close, write_fd)
    return read_fd, write_fd
