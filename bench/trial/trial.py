"""A task done by each side: a recorded transcript on a real server, and code in a bare Blender; counted and checked alike."""

from __future__ import annotations

import contextlib
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path

import anyio

from bench.trial.bare_blender import BareBlender
from bench.trial.checks import CHECKS
from bench.trial.recorder import Call, export, host, read_transcript

HERE = Path(__file__).parent
TASKS = tuple(sorted(CHECKS))
MOST_SECONDS = 240


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


def through_the_server(task: str, directory: Path, blender: BareBlender) -> Outcome:
    """Replay the transcript of a task on a fresh workspace in the directory."""
    requests = read_transcript(HERE / "transcripts" / f"{task}.jsonl")

    async def replay() -> tuple[Call, ...]:
        with anyio.fail_after(MOST_SECONDS):
            async with host(directory) as connection:
                for request in requests:
                    await connection.call(request["tool"], request["arguments"])
                return tuple(connection.calls)

    calls = anyio.run(replay)
    scene = directory / f"{task}.blend"
    export(directory, scene)
    return Outcome(calls, tuple(CHECKS[task](blender.facts(scene))))


def with_bare_python(task: str, blender: BareBlender) -> Outcome:
    """Send the code of a task, then a look."""
    codes = [(HERE / "bare" / f"{name}.py").read_text() for name in (task, "look")]
    calls = tuple(blender.call(code) for code in codes)
    return Outcome(calls, tuple(CHECKS[task](blender.facts())))
