"""Calls that run foreign code: in a process that is thrown away, or in one that is replaced by a clean one afterwards.

A disposable process is a function from file to file. It gets a copy of the scene, and from the moment the code runs nothing it says is
believed: its answer is read as data, its file is opened and judged in the scene's own process, which never ran the code.
"""

from __future__ import annotations

import os
import shutil
import stat
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from blendwright.policy.objections import FULL
from blendwright.policy.refusals import refusal
from blendwright.run.invocation import Invocation
from blendwright.run.live_scene import EXCHANGED, LiveScene, copy_scene
from blendwright.run.reasons import reason_of
from blendwright.run.resource_guard import ResourceGuard
from blendwright.run.sameness import same_content
from blendwright.tool_api.effects import Isolation
from blendwright.values.cancel import CancelToken
from blendwright.values.errors import WorkerError
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding
from blendwright.wire.methods import ActiveItem
from blendwright.wire.remote_scene import RemoteScene
from blendwright.wire.step import StepAnswer, StepRequest

# Opening and saving have no deadline in the arguments; a file made to hang Blender must end some time.
HANDOVER_SECONDS = 60.0
# The scene as the code found it, in the scratch of our own worker, where the code reaches nothing.
FOUND = "found.blend"
LONGEST_MESSAGE = 2000
MOST_NAMED = 5
CURE = "Correct the code; the scene is as before."


class IsolatedRunner:
    """Runs calls whose tool asks for a process of its own."""

    def __init__(self, scene: LiveScene, scratch_mb: int) -> None:
        self._scene = scene
        self._scratch_mb = scratch_mb

    def run(self, call: Invocation, request: StepRequest, *, seconds: float, cancel: CancelToken | None) -> StepAnswer:
        """The answer as a step in the scene's process would have given it. Raises WorkerError where that process itself failed."""
        place = self._scene.worker().require_process().scratch.parent
        way = self._replaced if call.isolation is Isolation.REPLACED else self._disposable
        return _without_places(way(call, request, seconds, cancel), place)

    # ------------------------------------------------------------------ trusted

    def _replaced(
        self, call: Invocation, request: StepRequest, seconds: float, cancel: CancelToken | None
    ) -> StepAnswer:
        """What code leaves in a process, such as handlers, is in no file: a clean one goes on with what was saved."""
        if call.approval is None:
            message = f"{call.tool.name} runs trusted code, which only a person can allow"
            finding = refusal("trusted_unasked", message)
            return _answer(self._scene.hash, findings=(finding,))
        # Held on to: where it is lost by now, a rebuilt one would not have the step that is to be saved.
        worker = self._scene.worker()
        answer = self._scene.step(request, deadline=seconds, cancel=cancel)
        if not answer["ok"] or answer["reverted_by"] is not None:
            self._scene.discard()
            answer["reverted_by"] = "rebuild"
            return answer
        worker.save(EXCHANGED, deadline=HANDOVER_SECONDS)
        clean = self._scene.another_worker()
        try:
            copy_scene(worker.require_process().scratch / EXCHANGED, clean.require_process().scratch / EXCHANGED)
            opened = clean.open(EXCHANGED, deadline=HANDOVER_SECONDS)
        except BaseException:
            clean.abandon()
            raise
        self._scene.go_on_with(clean)
        answer["after"] = opened
        return answer

    # ------------------------------------------------------------------ safe

    def _disposable(
        self, call: Invocation, request: StepRequest, seconds: float, cancel: CancelToken | None
    ) -> StepAnswer:
        before = self._scene.hash
        ours = self._scene.worker()
        saved = self._scene.save(before)
        known = ours.active_content(deadline=HANDOVER_SECONDS)
        # Code reads what its process may read, and a scene can name any file for its picture: it gets none of them.
        worker = self._scene.another_worker(bare=True)
        try:
            if worker.profile.confinement.get("level") != FULL:
                return _answer(before, findings=(refusal("unconfined", "the process for the code is not confined"),))
            process, found = worker.require_process(), ours.require_process().scratch / FOUND
            with ResourceGuard(process, self._scratch_mb) as watch:
                try:
                    self._opened(worker, saved, found, cancel)
                    told = self._ran(worker, request, seconds, cancel)
                except WorkerError as error:
                    return _answer(before, findings=(watch.finding() or _broken(error),))
            findings = _refused(told)
            if findings:
                return _answer(before, findings=findings, told=told)
            result, finding = _result(call, told)
            finding = finding or watch.finding() or fetched(process.scratch / EXCHANGED, saved, self._scratch_mb)
            if finding is not None:
                return _answer(before, findings=(finding,), told=told)
        finally:
            worker.abandon()
        if "rehearse" in request:
            return _answer(before, told=told, result=result, reverted_by="rebuild")
        if same_content(found, saved):
            return _answer(before, told=told, result=result, unchanged=True)
        return self._taken(ours, before, known, told, result)

    def _opened(self, worker: RemoteScene, saved: Path, found: Path, cancel: CancelToken | None) -> None:
        """Give the scene to the process, and keep how that one writes it: only what one process wrote can be compared."""
        file = worker.require_process().scratch / EXCHANGED
        copy_scene(saved, file)
        worker.open(EXCHANGED, deadline=HANDOVER_SECONDS, cancel=cancel)
        worker.save(EXCHANGED, full=False, deadline=HANDOVER_SECONDS, cancel=cancel)
        copy_scene(file, found)

    def _ran(
        self, worker: RemoteScene, request: StepRequest, seconds: float, cancel: CancelToken | None
    ) -> Mapping[str, Any]:
        # Taken back is nothing here: the whole process goes.
        kept = request.copy()
        kept.pop("rehearse", None)
        answer = worker.step(kept, deadline=seconds, cancel=cancel)
        if answer["ok"]:
            worker.save(EXCHANGED, deadline=HANDOVER_SECONDS, cancel=cancel)
        return answer

    def _taken(
        self, ours: RemoteScene, before: str, known: list[Any], told: Mapping[str, Any], result: dict[str, Any]
    ) -> StepAnswer:
        """The result in place of the scene, when it brings nothing but data."""
        try:
            opened = ours.swap(EXCHANGED, deadline=HANDOVER_SECONDS)
        except WorkerError as error:
            self._scene.discard()
            message = f"what the code left cannot be opened: {error.message}"
            finding = Finding(Fault.EXECUTION_FAILED, message, "/code", CURE)
            return _answer(before, findings=(finding,), told=told, reverted_by="rebuild")
        strangers = [mark for mark in opened["active_content"] if mark not in known]
        if strangers:
            self._scene.discard()
            return _answer(before, findings=(_left_behind(strangers),), told=told, reverted_by="rebuild")
        return _answer(before, told=told, result=result, after=opened["hash"], changes=opened["changes"])


def _answer(
    before: str,
    *,
    findings: tuple[Finding, ...] = (),
    told: Mapping[str, Any] | None = None,
    result: dict[str, Any] | None = None,
    after: str | None = None,
    changes: list[list[str]] | None = None,
    reverted_by: str | None = None,
    unchanged: bool = False,
) -> StepAnswer:
    spent = (told or {}).get("execute_ms")
    return {
        "ok": not findings,
        "fault": findings[0].fault.value if findings else None,
        "message": "; ".join(finding.message for finding in findings),
        "findings": [finding.to_json() for finding in findings],
        "result": result,
        "changes": changes or [],
        "before": before,
        "after": after or before,
        "unchanged": unchanged,
        "reverted_by": reverted_by,
        "artifacts": [],
        "plan_ms": None,
        "execute_ms": float(spent) if isinstance(spent, int | float) and 0 <= spent < 1e9 else None,
        "verify_ms": None,
    }


def _broken(error: WorkerError) -> Finding:
    fault, cure = reason_of(error)
    if fault is Fault.INTERNAL_ERROR:
        fault, cure = Fault.EXECUTION_FAILED, CURE
    return Finding(fault, f"the code broke off: {error.message}"[:LONGEST_MESSAGE], "/code", cure)


def _refused(told: Mapping[str, Any]) -> tuple[Finding, ...]:
    """Why the code failed, in the words of its own process: believed as far as that it failed."""
    if told.get("ok") is True:
        return ()
    said = told.get("message")
    message = said if isinstance(said, str) and said else "the code failed"
    return (Finding(Fault.EXECUTION_FAILED, message[:LONGEST_MESSAGE], "/code", CURE),)


def _result(call: Invocation, told: Mapping[str, Any]) -> tuple[dict[str, Any], Finding | None]:
    try:
        result = call.tool.result_model.model_validate(told.get("result")).model_dump(mode="json")
    except ValidationError:
        return {}, Finding(Fault.EXECUTION_FAILED, "the code left an answer that makes no sense", "/code", CURE)
    return result, None


def fetched(left: Path, target: Path, scratch_mb: int) -> Finding | None:
    """Copy what the code left: a plain file, never what a link leads to."""
    try:
        descriptor = os.open(left, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with os.fdopen(descriptor, "rb") as source:
            found = os.fstat(descriptor)
            if not stat.S_ISREG(found.st_mode) or found.st_size > scratch_mb << 20:
                return Finding(Fault.EXECUTION_FAILED, "the code left no scene", "/code", CURE)
            target.unlink(missing_ok=True)
            with target.open("xb") as copy:
                shutil.copyfileobj(source, copy, 1 << 20)
    except OSError as error:
        return Finding(Fault.EXECUTION_FAILED, f"the code left no scene: {error.strerror}", "/code", CURE)
    return None


def _left_behind(strangers: Sequence[ActiveItem]) -> Finding:
    named = [f"{mark['what']} {mark['name']} {mark['where']}".strip() for mark in strangers[:MOST_NAMED]]
    more = f" and {len(strangers) - len(named)} more" if len(strangers) > len(named) else ""
    message = f"the code left behind what safe code may not: {', '.join(named)}{more}"
    cure = "Leave no registered texts, scripted drivers, scripts, linked libraries or paths of files in the scene."
    return Finding(Fault.POLICY_BLOCKED, message[:LONGEST_MESSAGE], "/code", cure)


def _without_places(answer: StepAnswer, place: Path) -> StepAnswer:
    """What is told of code, without where it ran: `place` is where all workers have their scratch."""
    places = sorted({str(place), sys.prefix, sys.base_prefix, str(Path.home())} - {"/"}, key=len, reverse=True)

    def hidden(value: Any) -> Any:
        for one in places if isinstance(value, str) else ():
            value = value.replace(one, "…")
        return value

    answer["message"] = hidden(answer["message"])
    answer["findings"] = [{name: hidden(value) for name, value in finding.items()} for finding in answer["findings"]]
    if answer["result"] is not None:
        answer["result"] = {name: hidden(value) for name, value in answer["result"].items()}
    return answer
