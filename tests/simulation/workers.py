"""The other side of the worker port, in this process: workers that answer late, wrongly or never, and die, as the seed has it.

The one place where a simulated worker is right: what is looked at is core and journal, against anything that the port can do.
Answers have the shapes of the wire, and come in the order of the requests.
"""

from __future__ import annotations

import math
import shutil
import tempfile
from collections import deque
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, InvalidStateError
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

import orjson

from blendwright.tools import catalog
from blendwright.util.cancel import CancelToken
from blendwright.values.errors import (
    Cancelled,
    DeadlinePassed,
    ProtocolBreach,
    WorkerError,
    WorkerFault,
    WorkerLost,
)
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding
from blendwright.wire.blender_profile import WorkerProfile
from blendwright.wire.methods import EPOCH_CLOSED, METHODS, REVERT_FAILED
from blendwright.wire.remote_scene import RemoteScene
from simulation import toy_code
from simulation.toy_scene import CODE, EXPORT, IMPORT, SNAPSHOT, Impossible, ToyScene
from simulation.world import Hangs, World
from support.engine.sessions import blender

Fate = Literal["answers", "dies", "hangs", "breach", "error", "fails", "spoils"]
# What a step takes in the time of this world, and one that is slow: some are in time, some are not.
QUICK, SLOWEST = 0.0005, 60.0


@cache
def catalogue() -> str:
    return catalog.fingerprint()


class SimulatedFuture(Future[Any]):
    """Whoever waits for it moves the clock to where it is answered."""

    def __init__(self, worker: SimulatedWorker) -> None:
        super().__init__()
        self._worker = worker
        self.set_running_or_notify_cancel()

    def done(self) -> bool:
        self._worker.catch_up()
        return super().done()

    @property
    def answered(self) -> bool:
        """Whether it is, by now, without a look at what is due."""
        return super().done()

    def result(self, timeout: float | None = None) -> Any:
        self._worker.wait_for(self, timeout)
        return super().result(0)


@dataclass(slots=True)
class _Request:
    method: str
    params: Mapping[str, Any]
    future: SimulatedFuture
    fate: Fate
    due: float


class SimulatedWorker(RemoteScene):
    """A Blender that is none; also its own `ChildProcess`."""

    def __init__(self, world: World, root: Path, pid: int) -> None:
        self._world = world
        self.scratch = Path(tempfile.mkdtemp(prefix="worker-", dir=root))
        self.pid = pid
        self.profile = WorkerProfile(**blender().model_dump(), pid=pid)
        self.catalogue = catalogue()
        self.scene = ToyScene()
        self._queue: deque[_Request] = deque()
        self._end: WorkerError | None = None
        self._closed_epoch = 0
        self._code: Mapping[str, Any] | None = None
        """The arguments of the code that ran here last: what it left stays in its process."""
        self._too_much = False

    # ------------------------------------------------------------------ the connection

    @property
    def alive(self) -> bool:
        self.catch_up()
        return self._end is None

    @property
    def process(self) -> SimulatedWorker:
        return self

    @property
    def scratch_mb(self) -> int:
        return 4096

    def log_tail(self) -> list[str]:
        return []

    def takes_too_much(self) -> bool:
        """Whether code that runs here will be ended for what it takes."""
        self._too_much = self._world.happens(self._world.rates.excess)
        self._world.struck["excess"] += self._too_much
        return self._too_much

    def submit(self, method: str, params: Mapping[str, Any]) -> SimulatedFuture:
        # As on the wire: what arrives is what its bytes say.
        params = orjson.loads(orjson.dumps(params))
        assert METHODS[method].request_fits(params), f"the core sent {method} what is no request of it: {params}"
        self.catch_up()
        future = SimulatedFuture(self)
        if self._end is not None:
            future.set_exception(self._end)
            return future
        fate, seconds = self._draw(method, params)
        begins = max(self._world.now, self._queue[-1].due if self._queue else 0.0)
        self._queue.append(_Request(method, params, future, fate, begins + seconds))
        return future

    def call(
        self,
        method: str,
        params: Mapping[str, Any],
        *,
        deadline: float | None,
        cancel: CancelToken | None = None,
        label: str | None = None,
    ) -> Any:
        label = label or method
        if cancel is not None and cancel.cancelled:
            raise Cancelled(f"{label} was cancelled before it was sent")
        future = self.submit(method, params)
        if cancel is not None and self._world.happens(0.2):
            # Whoever cancels does it while the worker is at it.
            self._world.say(f"cancelled during {label}")
            cancel.cancel()
            self._end_with(Cancelled(f"{label} was cancelled"))
        try:
            return future.result(deadline)
        except TimeoutError:
            self._end_with(DeadlinePassed(f"{label} did not end within {deadline:g} s"))
            return future.result(0)

    def kill(self) -> None:
        self.abandon()

    def abandon(self) -> None:
        if self._end is not None:
            return
        self.catch_up()
        if self._queue and self._queue[0].fate == "answers" and self._world.happens(self._world.rates.last_moment):
            self._process(self._queue.popleft())  # the answer was on its way already
        self._end_with(WorkerLost("killed by the core", details={"pid": self.pid}))

    def close(self, timeout: float = 1.0) -> None:
        self.abandon()
        shutil.rmtree(self.scratch, ignore_errors=True)

    # ------------------------------------------------------------------ time

    def catch_up(self) -> None:
        """Do what is due by now."""
        while self._queue and self._end is None and self._queue[0].due <= self._world.now:
            self._process(self._queue.popleft())

    def wait_for(self, future: SimulatedFuture, timeout: float | None) -> None:
        self.catch_up()
        if future.answered:
            return
        latest = math.inf if timeout is None else self._world.now + timeout
        moment = next((one.due for one in self._queue if one.future is future or one.fate in ("dies", "breach")), 0.0)
        if math.isinf(min(moment, latest)):
            raise Hangs("the core waits without a limit for an answer that never comes")
        self._world.advance_to(min(moment, latest))
        self.catch_up()

    def _draw(self, method: str, params: Mapping[str, Any]) -> tuple[Fate, float]:
        """What becomes of a request, and how long it takes."""
        world, rates = self._world, self._world.rates
        if world.happens(rates.hangs):
            return "hangs", math.inf
        fates: list[tuple[Fate, float]] = [("dies", rates.dies), ("breach", rates.breach), ("error", rates.error)]
        if "call" in params and method == "scene.step":
            # A step that went well once goes well again: only those that run for the first time can fail.
            fates.append(("fails", rates.fails))
            fates.append(("spoils", rates.spoils))
        if self._too_much and method == "scene.step":
            return "dies", QUICK
        seconds = world.chance.random() * SLOWEST if world.happens(rates.slow) else QUICK
        for fate, rate in fates:
            if world.happens(rate):
                return fate, seconds
        return "answers", seconds

    def _end_with(self, error: WorkerError) -> None:
        """The first one in the queue learns why; with it all the others."""
        self._end = self._end or error
        waiting, self._queue = self._queue, deque()
        for one in waiting:
            _fail(one.future, error)

    # ------------------------------------------------------------------ requests

    def _process(self, request: _Request) -> None:
        match request.fate:
            case "dies":
                self._world.say(f"worker {self.pid} dies in {request.method}")
                self._queue.appendleft(request)
                self._end_with(WorkerLost("the worker died", details={"pid": self.pid}))
            case "breach":
                self._queue.appendleft(request)
                self._end_with(ProtocolBreach("the worker sent what is no answer"))
            case "error":
                _fail(request.future, WorkerFault("internal_error", "the worker raised"))
            case _:
                try:
                    answer = self._answer(request)
                except WorkerFault as error:
                    _fail(request.future, error)
                    return
                assert METHODS[request.method].answer_fits(answer), (request.method, answer)
                request.future.set_result(answer)

    def _answer(self, request: _Request) -> Any:
        params = request.params
        match request.method:
            case "scene.step":
                return self._step(params, request.fate)
            case "scene.bulk":
                return self._bulk(params["steps"], params["epoch"])
            case "scene.redo":
                return self._redo(params["steps"])
            case "scene.reset":
                self.scene = ToyScene()
            case "scene.open":
                self._open(params["path"])
            case "scene.save":
                toy_code.save(self.scene, self.scratch / params["path"], self._code)
                return {"hash": self._told(self.scene.hash)}
            case "scene.swap":
                before = self.scene
                self._open(params["path"])
                content = toy_code.active_content(self.scene)
                changes = toy_code.difference(before, self.scene)
                return {"hash": self.scene.hash, "changes": changes, "active_content": content}
            case "scene.active_content":
                return {"active_content": toy_code.active_content(self.scene)}
            case "scene.external_files":
                return {"paths": []}
            case "scene.unlisted":
                return {"blocks": []}  # a snapshot of a toy scene shows all of it
            case "scene.hash":
                pass
            case _:
                raise AssertionError(f"nobody has simulated {request.method} yet")
        return {"hash": self.scene.hash}

    def _open(self, path: str) -> None:
        try:
            self.scene = ToyScene.of_bytes((self.scratch / path).read_bytes())
        except (OSError, ValueError) as error:
            raise WorkerFault("open_failed", str(error)) from error

    def _step(self, params: Mapping[str, Any], fate: Fate) -> dict[str, Any]:
        epoch = params.get("epoch")
        if epoch is not None:
            self._require_open(epoch)
        before, tried = self.scene.hash, self.scene.copy()
        tool, args = str(params["tool"]), params["args"]
        imported = f"imported {self._world.chance.getrandbits(64):x}" if tool == IMPORT else None
        finding, reverted_by = None, None
        changes: list[list[str]] = []
        try:
            if tool == CODE:
                self._code = args
                changes = toy_code.run(tried, params, self._world.chance, self.scratch)
            else:
                changes = tried.apply(tool, args, imported)
            if fate in ("fails", "spoils"):
                finding = Finding(Fault.EXECUTION_FAILED, "it raised")
                reverted_by = "inverse" if fate == "fails" else REVERT_FAILED
        except Impossible as error:
            finding = Finding(error.fault, str(error), "/name")
        if finding is not None and epoch is not None:
            self._closed_epoch = epoch
        if fate == "spoils" and reverted_by is not None:
            self.scene.put("left behind by a step that could not be taken back", "anywhere")
        elif finding is None:
            self.scene = tried
            if tool == EXPORT:
                Path(params["files"][args["path"]]).write_bytes(self.scene.to_bytes())
        results = {SNAPSHOT: self.scene.snapshot, CODE: lambda: toy_code.answer(args)}
        result = results.get(tool, lambda: {"objects": len(self.scene.objects)})()
        return {
            "ok": finding is None,
            "fault": None if finding is None else finding.fault.value,
            "message": "" if finding is None else finding.message,
            "findings": [] if finding is None else [finding.to_json()],
            "result": result if finding is None else None,
            "changes": changes,
            "before": before,
            # Of a first run there is nothing to compare with: what it is told is what it is.
            "after": self.scene.hash if "call" in params else self._told(self.scene.hash),
            "reverted_by": reverted_by,
            "artifacts": [],
            "plan_ms": 0.1,
            "execute_ms": self._world.chance.choice((0.1, 0.1, 400.0)),
            "verify_ms": 0.1,
        }

    def _bulk(self, steps: Sequence[Mapping[str, Any]], epoch: int) -> dict[str, Any]:
        """Steps up to the first that fails, or up to where it took too long."""
        self._require_open(epoch)
        rates, answers = self._world.rates, list[dict[str, Any]]()
        for step in steps:
            fails: Fate = "spoils" if self._world.happens(rates.spoils) else "fails"
            fate = fails if self._world.happens(rates.fails) else "answers"
            answers.append(self._step({**step, "epoch": epoch}, fate))
            if not answers[-1]["ok"] or self._world.happens(rates.slow):
                break
        if len(answers) < len(steps):
            self._closed_epoch = epoch
        return {"answers": answers}

    def _require_open(self, epoch: int) -> None:
        if epoch <= self._closed_epoch:
            raise WorkerFault(EPOCH_CLOSED, f"a step of epoch {epoch} has failed before this one")

    def _redo(self, steps: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """Committed steps again, up to the first that leads elsewhere."""
        redone = 0
        for step in steps:
            self.scene.apply(str(step["tool"]), step["args"], None)
            reached = self._told(self.scene.hash)
            if reached != step["after"]:
                return {"hash": reached, "redone": redone, "message": ""}
            redone += 1
        return {"hash": self.scene.hash, "redone": redone, "message": ""}

    def _told(self, hash: str) -> str:
        """The hash of the scene; now and then that of another one, as from a Blender that went wrong."""
        if not self._world.happens(self._world.rates.lies):
            return hash
        self._world.lied = True
        self._world.struck["lie"] += 1
        self._world.say(f"worker {self.pid} takes a sound scene for another one")
        return f"{hash[:-1]}{'0' if hash[-1] != '0' else '1'}"


def _fail(future: Future[Any], error: WorkerError) -> None:
    try:
        future.set_exception(error)
    except InvalidStateError:
        return
