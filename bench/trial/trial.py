"""A task done by each side: a recorded transcript on a real server, and code in a bare Blender; counted and checked alike."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path

import anyio

from bench.trial.bare_blender import BareBlender
from bench.trial.checks import CHECKS
from bench.trial.recorder import Call, export, host, new_workspace, read_transcript

HERE = Path(__file__).parent
TASKS = tuple(sorted(CHECKS))
MOST_SECONDS = 240
START, START_FACTS = "start.blend", "start.json"


@dataclass(frozen=True)
class Outcome:
    """What a task cost, and what is wrong with its scene."""

    calls: tuple[Call, ...]
    wrong: tuple[str, ...]

    @property
    def failed(self) -> int:
        return sum(call.failed for call in self.calls)

    @property
    def sent(self) -> int:
        return sum(call.sent for call in self.calls)

    @property
    def received(self) -> int:
        return sum(call.received for call in self.calls)


@contextlib.contextmanager
def bare_blender(directory: Path) -> Generator[BareBlender]:
    blender = BareBlender(directory)
    try:
        yield blender
    finally:
        blender.close()


def start_scene(task: str, directory: Path) -> Path | None:
    """The file that a task begins with, made in the directory; None where it begins with nothing."""
    code = HERE / "bare" / f"{task}_start.py"
    if not code.exists():
        return None
    file = (directory / START).resolve()
    with bare_blender(directory) as blender:
        made = blender.call(f"{code.read_text()}\nbpy.ops.wm.save_as_mainfile(filepath={str(file)!r})")
        assert not made.failed, made.answer
        (directory / START_FACTS).write_text(json.dumps(blender.facts()))
    return file


def begin(task: str, directory: Path, bare: bool) -> None:
    """Have what a task begins with: a file for a bare Blender, a workspace with it for the server."""
    if not (HERE / "tasks" / f"{task}.txt").exists():
        raise ValueError(f"there is no task {task}")
    scene = start_scene(task, directory)
    if scene is not None and not bare:
        new_workspace(directory, scene)


def check(task: str, blender: BareBlender, directory: Path, scene: Path | None = None) -> list[str]:
    """What is wrong with the scene that a Blender has, or with that of a file. The directory has what the task began with."""
    facts = blender.facts(scene)
    start = directory / START_FACTS
    if start.exists():
        facts["start"] = json.loads(start.read_text())
    return list(CHECKS[task](facts))


def through_the_server(task: str, directory: Path, blender: BareBlender) -> Outcome:
    """Replay the transcript of a task on a fresh workspace in the directory."""
    requests = read_transcript(HERE / "transcripts" / f"{task}.jsonl")
    begin(task, directory, bare=False)

    async def replay() -> tuple[Call, ...]:
        with anyio.fail_after(MOST_SECONDS):
            async with host(directory) as connection:
                for request in requests:
                    await connection.call(request["tool"], request["arguments"])
                return tuple(connection.calls)

    calls = anyio.run(replay)
    scene = directory / f"{task}.blend"
    export(directory, scene)
    return Outcome(calls, tuple(check(task, blender, directory, scene)))


def with_bare_python(task: str, directory: Path, blender: BareBlender, *, look: bool = True) -> Outcome:
    """Send the code of a task: where it begins with a scene, first what shows it; then what does it, and a look."""
    begin(task, directory, bare=True)
    if (directory / START).exists():
        blender.open(directory / START)
    code = HERE / "bare"
    # Where the task asks for no camera, a look needs one of its own.
    own_look = code / f"{task}_look.py"
    looks = [own_look if own_look.exists() else code / "look.py"] if look else []
    files = [file for file in (code / f"{task}_first.py", code / f"{task}.py", *looks) if file.exists()]
    calls = tuple(blender.call(file.read_text()) for file in files)
    return Outcome(calls, tuple(check(task, blender, directory)))
