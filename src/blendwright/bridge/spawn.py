"""Start of worker processes: command line, pipes, environment, scratch directory. This module exchanges no messages with them."""

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

# A function from the arguments of a worker to its command line.
Command = Callable[[list[str]], list[str]]

# Linux sends a process its death signal when the THREAD that forked it ends, not when the whole parent process ends.
# Short-lived threads request workers, so one thread that lives as long as this process forks all of them.
_SPAWNING_THREAD = ThreadPoolExecutor(max_workers=1, thread_name_prefix="blendwright-spawn")


@dataclass(frozen=True)
class WorkerSettings:
    """Settings for every worker of a pool, independent of its source."""

    scratch_root: Path
    """The parent of the workers' scratch directories. Each worker gets a separate one."""
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    """Variables to add to the private environment. No other variables of the core's environment reach the worker."""
    start_timeout: float = 60.0
    readable: tuple[ReadableFile, ...] = ()
    """Files that workers may read in addition to files that Blender needs."""
    memory_mb: int = 16_384
    """Limit of the address space in megabytes. Blender reserves far more memory than it uses."""
    scratch_mb: int = 4096
    """Maximum size of one file in megabytes. The core limits the total size of the directory."""


class Process(Protocol):
    """A started child process of the core."""

    @property
    def pid(self) -> int: ...

    def kill(self) -> None:
        """End the process by SIGKILL. Do nothing if it has ended."""
        ...

    def wait(self) -> int:
        """Wait for the end and return the exit status, as in Popen.returncode."""
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
    """A worker process that started before any pool existed. It has received no message yet."""

    child: Child
    command: Sequence[str]
    settings: WorkerSettings
    release: Callable[[], None]
    """Removes the parent of its scratch directory. Call this after the process has ended."""
    adopted: bool = False
    """True once a pool has taken it over."""

    def fits(self, command: Sequence[str], settings: WorkerSettings) -> bool:
        """Return True if this command with these settings would start the same process in another scratch directory."""
        same_root = replace(settings, scratch_root=self.settings.scratch_root)
        return (self.command, self.settings) == (command, same_root)

    def discard(self) -> None:
        """End the process and remove its scratch directory."""
        from blendwright.bridge.worker import WorkerProcess  # local, so that an early start does not import it

        try:
            worker = WorkerProcess(self.child)
            worker.kill()
            worker.close(0.0)
        finally:
            self.release()


def spawn(command: Command, settings: WorkerSettings) -> Child:
    """Start a worker process. Raise EnvironmentUnfit if the executable cannot run."""
    return _SPAWNING_THREAD.submit(_spawn, command, settings).result()


def _spawn(command_with: Command, settings: WorkerSettings) -> Child:
    settings.scratch_root.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix="worker-", dir=settings.scratch_root.resolve()))
    with contextlib.ExitStack() as on_failure, contextlib.ExitStack() as worker_ends:
        on_failure.callback(shutil.rmtree, scratch, ignore_errors=True)
        worker_reads, core_writes = _pipe(worker_ends, on_failure)
        core_reads, worker_writes = _pipe(on_failure, worker_ends)
        arguments = ["--read-fd", str(worker_reads), "--write-fd", str(worker_writes)]
        descriptors = [worker_reads, worker_writes]
        lifeline: int | None = None
        if sys.platform != "linux":
            worker_waits, lifeline = _pipe(worker_ends, on_failure)
            arguments += ["--lifeline-fd", str(worker_waits)]
            descriptors.append(worker_waits)

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
        log = worker_ends.enter_context((scratch / LOG_NAME).open("ab"))
        try:
            process = start_process(
                command, log=log.fileno(), descriptors=descriptors, environment=environment, directory=scratch
            )
        except OSError as error:
            raise EnvironmentUnfit(f"{command[0]} cannot be started: {error.strerror}") from error
        on_failure.pop_all()
        return Child(process, core_reads, core_writes, scratch, lifeline, settings.scratch_mb)


def _link(scratch: Path, file: ReadableFile) -> None:
    """Create a file's link in the scratch directory. Ignore a failure, because only one picture would be missing in the scene."""
    if file.link:
        link = scratch / file.link
        with contextlib.suppress(OSError):
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(file.path)


def start_process(
    command: list[str], *, log: int, descriptors: Sequence[int], environment: Mapping[str, str], directory: Path
) -> Process:
    """Start a worker process. Raise OSError if the command cannot run. No other code starts workers."""
    return subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=log,
        pass_fds=descriptors,
        env=environment,
        cwd=directory,
        # A new session, so that Ctrl-C in the core's terminal does not reach the worker.
        start_new_session=True,
    )


def _pipe(reader: contextlib.ExitStack, writer: contextlib.ExitStack) -> tuple[int, int]:
    """Return the reading and the writing end of a pipe. Each stack closes one of them."""
    read_fd, write_fd = os.pipe()
    reader.callback(os.close, read_fd)
    writer.callback(os.close, write_fd)
    return read_fd, write_fd
