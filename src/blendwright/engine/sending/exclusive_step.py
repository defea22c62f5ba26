"""The execution of a call that has the worker for itself, from the announcement of its outside effects to its
journal entry.

The order is: intent, staged files, step, saved scene (for calls that cannot be replayed), delivered files, entry.
The caller commits the entry. Until then the journal contains nothing of the call except its intent.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from time import monotonic

from blendwright.engine.code.sandbox_run import CodeLimits, IsolatedRunner
from blendwright.engine.failures import finding_of, unsent
from blendwright.engine.files.access import NO_FILES, FileAccess, Staged
from blendwright.engine.files.render_frames import KeptFrames, frame_numbers
from blendwright.engine.heartbeat import Heartbeat, Waiting
from blendwright.engine.invocation import Invocation
from blendwright.engine.ledger import Ledger
from blendwright.engine.scene.external_files import External
from blendwright.engine.scene.host import ProcessScene, SceneHost
from blendwright.engine.sending.postconditions import read_written_file
from blendwright.journal import Journal
from blendwright.records.checkpoints import StagedCheckpoint
from blendwright.records.commits import Entry
from blendwright.records.recovery import NewIntent
from blendwright.tool_api.arguments import file_arguments, paths_in
from blendwright.tool_api.promises import Isolation
from blendwright.util import crash_points
from blendwright.util.cancel import CancelToken
from blendwright.util.canonical import digest
from blendwright.values.errors import BlendwrightError, RebuildFailed, Refusal, WorkerError
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding
from blendwright.values.report import OperationReport, StepDetails
from blendwright.wire.methods import FRAMES_DIRECTORY, REVERT_FAILED, StepAnswer, StepRequest
from blendwright.wire.remote_scene import HANG_SECONDS, RemoteScene


@dataclass(slots=True)
class StepOutcome:
    """The outcome of one call, with the journal entry that the caller has to commit.

    `findings` is empty exactly when the call succeeded. `report` is set only for a call that was not done; a
    success gets its report with its receipt.
    """

    call: Invocation
    entry: Entry
    answer: StepAnswer | None = None
    findings: tuple[Finding, ...] = ()
    reverted_by: str | None = None
    artifacts: tuple[str, ...] = ()
    report: OperationReport | None = None
    printed: str | None = None
    deadline_seconds: float | None = None

    @property
    def ok(self) -> bool:
        return not self.findings

    @property
    def broken_off(self) -> bool:
        """True when the call cost the worker. The scene is then rebuilt at the next need."""
        return self.answer is None and self.reverted_by is not None

    @property
    def details(self) -> StepDetails:
        answer = self.answer
        if answer is None:
            printed = self.printed
        else:
            printed = answer.get("printed")
        details = StepDetails(
            reverted_by=self.reverted_by,
            answered=answer is not None and printed is None,
            determinism=self.call.promises.determinism.value,
            deadline_seconds=self.deadline_seconds,
            printed=printed,
        )
        if answer is None:
            return details
        times = {phase: answer[phase] for phase in ("plan_ms", "execute_ms", "verify_ms")}
        return replace(details, changes=answer["changes"], artifacts=self.artifacts, **times)


def revert_method(answer: StepAnswer) -> str | None:
    """Return how Blender reverted a step, "rebuild" if it could not, or None if there was no revert."""
    if answer["reverted_by"] == REVERT_FAILED:
        return "rebuild"
    return answer["reverted_by"]


def report_exception(scene: SceneHost, call: Invocation, answer: StepAnswer) -> None:
    """Write the worker's log for a call that raised inside Blender. The log has the stack trace and is deleted
    with the worker.
    """
    if answer["reverted_by"] == REVERT_FAILED or answer["fault"] == Fault.EXECUTION_FAILED:
        scene.report_log(call.ids, answer["message"])


def _needs_proof(call: Invocation) -> bool:
    """Return True when another process must find the expected scene in the saved file."""
    promises = call.promises
    return not promises.replayable and promises.isolation is Isolation.SHARED and not call.writes_outside


class ExclusiveStep:
    """A runner that executes one call at a time with the worker for itself."""

    def __init__(
        self, scene: SceneHost, process_scene: ProcessScene, journal: Journal, ledger: Ledger, files: FileAccess
    ) -> None:
        """Initialize for calls on `scene`. Code, proofs and checks of written files use the processes of
        `process_scene`.

        The two are the same scene, unless the scene is open in a window.
        """
        self._scene = scene
        self._process_scene = process_scene
        self._journal = journal
        self._ledger = ledger
        self._files = files
        self._isolated = IsolatedRunner(process_scene, files)
        self._arriving: tuple[External, ...] = ()

    def run(
        self,
        call: Invocation,
        *,
        seconds: float,
        run_ends: float,
        cancel: CancelToken | None = None,
        waiting: Callable[[Waiting], None] | None = None,
        verify: bool = False,
        rehearse: str | None = None,
    ) -> StepOutcome:
        """Run one call and return its outcome, whose entry is not yet committed.

        `seconds` limits this call; `run_ends` is the end of the run on the monotonic clock. Raises
        EnvironmentUnfit when Blender or the disk is not usable. The scene is then rebuilt at the next need.
        """
        args, findings = self._files.normalised(call.tool, dict(call.args))
        before = self._scene.hash
        if findings:
            return self._failure(call, before, findings)
        if args != call.args:
            call = replace(call, args=args)
        self._arriving = ()
        if call.writes_outside and rehearse is None:
            intent = self._announce(call)
        else:
            intent = None
        crash_points.reach("call.announced")
        request = call.request()
        request["verify"] = verify
        if rehearse is not None:
            request["rehearse"] = rehearse
        try:
            limits = CodeLimits(monotonic() + seconds, seconds, cancel, run_ends, waiting)
            outcome = self._through(call, request, intent, limits)
        except Refusal as refusal:
            return self._failure(call, before, refusal.findings, intent=intent)
        except (WorkerError, RebuildFailed) as error:
            outcome = self._broken_off(call, before, error, intent)
        except BlendwrightError:
            self._scene.discard()
            raise
        outcome.deadline_seconds = min(seconds, call.tool.seconds_for(call.model) or seconds)
        return outcome

    def _announce(self, call: Invocation) -> int:
        return self._journal.recovery.begin_intent(
            NewIntent(call.key, call.request_id, call.operation_id, call.tool.name, call.effect)
        )

    def _through(
        self,
        call: Invocation,
        request: StepRequest,
        intent: int | None,
        limits: CodeLimits,
    ) -> StepOutcome:
        """Run the phases of one call: stage, answer, check, save, deliver."""
        rehearsed = "rehearse" in request

        # Stage the files that the call reads and writes.
        frames = self._kept_frames(call)
        worker = self._scene.worker()
        staged = self._staged(call, frames, worker)
        request["files"] = staged.paths
        crash_points.reach("call.staged")

        # Let Blender answer.
        reads_back = call.tool.reads_back(call.model) is not None and not rehearsed
        if reads_back or (_needs_proof(call) and not rehearsed):
            self._process_scene.start_proof()
        if call.promises.isolation is Isolation.SHARED:
            answer = self._shared_answer(call, request, limits, frames, worker)
        else:
            limits.seconds = call.tool.seconds_for(call.model) or limits.seconds
            answer = self._isolated.run(call, request, limits)
            if call.promises.isolation is Isolation.DISPOSABLE:
                staged = self._isolated.staged
        crash_points.reach("call.answered")

        # Check the answer, and the file that the call wrote.
        if answer["reverted_by"] == REVERT_FAILED:
            # The last fallback: rebuild the scene from the journal in another worker.
            self._scene.discard()
        findings = tuple(Finding.from_json(finding) for finding in answer["findings"])
        if findings or answer["reverted_by"] is not None:
            # The files of a rehearsal stay in the scratch directory.
            return self._failed_step(call, answer, findings, intent, revert_method(answer))
        if reads_back and answer["result"] is not None:
            result, findings = read_written_file(
                self._process_scene, self._files, call, answer["result"], staged, limits
            )
            if findings:
                return self._failed_step(call, answer, findings, intent)
            answer["result"] = dict(result)
        if (answer["result"] or {}).get("partial"):
            call = replace(call, ended_early=True)
            if frames is not None:
                staged = replace(staged, outputs={})  # a partial render has no video

        # Save the scene where the call cannot be replayed.
        try:
            if call.promises.replayable:
                checkpoint = None
            else:
                checkpoint = self._saved(call, answer, limits.run_ends)
        except RebuildFailed as error:
            # The revert works. The result of the step is lost, because no other process can have it.
            self._scene.discard()
            message = f"the result of the call cannot be saved: {error.message}"
            cure = "Try again. If it happens again, change the arguments."
            finding = Finding(Fault.EXECUTION_FAILED, message, "", cure)
            return self._failed_step(call, answer, (finding,), intent, "rebuild")
        crash_points.reach("call.saved")

        # Bring the files to their destinations.
        try:
            answer, artifacts = self._delivered(call, answer, staged, frames, worker)
        except Refusal as refusal:
            # If a file cannot be delivered, the scene must not keep the step either.
            self._scene.discard()
            return self._failed_step(call, answer, refusal.findings, intent, "rebuild")
        crash_points.reach("call.delivered")

        entry = self._ledger.success(call, answer, checkpoint=checkpoint, settles=intent, externals=self._arriving)
        return StepOutcome(call, entry, answer, artifacts=artifacts)

    def _staged(self, call: Invocation, frames: KeptFrames | None, worker: RemoteScene) -> Staged:
        """Copy the files that the call reads into the worker's scratch directory, and create directories there for
        its outputs.
        """
        staged = NO_FILES
        if file_arguments(call.tool.args_model) and call.promises.isolation is not Isolation.DISPOSABLE:
            staged = self._files.stage(call.tool, call.args, worker.require_process().scratch)
        if frames is None:
            return staged
        directory = frames.stage(worker.require_process().scratch)
        return replace(staged, paths={**staged.paths, FRAMES_DIRECTORY: str(directory)})

    def _shared_answer(
        self,
        call: Invocation,
        request: StepRequest,
        limits: CodeLimits,
        frames: KeptFrames | None,
        worker: RemoteScene,
    ) -> StepAnswer:
        """Run the step in the scene's own process."""
        if not call.proof_demanded:
            # A call that must give the same result twice may not end early with a part of it.
            request["seconds"] = limits.seconds
        if worker.process is None:
            scratch = None
        else:
            scratch = worker.process.scratch
        if frames is None or scratch is None:
            keeping = nullcontext()
        else:
            keeping = frames.keeping(scratch)
        with Heartbeat(limits.waiting, call.tool.name, limits.seconds, scratch), keeping:
            answer = self._scene.step(request, deadline=limits.seconds, cancel=limits.cancel)
        report_exception(self._scene, call, answer)
        return answer

    def _delivered(
        self,
        call: Invocation,
        answer: StepAnswer,
        staged: Staged,
        frames: KeptFrames | None,
        worker: RemoteScene,
    ) -> tuple[StepAnswer, tuple[str, ...]]:
        """Copy artifacts and files from the worker's scratch directory to their destinations.

        Return the answer with the final name of its artifact, and the paths of all files. Raises Refusal when a
        file cannot be written.
        """
        if not staged.paths and not answer["artifacts"] and call.promises.isolation is Isolation.SHARED:
            return answer, ()
        scratch = worker.require_process().scratch
        self._files.refuse_too_much(scratch)
        artifacts = self._files.keep_artifacts(answer["artifacts"], scratch)
        answer = _with_artifact_name(answer, artifacts)
        artifacts += self._files.deliver(staged)
        if frames is not None:
            template = call.args.get("frames_path")
        else:
            template = None
        if template is not None:
            numbers = frame_numbers(answer["result"])
            artifacts += self._files.deliver_frames(template, scratch, numbers, staged.overwrite)
        return answer, tuple(artifacts)

    def _failed_step(
        self,
        call: Invocation,
        answer: StepAnswer,
        findings: tuple[Finding, ...],
        intent: int | None,
        reverted_by: str | None = None,
    ) -> StepOutcome:
        """Return the outcome of a step that Blender answered and that the scene does not keep."""
        return self._failure(call, answer["before"], findings, intent=intent, answer=answer, reverted_by=reverted_by)

    def _failure(
        self,
        call: Invocation,
        before: str,
        findings: tuple[Finding, ...],
        *,
        intent: int | None = None,
        answer: StepAnswer | None = None,
        reverted_by: str | None = None,
        printed: str | None = None,
    ) -> StepOutcome:
        """Return the outcome of a failed call, with its audit note. `before` is the hash of the scene before the
        call.
        """
        if reverted_by is None:
            status = "failed"
        else:
            status = "rolled_back"
        if findings:
            fault = findings[0].fault
        else:
            fault = None
        note = self._ledger.note(call, status, before, fault=fault, answer=answer, settles=intent)
        return StepOutcome(call, note, answer, findings, reverted_by, printed=printed)

    def _kept_frames(self, call: Invocation) -> KeptFrames | None:
        """Return the frames of an earlier attempt that the call can reuse, or None for calls without frames.

        Raises Refusal when other files are at the destinations of these frames.
        """
        shown = call.tool.frames_for(call.model)
        if shown is None:
            return None
        profile = self._scene.profile
        blender = [profile.version_string, profile.build_hash, profile.platform]
        files = self._scene.externals.stamps(self._journal)
        kept = self._files.kept_frames(
            digest([call.tool.name, call.tool.version, blender, self._scene.hash, dict(shown), *files])
        )
        template = call.args.get("frames_path")
        if kept is not None and template is not None:
            problems = tuple(kept.target_problems(Path(template), bool(call.args.get("overwrite"))))
            if problems:
                raise Refusal(problems)
        if files and kept is not None and not kept.begun:
            # Blender keeps showing a file as it was when Blender read it, so open the scene again.
            self._scene.follow_head()
        return kept

    def _saved(self, call: Invocation, answer: StepAnswer, run_ends: float) -> StagedCheckpoint | None:
        """Stage a checkpoint of the scene, or return None when the call changed nothing.

        An unsaved change is lost with the worker. `answer["after"]` becomes the hash that another process finds in
        the file, because a rebuild of the scene begins with that file.
        """
        if answer["before"] == answer["after"] and (answer.get("unchanged") or not call.takes_in):
            return None
        file = self._isolated.opened_file
        if call.promises.isolation is Isolation.SHARED:
            if call.takes_in:
                path_arguments = paths_in(call.tool.args_model, call.args)
                read_paths = [argument.path for argument in path_arguments if argument.role in ("read", "asset")]
                self._arriving = self._process_scene.arriving_files(read_paths)
            seconds = min(HANG_SECONDS, max(0.001, run_ends - monotonic()))
            file, answer["after"] = self._process_scene.prove_step(answer["after"], seconds=seconds)
        assert file is not None
        return self._journal.checkpoints.stage(file, answer["after"])

    def _broken_off(
        self, call: Invocation, before: str, error: WorkerError | RebuildFailed, intent: int | None
    ) -> StepOutcome:
        """Return the failure of a call whose worker is gone or not trusted. The scene is the scene of HEAD again."""
        if not unsent(error):
            self._scene.report_loss(error, call.ids)
        finding = finding_of(error, call.tool)
        printed = error.details.get("printed")
        return self._failure(call, before, (finding,), intent=intent, reverted_by="rebuild", printed=printed)


def _with_artifact_name(answer: StepAnswer, kept_paths: Sequence[str]) -> StepAnswer:
    """Return the answer with the final name of its artifact or artifact folder. A name that is already in use gets
    a number.
    """
    result = answer["result"]
    if not kept_paths or not result or "artifact" not in result:
        return answer

    scratch_path = Path(answer["artifacts"][0])
    kept_path = Path(kept_paths[0])
    if scratch_path.parent.name:
        old_name = scratch_path.parent.name
        new_name = kept_path.parent.name
    else:
        old_name = scratch_path.name
        new_name = kept_path.name

    if result["artifact"] == old_name:
        return {**answer, "result": {**result, "artifact": new_name}}
    return answer
