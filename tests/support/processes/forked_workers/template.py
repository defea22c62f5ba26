"""The core's side of the template: stands in for `blendwright.bridge.spawn.start_process`."""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from blendwright.bridge.sources.python_environment import START_FILE
from blendwright.bridge.spawn import Process, start_process
from blendwright.wire.worker_environment import EXTENSIONS, private_directories, private_environment
from support.processes.forked_workers.template_process import LARGEST_REQUEST

_PR_SET_CHILD_SUBREAPER = 36
_SECONDS = 60.0
_ASKING = threading.Lock()
TEMPLATE = Path(__file__).with_name("template_process.py")
LOG = "template.log"
# What a child would inherit.
_LIMITS = (resource.RLIMIT_AS, resource.RLIMIT_FSIZE, resource.RLIMIT_NOFILE, resource.RLIMIT_CORE, resource.RLIMIT_CPU)


class ForkedWorkers:
    """Starts workers as forks of one template, which is started with the first of them; others than its own kind really."""

    def __init__(self, place: Path | None = None, template: Template | None = None) -> None:
        """`place` is where the template has its directory; whoever may be killed names one that others clear away."""
        self._template = template
        self._place = place
        self.forking = True
        """Whether workers are forked now; otherwise all starts are real ones."""
        self.real_starts = 0
        self.forks = 0

    def start(
        self,
        command: list[str],
        *,
        log: int,
        descriptors: Sequence[int],
        environment: Mapping[str, str],
        directory: Path,
    ) -> Process:
        """As `start_process`."""
        if self.forking and command[:3] == _COMMAND:
            if self._template is None:
                place = Path(tempfile.mkdtemp(prefix="blendwright-template-", dir=self._place))
                self._template = Template.start(place, TEMPLATE)
            if self._template.fits(environment, directory):
                self.forks += 1
                request = {
                    "arguments": command[2:],
                    "descriptors": list(descriptors),
                    "environment": dict(environment),
                    "directory": str(directory),
                    "limits": [(kind, resource.getrlimit(kind)) for kind in _LIMITS],
                }
                return ForkedProcess(self._template.ask(request, [log, *descriptors]))
        self.real_starts += 1
        return start_process(command, log=log, descriptors=descriptors, environment=environment, directory=directory)

    @property
    def template_pid(self) -> int | None:
        return None if self._template is None else self._template.pid

    def close(self) -> None:
        if self._template is not None:
            self._template.close()


_COMMAND = [str(Path(sys.executable).absolute()), "-P", str(START_FILE)]


class Template:
    """A process with Blender in it. What it forks are children of this process, as if it had started them."""

    def __init__(self, control: socket.socket, pid: int, place: Path) -> None:
        """`place` is its directory, with a log and what Blender keeps for itself."""
        control.settimeout(_SECONDS)
        self._control = control
        self.pid = pid
        self._place = place
        self._environment = private_environment(place)

    @classmethod
    def start(cls, place: Path, program: Path) -> Template:
        for directory in private_directories(place):
            directory.mkdir(mode=0o700, parents=True)
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs, (place / LOG).open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, "-P", str(program), str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=[theirs.fileno()],
                env=private_environment(place),
                cwd=place,
                start_new_session=True,
            )
        # Whoever closes it waits for it by its number.
        process.returncode = 0
        template = cls(ours, process.pid, place)
        threads = template._answer()["threads"]
        if threads != 1:
            raise RuntimeError(f"the template has {threads} threads: what is forked from it could hang")
        return template

    def fits(self, environment: Mapping[str, str], directory: Path) -> bool:
        """Whether an interpreter with this environment would be like that of the template."""
        wanted = {name: value for name, value in environment.items() if name != EXTENSIONS}
        return _without(wanted, directory) == _without(self._environment, self._place)

    def ask(self, request: Mapping[str, Any], descriptors: Sequence[int]) -> int:
        """The pid of the process that it forks for a request; a child of this one."""
        with _taking_in_orphans():
            socket.send_fds(self._control, [json.dumps(request).encode()], descriptors)
            return self._answer()["pid"]

    def close(self) -> None:
        """It has nothing to do once nobody can ask it any more."""
        self._control.close()
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        shutil.rmtree(self._place, ignore_errors=True)

    def _answer(self) -> dict[str, Any]:
        try:
            message = self._control.recv(LARGEST_REQUEST)
        except TimeoutError:
            message = b""
        if not message:
            os.kill(self.pid, signal.SIGKILL)
            told = (self._place / LOG).read_text()[-2000:]
            raise RuntimeError(f"the template of forked workers does not answer: {told}")
        return json.loads(message)


def _without(environment: Mapping[str, str], scratch: Path) -> dict[str, str]:
    return {name: value.replace(str(scratch), "") for name, value in environment.items()}


@contextlib.contextmanager
def _taking_in_orphans() -> Any:
    """A worker whose parent ends is ours meanwhile. No longer: the orphans of others belong to the system, which buries them."""
    with _ASKING:
        _set_subreaper(True)
        try:
            yield
        finally:
            _set_subreaper(False)


def _set_subreaper(on: bool) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_CHILD_SUBREAPER, ctypes.c_ulong(on), 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl")


@dataclass
class ForkedProcess:
    """A child of this process that Popen has not started."""

    pid: int
    _status: int | None = None
    _waiting: threading.Lock = field(default_factory=threading.Lock)
    _changing: threading.Lock = field(default_factory=threading.Lock)

    def kill(self) -> None:
        with self._changing:
            if self._status is None:
                os.kill(self.pid, signal.SIGKILL)

    def wait(self) -> int:
        with self._waiting:
            if self._status is None:
                # Its number is its own until it is reaped, which must not happen between the look and the signal of `kill`.
                os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT)
                with self._changing:
                    _, status = os.waitpid(self.pid, 0)
                    self._status = os.waitstatus_to_exitcode(status)
            return self._status
