"""Calls that run foreign code: in a process that is thrown away, or in one that is replaced by a clean one afterwards.

A disposable process is a function from file to file. It gets a copy of the scene, and from the moment the code runs nothing it says is
believed: its answer is read as data, its file is opened and judged in the scene's own process, which never ran the code.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any

from blendwright.blendfile.comparison import same_content
from blendwright.engine.code.answers import (
    CURE,
    broken_off,
    code_answer,
    failed_again,
    failure_of,
    forbidden_content,
    hidden_driver_left,
    result_of,
    without_paths,
)
from blendwright.engine.code.determinism import contradiction, output_difference, scene_difference
from blendwright.engine.code.resource_guard import ResourceGuard
from blendwright.engine.code.written_scenes import WrittenSceneCheck
from blendwright.engine.files.access import NO_FILES, FileAccess, Staged
from blendwright.engine.files.scratch import SCENE_FILE, copy_scene, open_scene_file
from blendwright.engine.heartbeat import Heartbeat, Waiting
from blendwright.engine.invocation import Invocation
from blendwright.engine.scene.host import ProcessScene
from blendwright.policy.objections import FULL
from blendwright.policy.refusals import refusal
from blendwright.tool_api.promises import Isolation
from blendwright.util.cancel import CancelToken
from blendwright.util.no_follow import copy, open_file
from blendwright.values.errors import DeadlinePassed, Refusal, WorkerError, WorkerFault
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding
from blendwright.wire.methods import HIDDEN_DRIVER, PRINTED_FILE, ActiveItem, StepAnswer, StepRequest
from blendwright.wire.remote_scene import RemoteScene

# Opening and saving have no deadline in the arguments; a file made to hang Blender must end some time.
FILE_SECONDS = 60.0
# The scene before the code ran, in the scratch of our own worker, which the code cannot reach.
BEFORE_FILE = "before.blend"
# What the code left, by its first run and by its second.
RESULT_FILE = "result.blend"
PROOF_FILE = "proof.blend"
MOST_PRINTED = 65_536


@dataclass(slots=True)
class CodeLimits:
    """`ends` is the moment for the whole call, opening and saving included; `seconds` is for one run of the code.

    To wait for a Blender to start is no part of a call; the time of the run, which is over at `run_ends`, does not wait."""

    ends: float
    seconds: float
    cancel: CancelToken | None
    run_ends: float
    waiting: Callable[[Waiting], None] | None = None

    def left(self, most: float = FILE_SECONDS) -> float:
        return max(0.001, min(most, self.ends - monotonic()))


@dataclass(frozen=True, slots=True)
class CodeRun:
    """One run of the code in a process of its own that ended well. `file` has the scene that it left."""

    answer: Mapping[str, Any]
    result: dict[str, Any]
    file: str
    unchanged: bool


class IsolatedRunner:
    """Runs calls whose tool asks for a process of its own: twice, where determinism is demanded."""

    def __init__(self, scene: ProcessScene, files: FileAccess) -> None:
        self._scene = scene
        self._files = files
        self._scratch_mb = files.scratch_mb
        self._scratch_roots: set[Path] = set()
        self.opened_file: Path | None = None
        """The file that the code left, which the scene's process has opened and never wrote itself."""
        self.staged = NO_FILES
        """The files that the code wrote for others, brought to the scratch of the scene's process."""

    def run(self, call: Invocation, request: StepRequest, limits: CodeLimits) -> StepAnswer:
        """The answer as a step in the scene's process would have given it. Raises WorkerError where that process itself failed."""
        self.opened_file, self.staged = None, NO_FILES
        self._scratch_roots = {self._scene.worker().require_process().scratch.parent}
        if call.proof_demanded and not sys.platform.startswith("linux"):
            return code_answer(self._scene.hash, findings=(contradiction("the clock cannot be pinned on this system"),))
        if call.promises.isolation is Isolation.REPLACED:
            run = self._run_trusted
        else:
            run = self._run_safe
        return without_paths(run(call, request, limits), self._scratch_roots)

    # ------------------------------------------------------------------ trusted

    def _run_trusted(self, call: Invocation, request: StepRequest, limits: CodeLimits) -> StepAnswer:
        """What code leaves in a process, such as handlers, is in no file: a clean one goes on with what was saved."""
        if call.approval is None:
            message = f"{call.tool.name} runs trusted code, which only a person can allow"
            finding = refusal("trusted_unasked", message)
            return code_answer(self._scene.hash, findings=(finding,))
        if call.proof_demanded:
            saved = self._scene.save(deadline=limits.left())
        else:
            saved = None
        # Not asked for again below: where it is lost by then, a rebuilt one would not have the step that is to be saved.
        worker = self._scene.worker()
        scratch = worker.require_process().scratch
        proof: CodeRun | None = None
        if saved is not None:
            first = self._run_apart(call, request, saved, scratch / PROOF_FILE, limits, trusted=True)
            if not isinstance(first, CodeRun):
                return first
            proof = first
        try:
            answer = self._scene.step(request, deadline=limits.left(limits.seconds), cancel=limits.cancel)
        except WorkerError as error:
            error.details["printed"] = _printed(scratch)
            raise
        if not answer["ok"] or answer["reverted_by"] is not None:
            self._scene.discard()
            answer["reverted_by"] = "rebuild"
            return answer
        worker.save(SCENE_FILE, deadline=limits.left())
        clean = self._fresh_worker(limits)
        try:
            finding = self._open_proven(clean, answer, scratch, proof, limits)
        except BaseException:
            clean.abandon()
            raise
        if finding is not None:
            clean.abandon()
            self._scene.discard()
            return code_answer(answer["before"], findings=(finding,), ran=answer, reverted_by="rebuild")
        self._scene.replace_worker(clean)
        self.opened_file = clean.require_process().scratch / SCENE_FILE
        return answer

    def _open_proven(
        self, clean: RemoteScene, answer: StepAnswer, scratch: Path, proof: CodeRun | None, limits: CodeLimits
    ) -> Finding | None:
        """Open what trusted code left, and say where it is not what it left the first time."""

        def opened(file: str) -> str:
            return open_scene_file(clean, scratch / file, "the scene", deadline=limits.left())

        if proof is None:
            first = None
        else:
            first = opened(proof.file)
        answer["after"] = opened(SCENE_FILE)
        if proof is None:
            return None
        found = output_difference(proof.result["output"], (answer["result"] or {})["output"])
        if found is None and answer["after"] != first:
            found = scene_difference(clean, lambda: opened(proof.file), ())
        return found

    # ------------------------------------------------------------------ safe

    def _run_safe(self, call: Invocation, request: StepRequest, limits: CodeLimits) -> StepAnswer:
        before = self._scene.hash
        saved = self._scene.save(deadline=limits.left())
        ours = self._scene.worker()
        content_before = ours.active_content(deadline=limits.left())
        runs: list[CodeRun] = []
        for file in (RESULT_FILE, PROOF_FILE) if call.proof_demanded else (RESULT_FILE,):
            run = self._run_apart(call, request, saved, saved.with_name(file), limits)
            if not isinstance(run, CodeRun):
                if runs:
                    return failed_again(run)
                return run
            runs.append(run)
        first, last = runs[0], runs[-1]
        if last is not first:
            finding = output_difference(first.result["output"], last.result["output"])
        else:
            finding = None
        if finding is not None:
            return code_answer(before, findings=(finding,), ran=first.answer)
        finding = self._replace_written_scenes(content_before, limits)
        if finding is not None:
            return code_answer(before, findings=(finding,), ran=last.answer)
        rehearsed = "rehearse" in request
        if all(run.unchanged for run in runs) or (rehearsed and not call.proof_demanded):
            if rehearsed:
                reverted_by = "rebuild"
            else:
                reverted_by = None
            return code_answer(
                before, ran=last.answer, result=last.result, reverted_by=reverted_by, unchanged=not rehearsed
            )
        answer = self._swap_in(ours, before, content_before, runs, limits)
        if rehearsed and answer["ok"]:
            self._scene.discard()
            answer["after"], answer["reverted_by"] = before, "rebuild"
        return answer

    def _replace_written_scenes(self, content_before: Sequence[ActiveItem], limits: CodeLimits) -> Finding | None:
        """Replace the .blend files that the code wrote as outputs by checked copies; return why one cannot be delivered."""
        check = WrittenSceneCheck(
            lambda: self._fresh_worker(limits, bare=True), limits.left, self._scratch_mb, content_before
        )
        return check.replace_by_checked(self.staged)

    def _run_apart(
        self,
        call: Invocation,
        request: StepRequest,
        saved: Path,
        target: Path,
        limits: CodeLimits,
        *,
        trusted: bool = False,
    ) -> CodeRun | StepAnswer:
        """Run the code on a copy of the scene, in a process that is ended afterwards. Brings the scene that it left to `target`."""
        before = self._scene.hash
        try:
            # Code reads what its process may read, and a scene can name any file for its picture: it gets none of them.
            worker = self._fresh_worker(limits, bare=not trusted)
        except DeadlinePassed as error:
            return code_answer(before, findings=(broken_off(error),), printed="")
        try:
            if not trusted and worker.profile.confinement.get("level") != FULL:
                return code_answer(
                    before, findings=(refusal("unconfined", "the process for the code is not confined"),)
                )
            process, before_file = worker.require_process(), target.with_name(BEFORE_FILE)
            with ResourceGuard(process, self._scratch_mb) as guard:
                try:
                    # Which files there are to read is known since the call was found sound; one can be gone by now.
                    staged = self._files.stage(call.tool, call.args, process.scratch)
                    self._open_scene(worker, saved, before_file, limits)
                    answer = self._run_code(worker, request, staged, limits)
                except Refusal as refused:
                    return code_answer(before, findings=refused.findings)
                except WorkerError as error:
                    finding = guard.finding() or broken_off(error)
                    return code_answer(before, findings=(finding,), printed=_printed(process.scratch))
            findings = failure_of(answer)
            if findings:
                return code_answer(before, findings=findings, ran=answer)
            result, finding = result_of(call, answer)
            finding = finding or guard.finding()
            finding = finding or fetch_result_file(process.scratch / SCENE_FILE, target, self._scratch_mb)
            if finding is not None:
                return code_answer(before, findings=(finding,), ran=answer)
            try:
                self.staged = self._files.bring_over(staged, target.parent)
            except Refusal as refused:
                return code_answer(before, findings=refused.findings, ran=answer)
        finally:
            worker.abandon()
        return CodeRun(answer, result, target.name, same_content(before_file, target))

    def _fresh_worker(self, limits: CodeLimits, *, bare: bool = False) -> RemoteScene:
        began = monotonic()
        worker = self._scene.fresh_worker(bare=bare, seconds=max(0.001, limits.run_ends - began))
        limits.ends = min(limits.run_ends, limits.ends + monotonic() - began)
        self._scratch_roots.add(worker.require_process().scratch.parent)
        return worker

    def _open_scene(self, worker: RemoteScene, saved: Path, before_file: Path, limits: CodeLimits) -> None:
        """Give the scene to the process, and keep how that one writes it: only what one process wrote can be compared."""
        file = worker.require_process().scratch / SCENE_FILE
        copy_scene(saved, file)
        worker.open(SCENE_FILE, full=False, deadline=limits.left(), cancel=limits.cancel)
        worker.save(SCENE_FILE, full=False, deadline=limits.left(), cancel=limits.cancel)
        copy_scene(file, before_file)

    def _run_code(
        self, worker: RemoteScene, request: StepRequest, staged: Staged, limits: CodeLimits
    ) -> Mapping[str, Any]:
        # A rehearsal is taken back with the whole process.
        final_request = request.copy()
        final_request.pop("rehearse", None)
        # The scene's own process hashes what comes of it: what this one finds would be believed by nobody.
        final_request["disposable"] = True
        final_request["files"] = staged.paths
        seconds = limits.left(limits.seconds)
        with Heartbeat(limits.waiting, request["tool"], limits.seconds, worker.require_process().scratch):
            answer = worker.step(final_request, deadline=seconds, cancel=limits.cancel)
        if answer["ok"]:
            worker.save(SCENE_FILE, full=False, deadline=limits.left(), cancel=limits.cancel)
        return answer

    def _swap_in(
        self,
        ours: RemoteScene,
        before: str,
        content_before: list[ActiveItem],
        runs: Sequence[CodeRun],
        limits: CodeLimits,
    ) -> StepAnswer:
        """What the last run left in place of the scene, when it brings nothing but data, and what the one before it left, too."""
        last = runs[-1]
        try:
            opened = [ours.swap(run.file, deadline=limits.left()) for run in runs]
            unexpected = [item for one in opened for item in one["active_content"] if item not in content_before]
            if unexpected:
                finding = forbidden_content(unexpected)
            elif opened[0]["hash"] != opened[-1]["hash"]:
                changes = opened[-1]["changes"]
                finding = scene_difference(ours, lambda: ours.swap(runs[0].file, deadline=FILE_SECONDS), changes)
            else:
                # The first was compared with the scene, the second with the first.
                after, changes = opened[-1]["hash"], opened[0]["changes"]
                self.opened_file = ours.require_process().scratch / last.file
                return code_answer(before, ran=last.answer, result=last.result, after=after, changes=changes)
        except WorkerError as error:
            message = f"what the code left cannot be opened: {error.message}"
            finding = Finding(Fault.EXECUTION_FAILED, message, "/code", CURE)
            if isinstance(error, DeadlinePassed):
                finding = broken_off(error)
            if isinstance(error, WorkerFault) and error.code == HIDDEN_DRIVER:
                finding = hidden_driver_left(error)
        self._scene.discard()
        return code_answer(before, findings=(finding,), ran=last.answer, reverted_by="rebuild")


def fetch_result_file(source: Path, target: Path, scratch_mb: int) -> Finding | None:
    """Copy what the code left: a plain file, never what a link leads to."""
    try:
        with open_file(source) as opened:
            if os.fstat(opened.fileno()).st_size > scratch_mb << 20:
                return Finding(Fault.EXECUTION_FAILED, "the code left no scene", "/code", CURE)
            target.unlink(missing_ok=True)
            with target.open("xb") as made:
                copy(opened, made)
    except OSError as error:
        return Finding(Fault.EXECUTION_FAILED, f"the code left no scene: {error.strerror}", "/code", CURE)
    return None


def _printed(scratch: Path) -> str:
    """What code that did not live to answer had printed."""
    try:
        with open_file(scratch / PRINTED_FILE) as opened:
            return opened.read(MOST_PRINTED).decode("utf-8", "replace")
    except OSError:
        return ""
