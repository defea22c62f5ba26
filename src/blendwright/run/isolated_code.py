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

from blendwright.blendfile.comparison import same_content
from blendwright.policy.objections import FULL
from blendwright.policy.refusals import refusal
from blendwright.run.failure_reasons import reason_of
from blendwright.run.invocation import Invocation
from blendwright.run.live_scene import LiveScene
from blendwright.run.resource_guard import ResourceGuard
from blendwright.run.scratch_files import SCENE_FILE, copy_scene, open_scene_file
from blendwright.tool_api.promises import Isolation
from blendwright.values.cancel import CancelToken
from blendwright.values.errors import WorkerError
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding
from blendwright.wire.methods import ActiveItem, StepAnswer, StepRequest
from blendwright.wire.remote_scene import RemoteScene

# Opening and saving have no deadline in the arguments; a file made to hang Blender must end some time.
FILE_SECONDS = 60.0
# The scene before the code ran, in the scratch of our own worker, which the code cannot reach.
BEFORE_FILE = "before.blend"
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
        scratch_root = self._scene.worker().require_process().scratch.parent
        run = self._run_trusted if call.promises.isolation is Isolation.REPLACED else self._run_safe
        return _without_paths(run(call, request, seconds, cancel), scratch_root)

    # ------------------------------------------------------------------ trusted

    def _run_trusted(
        self, call: Invocation, request: StepRequest, seconds: float, cancel: CancelToken | None
    ) -> StepAnswer:
        """What code leaves in a process, such as handlers, is in no file: a clean one goes on with what was saved."""
        if call.approval is None:
            message = f"{call.tool.name} runs trusted code, which only a person can allow"
            finding = refusal("trusted_unasked", message)
            return _answer(self._scene.hash, findings=(finding,))
        # Not asked for again below: where it is lost by then, a rebuilt one would not have the step that is to be saved.
        worker = self._scene.worker()
        answer = self._scene.step(request, deadline=seconds, cancel=cancel)
        if not answer["ok"] or answer["reverted_by"] is not None:
            self._scene.discard()
            answer["reverted_by"] = "rebuild"
            return answer
        worker.save(SCENE_FILE, deadline=FILE_SECONDS)
        clean = self._scene.fresh_worker()
        try:
            saved = worker.require_process().scratch / SCENE_FILE
            answer["after"] = open_scene_file(clean, saved, "the scene", deadline=FILE_SECONDS)
        except BaseException:
            clean.abandon()
            raise
        self._scene.replace_worker(clean)
        return answer

    # ------------------------------------------------------------------ safe

    def _run_safe(
        self, call: Invocation, request: StepRequest, seconds: float, cancel: CancelToken | None
    ) -> StepAnswer:
        before = self._scene.hash
        ours = self._scene.worker()
        saved = self._scene.save(before)
        content_before = ours.active_content(deadline=FILE_SECONDS)
        # Code reads what its process may read, and a scene can name any file for its picture: it gets none of them.
        worker = self._scene.fresh_worker(bare=True)
        try:
            if worker.profile.confinement.get("level") != FULL:
                return _answer(before, findings=(refusal("unconfined", "the process for the code is not confined"),))
            process, before_file = worker.require_process(), ours.require_process().scratch / BEFORE_FILE
            with ResourceGuard(process, self._scratch_mb) as guard:
                try:
                    self._open_scene(worker, saved, before_file, cancel)
                    answer = self._run_code(worker, request, seconds, cancel)
                except WorkerError as error:
                    return _answer(before, findings=(guard.finding() or _broken(error),))
            findings = _failure(answer)
            if findings:
                return _answer(before, findings=findings, code_answer=answer)
            result, finding = _result(call, answer)
            finding = (
                finding or guard.finding() or fetch_result_file(process.scratch / SCENE_FILE, saved, self._scratch_mb)
            )
            if finding is not None:
                return _answer(before, findings=(finding,), code_answer=answer)
        finally:
            worker.abandon()
        if "rehearse" in request:
            return _answer(before, code_answer=answer, result=result, reverted_by="rebuild")
        if same_content(before_file, saved):
            return _answer(before, code_answer=answer, result=result, unchanged=True)
        return self._swap_in(ours, before, content_before, answer, result)

    def _open_scene(self, worker: RemoteScene, saved: Path, before_file: Path, cancel: CancelToken | None) -> None:
        """Give the scene to the process, and keep how that one writes it: only what one process wrote can be compared."""
        file = worker.require_process().scratch / SCENE_FILE
        copy_scene(saved, file)
        worker.open(SCENE_FILE, deadline=FILE_SECONDS, cancel=cancel)
        worker.save(SCENE_FILE, full=False, deadline=FILE_SECONDS, cancel=cancel)
        copy_scene(file, before_file)

    def _run_code(
        self, worker: RemoteScene, request: StepRequest, seconds: float, cancel: CancelToken | None
    ) -> Mapping[str, Any]:
        # A rehearsal is taken back with the whole process.
        final_request = request.copy()
        final_request.pop("rehearse", None)
        answer = worker.step(final_request, deadline=seconds, cancel=cancel)
        if answer["ok"]:
            worker.save(SCENE_FILE, deadline=FILE_SECONDS, cancel=cancel)
        return answer

    def _swap_in(
        self,
        ours: RemoteScene,
        before: str,
        content_before: list[ActiveItem],
        code_answer: Mapping[str, Any],
        result: dict[str, Any],
    ) -> StepAnswer:
        """The result in place of the scene, when it brings nothing but data."""
        try:
            opened = ours.swap(SCENE_FILE, deadline=FILE_SECONDS)
        except WorkerError as error:
            self._scene.discard()
            message = f"what the code left cannot be opened: {error.message}"
            finding = Finding(Fault.EXECUTION_FAILED, message, "/code", CURE)
            return _answer(before, findings=(finding,), code_answer=code_answer, reverted_by="rebuild")
        unexpected = [item for item in opened["active_content"] if item not in content_before]
        if unexpected:
            self._scene.discard()
            return _answer(
                before, findings=(_forbidden_content(unexpected),), code_answer=code_answer, reverted_by="rebuild"
            )
        return _answer(before, code_answer=code_answer, result=result, after=opened["hash"], changes=opened["changes"])


def _answer(
    before: str,
    *,
    findings: tuple[Finding, ...] = (),
    code_answer: Mapping[str, Any] | None = None,
    result: dict[str, Any] | None = None,
    after: str | None = None,
    changes: list[list[str]] | None = None,
    reverted_by: str | None = None,
    unchanged: bool = False,
) -> StepAnswer:
    spent = (code_answer or {}).get("execute_ms")
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


def _failure(answer: Mapping[str, Any]) -> tuple[Finding, ...]:
    """Why the code failed, in the words of its own process: believed as far as that it failed."""
    if answer["ok"]:
        return ()
    message = answer["message"] or "the code failed"
    return (Finding(Fault.EXECUTION_FAILED, message[:LONGEST_MESSAGE], "/code", CURE),)


def _result(call: Invocation, answer: Mapping[str, Any]) -> tuple[dict[str, Any], Finding | None]:
    try:
        result = call.tool.result_model.model_validate(answer["result"]).model_dump(mode="json")
    except ValidationError:
        return {}, Finding(Fault.EXECUTION_FAILED, "the code left an answer that makes no sense", "/code", CURE)
    return result, None


def fetch_result_file(source: Path, target: Path, scratch_mb: int) -> Finding | None:
    """Copy what the code left: a plain file, never what a link leads to."""
    try:
        descriptor = os.open(source, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with os.fdopen(descriptor, "rb") as opened:
            info = os.fstat(descriptor)
            if not stat.S_ISREG(info.st_mode) or info.st_size > scratch_mb << 20:
                return Finding(Fault.EXECUTION_FAILED, "the code left no scene", "/code", CURE)
            target.unlink(missing_ok=True)
            with target.open("xb") as copy:
                shutil.copyfileobj(opened, copy, 1 << 20)
    except OSError as error:
        return Finding(Fault.EXECUTION_FAILED, f"the code left no scene: {error.strerror}", "/code", CURE)
    return None


def _forbidden_content(unexpected: Sequence[ActiveItem]) -> Finding:
    named = [f"{item['what']} {item['name']} {item['where']}".strip() for item in unexpected[:MOST_NAMED]]
    more = f" and {len(unexpected) - len(named)} more" if len(unexpected) > len(named) else ""
    message = f"the code left behind what safe code may not: {', '.join(named)}{more}"
    cure = "Leave no registered texts, scripted drivers, scripts, linked libraries or paths of files in the scene."
    return Finding(Fault.POLICY_BLOCKED, message[:LONGEST_MESSAGE], "/code", cure)


def _without_paths(answer: StepAnswer, scratch_root: Path) -> StepAnswer:
    """The answer without the paths of where the code ran."""
    paths = sorted({str(scratch_root), sys.prefix, sys.base_prefix, str(Path.home())} - {"/"}, key=len, reverse=True)

    def hidden(value: Any) -> Any:
        for path in paths if isinstance(value, str) else ():
            value = value.replace(path, "…")
        return value

    answer["message"] = hidden(answer["message"])
    answer["findings"] = [{name: hidden(value) for name, value in finding.items()} for finding in answer["findings"]]
    if answer["result"] is not None:
        answer["result"] = {name: hidden(value) for name, value in answer["result"].items()}
    return answer
