"""The side of the tests: `blendwright` on a command line is forked from a process that has loaded all of it.

A test starts the program as ever, by `subprocess` or by an SDK; `Popen` asks here for the process. The program is a child of the test with
its own pid, streams, signals and exit code.
"""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from support.processes.forked_workers.template import Template

PROGRAM = Path(sys.executable).with_name("blendwright")
LEAN_SERVER = Path(__file__).parents[2] / "hosts" / "lean_server.py"
CORE_SCRIPT = Path(__file__).parents[1] / "core_script.py"
TEMPLATE = Path(__file__).with_name("program_process.py")

Popen: Any = subprocess.Popen
really_start: Any = Popen._execute_child
_PARAMETERS = inspect.signature(really_start)
# What a program would not have as `program_process` makes it.
_ELSE: Mapping[str, Any] = {
    "executable": None,
    "preexec_fn": None,
    "pass_fds": (),
    "shell": False,
    "gid": None,
    "gids": None,
    "uid": None,
    "umask": -1,
    "process_group": -1,
}


class ForkedPrograms:
    """Starts programs as forks of one template, which is started with the first of them."""

    def __init__(self) -> None:
        self._template: Template | None = None
        self.forking = True
        """Whether programs are forked now; otherwise all starts are real ones."""
        self.forks = 0

    def starting(self) -> Any:
        """What stands in for `Popen._execute_child`."""

        def execute_child(popen: Any, *args: Any, **options: Any) -> None:
            self._start(popen, *args, **options)

        return execute_child

    def _start(self, popen: Any, *args: Any, **options: Any) -> None:
        asked = _PARAMETERS.bind(popen, *args, **options).arguments
        arguments = program_arguments(asked["args"])
        if not self.forking or arguments is None or not _is_ordinary(asked):
            really_start(popen, *args, **options)
            return
        if self._template is None:
            self._template = Template.start(Path(tempfile.mkdtemp(prefix="blendwright-programs-")), TEMPLATE)
        environment = os.environ if asked["env"] is None else asked["env"]
        request = {
            "arguments": arguments,
            "environment": {os.fsdecode(name): os.fsdecode(value) for name, value in environment.items()},
            "directory": os.fsdecode(asked["cwd"] or Path.cwd()),
            "session": asked["start_new_session"],
        }
        ends = [asked[name] for name in ("p2cread", "c2pwrite", "errwrite")]
        streams = [own if end == -1 else end for own, end in enumerate(ends)]
        popen.pid = self._template.ask(request, streams)
        popen._child_created = True
        popen._close_pipe_fds(
            *(asked[name] for name in ("p2cread", "p2cwrite", "c2pread", "c2pwrite", "errread", "errwrite"))
        )
        self.forks += 1

    def close(self) -> None:
        if self._template is not None:
            self._template.close()


def program_arguments(command: str | Sequence[Any]) -> list[str] | None:
    """What the program is to have in `sys.argv`, if a command line starts it."""
    if isinstance(command, str | bytes | os.PathLike):
        return None
    words = [os.fsdecode(word) for word in command]
    if words[:1] == [str(PROGRAM)]:
        return words
    for start in (["-m", "blendwright"], ["-P", str(LEAN_SERVER)], ["-P", str(CORE_SCRIPT)]):
        if words[:3] == [sys.executable, *start]:
            return words[2:]
    return None


def _is_ordinary(asked: Mapping[str, Any]) -> bool:
    """Whether the template can make such a process: nothing is asked for that an interpreter reads when it starts."""
    if any(asked.get(name, usual) != usual for name, usual in _ELSE.items()):
        return False
    return asked["env"] is None or _for_python(asked["env"]) == _for_python(os.environ)


def _for_python(environment: Mapping[Any, Any]) -> dict[str, str]:
    texts = {os.fsdecode(name): os.fsdecode(value) for name, value in environment.items()}
    return {name: value for name, value in texts.items() if name.startswith("PYTHON")}
