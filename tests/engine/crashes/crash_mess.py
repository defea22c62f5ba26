"""A core that does at random what a workspace can be asked for, and never stops by itself; and a server that kills it at random.

Run as a program: for every line, the JSON of a Mess, it forks a core, hits it when the line says, and answers how it ended. A core
tells what was acknowledged, into the file beside its workspace and to the server, which counts.
"""

from __future__ import annotations

import json
import os
import random
import select
import signal
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from crash_server import Whom, children, told_of
from crash_story import REPLACING, TRIANGLE, empty, files_of, moved

import blendwright
from blendwright.engine.options import RunOptions
from blendwright.values.errors import EnvironmentUnfit, RebuildFailed, Refusal, WorkerError
from blendwright.values.faults import Fault
from blendwright.values.report import OperationReport
from blendwright.workspace import open_scene
from support.plans.documents import box

# What a killed worker may make of an operation; anything else that fails is a find.
EXPECTED = {Fault.WORKER_LOST, Fault.TARGET_NOT_FOUND, Fault.SCENE_CONFLICT, Fault.IDEMPOTENCY_CONFLICT}
# A core that says nothing for so long hangs.
SILENT = 60.0


@dataclass(frozen=True, slots=True)
class Hit:
    """After so many facts, and so many seconds more."""

    facts: int
    seconds: float
    whom: Whom


@dataclass(frozen=True, slots=True)
class Mess:
    workspace: str
    seed: int
    hits: list[Hit]


class Core:
    """One process: opens the workspace and goes on until it is killed."""

    def __init__(self, workspace: Path, seed: int, tell: Callable[[str], None]) -> None:
        self.chance = random.Random(seed)
        self.seed = seed
        self.tell = tell
        self.count = 0
        self.files = files_of(workspace)
        self.files.mkdir(exist_ok=True)
        (self.files / "triangle.obj").write_text(TRIANGLE)
        open_scene.WORTH_SAVING_MS = 0.0 if self.chance.random() < 0.5 else 300.0
        self.workspace = workspace

    def live(self) -> None:
        while True:
            with blendwright.open(self.workspace, roots=[self.files], policy=REPLACING, spare=False) as scene:
                self.scene = scene
                self.tell("opened")
                for intent in scene.journal.recovery.indeterminate():
                    scene.journal.recovery.resolve_intent(intent.id, "looked after")
                for _ in range(self.chance.randrange(4, 40)):
                    self._something()
            self.tell("closed")

    def _something(self) -> None:
        act = self.chance.choices(
            (self._plan, self._again, self._call, self._undo, self._redo, self._checkout, self._adopt),
            (8, 3, 2, 2, 2, 1, 0.3),
        )[0]
        try:
            act()
        except (WorkerError, RebuildFailed):
            self.tell("lost")
        except Refusal:
            pass  # nothing to undo or redo, or no file to adopt yet
        except EnvironmentUnfit:
            # A worker that is killed while it starts cannot be told from a Blender that does not start.
            if self.scene.journal.recovery.quarantine() is not None:
                raise
            self.tell("unfit")

    def _plan(self) -> None:
        self.count += 1
        self._run(f"mess-{self.seed}-{self.count}")

    def _again(self) -> None:
        if self.count:
            self._run(f"mess-{self.seed}-{self.chance.randint(1, self.count)}")

    def _run(self, request: str) -> None:
        """The plan of this name: the same whenever it is asked for."""
        chance = random.Random(request)
        listed: list[dict[str, Any]] = []
        for number in range(chance.choice((1, 3, 8, 70, 140))):
            id, name = f"op{number:03d}", f"{request} {number}"
            kind = chance.random()
            if kind < 0.7:
                item = empty(id) | {"args": {"name": name, "location": [number, 0, 0]}}
            elif kind < 0.9:
                item = box(id, args={"kind": "cube", "name": name})
            elif number:
                item = moved(id, f"{request} {chance.randrange(number)}", to=chance.random())
            else:
                item = box(id, tool_name="scene.find", args={"name": "*"}, safety_level="read_only")
            listed.append(item)
        if chance.random() < 0.3:
            path = {"path": str(self.files / f"{request}.stl"), "overwrite": True}
            listed.append(box("z-out", tool_name="file.export", args=path, safety_level="destructive"))
        if chance.random() < 0.08:
            listed.append(moved("zz-fails", "nobody"))
        whole = chance.random() < 0.35

        def progress(report: OperationReport) -> None:
            if report.status == "succeeded" and report.commit is not None:
                self.tell(f"ack {request} {report.operation_id} {report.scene_hash_after}")

        document = {"request_id": request, "operations": listed}
        self.tell(f"asked {request}")
        report = self.scene.run(document, RunOptions(progress=progress), boundary="plan" if whole else "operation")
        unexpected = [one for one in report.operations if one.fault is not None and one.fault not in EXPECTED]
        assert not unexpected, unexpected
        if report.status == "rolled_back":
            self.tell(f"rolled_back {request}")

    def _call(self) -> None:
        tool, args = self.chance.choice(
            (
                ("file.import", {"path": str(self.files / "triangle.obj")}),
                ("file.export", {"path": str(self.files / "edited.blend"), "overwrite": True}),
                ("scene.snapshot", {}),
            )
        )
        outcome = self.scene.outcome(tool, args)
        assert outcome.ok or outcome.fault in EXPECTED, outcome
        if outcome.ok and tool != "scene.snapshot":
            self.tell(f"called {tool} {outcome.fingerprint_after}")

    def _undo(self) -> None:
        self.tell(f"moved undo {self.scene.history.undo(self.chance.randint(1, 3)).commit.number}")

    def _redo(self) -> None:
        self.tell(f"moved redo {self.scene.history.redo().commit.number}")

    def _checkout(self) -> None:
        head = self.scene.journal.head
        if head is not None:
            number = self.chance.randint(1, head.number)
            self.tell(f"moved checkout {self.scene.history.checkout(number).commit.number}")

    def _adopt(self) -> None:
        adopted = self.scene.history.adopt(self.files / "edited.blend")
        if adopted is not None:
            self.tell(f"adopted {adopted.number} {adopted.hash_after}")


# ---------------------------------------------------------------------- the server


def serve() -> None:
    for line in sys.stdin:
        found = json.loads(line)
        mess = Mess(found["workspace"], found["seed"], [Hit(**hit) for hit in found["hits"]])
        os.write(1, f"{_struck(mess)}\n".encode())


def _struck(mess: Mess) -> int:
    reads, writes = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reads)
        _live(mess, writes)
    os.close(writes)
    for hit in mess.hits:
        left = hit.facts
        while left > 0:
            ready, _, _ = select.select([reads], [], [], SILENT)
            facts = os.read(reads, 1) if ready else b""
            if not facts:
                break  # it has ended by itself, or hangs
            left -= 1
        time.sleep(hit.seconds)
        _strike(child, hit.whom)
    os.close(reads)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


def _strike(core: int, whom: Whom) -> None:
    workers = children(core) if whom != "core" else []
    for pid in [*workers, *([core] if whom != "worker" else [])]:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue  # it has ended meanwhile


def _live(mess: Mess, writes: int) -> None:
    workspace = Path(mess.workspace)
    told = os.open(told_of(workspace), os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def tell(fact: str) -> None:
        os.write(told, f"{fact}\n".encode())
        os.write(writes, b".")

    try:
        Core(workspace, mess.seed, tell).live()
    except BaseException:
        # The outermost place of a child, which must never go on as the server.
        traceback.print_exc()
    finally:
        os._exit(1)


if __name__ == "__main__":
    serve()
