"""The scene as it is now: one worker that holds it, and the way back to it from the history when that worker is gone."""

from __future__ import annotations

import shutil
from concurrent.futures import Future
from itertools import islice
from typing import Any

from blendwright.contracts.history import History, RedoStep
from blendwright.contracts.profiles import BlenderProfile
from blendwright.contracts.step import StepAnswer, StepRequest
from blendwright.contracts.worker_port import CancelToken, PoolPort, WorkerPort
from blendwright.values.errors import BlendwrightError, EnvironmentUnfit, RebuildFailed, WorkerFault

# Opening and redoing is not a call: it has no deadline of its own, only a bound against a Blender that hangs.
REBUILD_SECONDS = 600.0
# Steps that are on their way to the worker while it redoes one: enough that it never waits.
WINDOW = 64


class LiveScene:
    """Holds the worker whose memory is the scene. Not thread-safe: one caller at a time."""

    def __init__(self, pool: PoolPort, history: History, catalogue: str, *, spare: bool) -> None:
        self._pool = pool
        self._history = history
        self._catalogue = catalogue
        self._spare = spare
        self._worker: WorkerPort | None = None
        self._hash: str | None = None

    @property
    def profile(self) -> BlenderProfile:
        return self.worker().profile

    @property
    def hash(self) -> str:
        """The hash of the scene, which the history alone decides; the worker may be gone."""
        if self._hash is None:
            self.worker()
        assert self._hash is not None
        return self._hash

    @property
    def known_hash(self) -> str | None:
        """The hash when it is known without starting Blender."""
        return self._hash

    def worker(self) -> WorkerPort:
        """A living worker with the scene in it, rebuilt when need be."""
        if self._worker is None or not self._worker.alive:
            self._worker = self._rebuilt()
            if self._spare:
                self._pool.warm()
        return self._worker

    def step(self, request: StepRequest, *, deadline: float, cancel: CancelToken | None) -> StepAnswer:
        """One step; a worker that fails in it is gone, and the next one starts from the history."""
        return self.worker().call("scene.step", dict(request), deadline=deadline, cancel=cancel)

    def kept(self, request: StepRequest, answer: StepAnswer, *, replayable: bool) -> None:
        """Remember a step that was kept; one that cannot be redone is saved together with all before it.

        Raises WorkerError or RebuildFailed when it could not be saved: the step is then lost with the worker.
        """
        if answer["before"] == answer["after"]:
            return
        if replayable:
            self._history.append(RedoStep(request["tool"], request["version"], request["args"], answer["after"]))
        else:
            self._save(answer["after"])
        self._hash = answer["after"]

    def discard(self) -> None:
        """End the worker: its scene is not what the history says."""
        if self._worker is not None:
            self._worker.kill()
            self._worker = None

    def _save(self, expected: str) -> None:
        """A new baseline, accepted only when a full recomputation agrees with the hash that the steps led to."""
        # Not `worker()`: where ours is lost by now, a rebuilt one would not have the step that is to be saved.
        worker = self._worker
        assert worker is not None
        answer = worker.call("scene.save", {"path": "baseline.blend"}, deadline=REBUILD_SECONDS)
        if answer["hash"] != expected:
            raise _disagreement("saving", expected, answer["hash"])
        self._history.rebase(worker.scratch / "baseline.blend", expected)

    # ------------------------------------------------------------------ rebuilding

    def _rebuilt(self) -> WorkerPort:
        worker = self._pool.take()
        if worker.catalogue != self._catalogue:
            worker.kill()
            raise EnvironmentUnfit(
                "the Blender process has another tool catalogue than this one",
                cure="Use one version of blendwright on both sides.",
            )
        try:
            opened = self._open_baseline(worker)
            self._hash = self._redo(worker, opened)
        except BlendwrightError:
            worker.kill()
            raise
        return worker

    def _open_baseline(self, worker: WorkerPort) -> str:
        baseline = self._history.baseline
        if baseline.path is None:
            answer = worker.call("scene.reset", {}, deadline=REBUILD_SECONDS)
        else:
            shutil.copyfile(baseline.path, worker.scratch / "baseline.blend")
            try:
                answer = worker.call("scene.open", {"path": "baseline.blend"}, deadline=REBUILD_SECONDS)
            except WorkerFault as error:
                message = f"{baseline.path.name} cannot be opened: {error.message}"
                raise EnvironmentUnfit(
                    message, cure="Check that it is a .blend file that this Blender can read."
                ) from error
        if baseline.hash is None:
            self._history.opened(answer["hash"])
        elif baseline.hash != answer["hash"]:
            raise _disagreement("the baseline", baseline.hash, answer["hash"])
        return answer["hash"]

    def _redo(self, worker: WorkerPort, reached: str) -> str:
        """Run the steps again, many on their way at once, and compare every hash; returns the last."""
        pending: list[tuple[RedoStep, Future[Any]]] = []
        steps = iter(self._history.steps())
        while True:
            for step in islice(steps, WINDOW - len(pending)):
                request = {"tool": step.tool, "version": step.version, "args": dict(step.args)}
                pending.append((step, worker.submit("scene.step", request)))
            if not pending:
                return reached
            step, future = pending.pop(0)
            try:
                answer: StepAnswer = future.result(REBUILD_SECONDS)
            except TimeoutError as error:
                raise RebuildFailed(f"rebuilding the scene: {step.tool} did not end") from error
            if not answer["ok"] or answer["after"] != step.after:
                raise _disagreement(step.tool, step.after, answer["after"])
            reached = step.after


def _disagreement(what: str, expected: str, found: str) -> BlendwrightError:
    return RebuildFailed(
        f"rebuilding the scene: {what} led to {found}, not to {expected}",
        details={"expected": expected, "found": found},
    )
