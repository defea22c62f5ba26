"""Forks a core for every line of its input and has it, its worker, or both killed where the line says.

A core that is forked off has everything imported already: what is left to wait for is Blender. Run as a program; a line is the JSON of
a Case, the answer is how the core ended. What a core told is in the file beside its workspace.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import traceback
from collections.abc import Callable, Generator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from crash_story import Followed, enter_quarantine, tell_stories

from blendwright.bridge import spawn
from blendwright.util import crash_points
from support.processes.forked_workers.template import ForkedWorkers

Whom = Literal["core", "worker", "both", "nobody"]
TESTS = Path(__file__).parents[2]
# Points that are reached in a Blender beside the session, and by what it made.
BESIDE = "background."


@dataclass(frozen=True, slots=True)
class Case:
    """Stories by number; in each of them, whoever is meant is killed at the point of the same place in the list."""

    workspace: str
    stories: list[int]
    points: list[str]
    whom: Whom
    quarantine: bool = False
    forked: bool = False
    """Whether workers are forked from a template, which lives and ends with the core: a story takes several."""


def told_of(workspace: Path) -> Path:
    return workspace.with_suffix(".told")


# ---------------------------------------------------------------------- in the server


def serve() -> None:
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            _live(Case(**json.loads(line)))
        _, status = os.waitpid(child, 0)
        os.write(1, f"{os.waitstatus_to_exitcode(status)}\n".encode())


def _live(case: Case) -> None:
    workspace = Path(case.workspace)
    told = os.open(told_of(workspace), os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def tell(fact: str) -> None:
        os.write(told, f"{fact}\n".encode())

    def before(story: int) -> None:
        point = case.points[case.stories.index(story)]
        Followed.now = _is_beside(point)

        def act() -> None:
            tell(f"killed {case.whom} {point}")
            kill(case.whom, but=workers.template_pid)

        crash_points.arm(point, act)

    code = 1
    workers = ForkedWorkers(workspace.parent)
    try:
        if case.forked:
            spawn.start_process = workers.start
        if case.quarantine:
            enter_quarantine(workspace)
        tell_stories(workspace, case.stories, tell, before, followed=any(map(_is_beside, case.points)))
        code = 0
    except BaseException:
        # The outermost place of a child, which must never go on as the server.
        traceback.print_exc()
    finally:
        workers.close()
        os._exit(code)


def _is_beside(point: str) -> bool:
    return point.startswith(BESIDE)


def kill(whom: Whom, *, but: int | None = None) -> None:
    if whom in ("worker", "both"):
        for child in children():
            if child != but:
                os.kill(child, signal.SIGKILL)
    if whom in ("core", "both"):
        crash_points.die()


def children(of: int | None = None) -> list[int]:
    """Processes that this one, or another, has started: workers, whether anybody knows of them yet or not."""
    found: list[int] = []
    # A thread, or the process, may end while it is looked at.
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        for thread in Path(f"/proc/{of or 'self'}/task").iterdir():
            found += [int(pid) for pid in (thread / "children").read_text().split()]
    return found


# ---------------------------------------------------------------------- in the test

Ask = Callable[[Any], int]


@contextlib.contextmanager
def server(module: str) -> Generator[Ask]:
    """Starts such a program; what is asked is a dataclass, the answer how the core ended."""
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(TESTS), str(TESTS / "engine" / "crashes"), *sys.path])
    }
    with subprocess.Popen(
        [sys.executable, "-m", module], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        assert process.stdin is not None and process.stdout is not None
        talk = process.stdin, process.stdout

        def ask(what: Any) -> int:
            talk[0].write(json.dumps(asdict(what)) + "\n")
            talk[0].flush()
            return int(talk[1].readline())

        yield ask
        process.stdin.close()
        process.wait(60)


if __name__ == "__main__":
    serve()
