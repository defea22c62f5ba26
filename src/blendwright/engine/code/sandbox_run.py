"""Calls that run foreign code: in a disposable process, or in a process that a clean one replaces afterwards.

A disposable process turns a file into a file. It gets a copy of the scene, and the core distrusts it from the
start of the code: its answer is only data. The scene's own process, which never ran the code, opens and checks the
file.
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

# Seconds for opening or saving a file, so that a malicious file cannot hang Blender forever.
FILE_SECONDS = 60.0
# The scene before the code ran, in the scratch directory of the scene's own worker, which the code cannot reach.
BEFORE_FILE = "before.blend"
# The scenes that the first and the second run of the code left.
RESULT_FILE = "result.blend"
PROOF_FILE = "proof.blend"
MAX_PRINTED_BYTES = 65_536


@dataclass(slots=True)
class CodeLimits:
    """The time limits of one call.

    `ends` is the end of the whole call, including opening and saving; `seconds` limits one run of the code.
    Waiting for Blender to start does not count for the call, but counts for the run, which ends at `run_ends`.
    """

    ends: float
    seconds: float
    cancel: CancelToken | None
    run_ends: float
    waiting: Callable[[Waiting], None] | None = None

    def left(self, max_seconds: float = FILE_SECONDS) -> float:
        """Return the remaining seconds of the call, at most `max_seconds` and always positive."""
        return max(0.001, min(max_seconds, self.ends - monotonic()))


@dataclass(frozen=True, slots=True)
class CodeRun:
    """A successful run of the code in a separate process. `file` contains the resulting scene."""

    answer: Mapping[str, Any]
    result: dict[str, Any]
    file: str
    unchanged: bool


class IsolatedRunner:
    """A runner for tools that need a process of their own. It runs them twice when determinism is demanded."""

    def __init__(self, scene: ProcessScene, files: FileAccess) -> None:
        self._scene = scene
        self._files = files
        self._scratch_mb = files.scratch_mb
        self._scratch_roots: set[Path] = set()
        self.opened_file: Path | None = None
        """The scene file of the code, which the scene's process has opened but not written."""
        self.staged = NO_FILES
        """The output files of the code, copied to the scratch directory of the scene's process."""

    def run(self, call: Invocation, request: StepRequest, limits: CodeLimits) -> StepAnswer:
        """Run the call and return a normal step answer. Raises WorkerError when the scene's own process fails."""
        self.opened_file = None
        self.staged = NO_FILES
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
        """Run trusted code in the scene's process, then continue with a clean process and the saved scene.

        Code may leave handlers and other state in a process that no file contains.
        """
        if call.approval is None:
            message = f"{call.tool.name} runs trusted code, so a person must approve it"
            finding = refusal("trusted_unasked", message)
            return code_answer(self._scene.hash, findings=(finding,))
        if call.proof_demanded:
            saved = self._scene.save(deadline=limits.left())
        else:
            saved = None
        # Use this worker until the end: a rebuilt worker would not have the step that must be saved.
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
        """Open the scene that trusted code left, and return a finding if it differs from the scene of the first
        run.
        """

        def opened(file: str) -> str:
            return open_scene_file(clean, scratch / file, "the scene", deadline=limits.left())

        if proof is None:
            first = None
        else:
            first = opened(proof.file)
        answer["after"] = opened(SCENE_FILE)
        if proof is None:
            return None
        finding = output_difference(proof.result["output"], (answer["result"] or {})["output"])
        if finding is None and answer["after"] != first:
            finding = scene_difference(clean, lambda: opened(proof.file), ())
        return finding

    # ------------------------------------------------------------------ safe

    def _run_safe(self, call: Invocation, request: StepRequest, limits: CodeLimits) -> StepAnswer:
        """Run safe code in disposable processes and load its resulting scene into the scene's own process."""
        before = self._scene.hash
        saved = self._scene.save(deadline=limits.left())
        ours = self._scene.worker()
        content_before = ours.active_content(deadline=limits.left())
        if call.proof_demanded:
            result_files = (RESULT_FILE, PROOF_FILE)
        else:
            result_files = (RESULT_FILE,)

        runs: list[CodeRun] = []
        for file in result_files:
            run = self._run_apart(call, request, saved, saved.with_name(file), limits)
            if not isinstance(run, CodeRun):
                if runs:
                    return failed_again(run)
                return run
            runs.append(run)

        first = runs[0]
        last = runs[-1]
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
            answer["after"] = before
            answer["reverted_by"] = "rebuild"
        return answer

    def _replace_written_scenes(self, content_before: Sequence[ActiveItem], limits: CodeLimits) -> Finding | None:
        """Replace the .blend files that the code wrote by checked copies. Return a finding if one cannot be
        delivered.
        """
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
        """Run the code on a copy of the scene in a disposable process. Copy the resulting scene to `target`."""
        before = self._scene.hash
        try:
            # Safe code gets no external files, because it can read what its process reads, and a scene can name
            # any file.
            worker = self._fresh_worker(limits, bare=not trusted)
        except DeadlinePassed as error:
            return code_answer(before, findings=(broken_off(error),), printed="")
        try:
            if not trusted and worker.profile.confinement.get("level") != FULL:
                return code_answer(
                    before, findings=(refusal("unconfined", "the process for the code is not confined"),)
                )
            process = worker.require_process()
            before_file = target.with_name(BEFORE_FILE)
            with ResourceGuard(process, self._scratch_mb) as guard:
                try:
                    # The input files were checked before, but one may have been deleted since.
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
        """Return a new worker. Add its start time to the deadline of the call, up to the end of the run."""
        began = monotonic()
        worker = self._scene.fresh_worker(bare=bare, seconds=max(0.001, limits.run_ends - began))
        limits.ends = min(limits.run_ends, limits.ends + monotonic() - began)
        self._scratch_roots.add(worker.require_process().scratch.parent)
        return worker

    def _open_scene(self, worker: RemoteScene, saved: Path, before_file: Path, limits: CodeLimits) -> None:
        """Open the scene in the process and keep a copy as this process saves it, because only files of one
        process are comparable.
        """
        file = worker.require_process().scratch / SCENE_FILE
        copy_scene(saved, file)
        worker.open(SCENE_FILE, full=False, deadline=limits.left(), cancel=limits.cancel)
        worker.save(SCENE_FILE, full=False, deadline=limits.left(), cancel=limits.cancel)
        copy_scene(file, before_file)

    def _run_code(
        self, worker: RemoteScene, request: StepRequest, staged: Staged, limits: CodeLimits
    ) -> Mapping[str, Any]:
        # The end of the process reverts a rehearsal.
        final_request = request.copy()
        final_request.pop("rehearse", None)
        # The scene's own process computes the hash, because the core does not trust this one.
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
        """Replace the scene by the result of the last run, if it contains only data and equals the result of an
        earlier run.
        """
        last = runs[-1]
        try:
            opened = [ours.swap(run.file, deadline=limits.left()) for run in runs]
            unexpected: list[ActiveItem] = []
            for answer in opened:
                unexpected += [item for item in answer["active_content"] if item not in content_before]
            if unexpected:
                finding = forbidden_content(unexpected)
            elif opened[0]["hash"] != opened[-1]["hash"]:
                changes = opened[-1]["changes"]
                finding = scene_difference(ours, lambda: ours.swap(runs[0].file, deadline=FILE_SECONDS), changes)
            else:
                # The changes of the first swap are against the scene; those of the second are against the first.
                after = opened[-1]["hash"]
                changes = opened[0]["changes"]
                self.opened_file = ours.require_process().scratch / last.file
                return code_answer(before, ran=last.answer, result=last.result, after=after, changes=changes)
        except WorkerError as error:
            message = f"the scene that the code left cannot be opened: {error.message}"
            finding = Finding(Fault.EXECUTION_FAILED, message, "/code", CURE)
            if isinstance(error, DeadlinePassed):
                finding = broken_off(error)
            if isinstance(error, WorkerFault) and error.code == HIDDEN_DRIVER:
                finding = hidden_driver_left(error)
        self._scene.discard()
        return code_answer(before, findings=(finding,), ran=last.answer, reverted_by="rebuild")


def fetch_result_file(source: Path, target: Path, scratch_mb: int) -> Finding | None:
    """Copy the result file of the code, if it is a plain file and not a link. Return a finding if there is none."""
    try:
        with open_file(source) as opened:
            if os.fstat(opened.fileno()).st_size > scratch_mb << 20:
                return Finding(Fault.EXECUTION_FAILED, "the code left no scene", "/code", CURE)
            target.unlink(missing_ok=True)
            with target.open("xb") as target_file:
                copy(opened, target_file)
    except OSError as error:
        return Finding(Fault.EXECUTION_FAILED, f"the code left no scene: {error.strerror}", "/code", CURE)
    return None


def _printed(scratch: Path) -> str:
    """Return the output of code whose process ended without an answer."""
    try:
        with open_file(scratch / PRINTED_FILE) as opened:
            return opened.read(MAX_PRINTED_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""
