"""One call that has the worker for itself, from the announcement of outside effects to the entry that is to be committed.

intent -> stage files -> step -> save, where it cannot be replayed -> bring files out -> entry. Whoever runs it commits the entry:
until then nothing has happened.
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
    """What became of a call. `entry` waits to be committed; `findings` are empty exactly when the call succeeded.

    `report` is there for what was not done; a success gets its report with its receipt."""

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
        """Whether the worker was lost over it: the scene is rebuilt when it is needed next."""
        return self.answer is None and self.reverted_by is not None

    @property
    def details(self) -> StepDetails:
        answer = self.answer
        if answer is None:
            printed = self.printed
        else:
            printed = answer.get("printed")
        known = StepDetails(
            reverted_by=self.reverted_by,
            answered=answer is not None and printed is None,
            determinism=self.call.promises.determinism.value,
            deadline_seconds=self.deadline_seconds,
            printed=printed,
        )
        if answer is None:
            return known
        times = {phase: answer[phase] for phase in ("plan_ms", "execute_ms", "verify_ms")}
        return replace(known, changes=answer["changes"], artifacts=self.artifacts, **times)


def revert_method(answer: StepAnswer) -> str | None:
    """How a step was taken back; what could not be is rebuilt."""
    if answer["reverted_by"] == REVERT_FAILED:
        return "rebuild"
    return answer["reverted_by"]


def report_exception(scene: SceneHost, call: Invocation, answer: StepAnswer) -> None:
    """Where something raised inside Blender, its stack trace is in the worker's log, which goes with the worker."""
    if answer["reverted_by"] == REVERT_FAILED or answer["fault"] == Fault.EXECUTION_FAILED:
        scene.report_log(call.ids, answer["message"])


def _needs_proof(call: Invocation) -> bool:
    """Whether the scene that the call is expected to leave must be found by another process in the file of it."""
    promises = call.promises
    return not promises.replayable and promises.isolation is Isolation.SHARED and not call.writes_outside


class ExclusiveStep:
    """Runs calls one at a time."""

    def __init__(
        self, scene: SceneHost, process_scene: ProcessScene, journal: Journal, ledger: Ledger, files: FileAccess
    ) -> None:
        """Calls run on `scene`. Code, proofs and checks of written files need the processes of `process_scene`.

        The two are the same scene, unless the scene is open in a window."""
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
        """Raises EnvironmentUnfit when there is no Blender, or no disk, to go on with; the scene is then rebuilt at the next need."""
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
            # The last way back: a scene rebuilt from the journal, in another worker.
            self._scene.discard()
        findings = tuple(Finding.from_json(finding) for finding in answer["findings"])
        if findings or answer["reverted_by"] is not None:
            # What a rehearsal wrote stays in the scratch.
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
                staged = replace(staged, outputs={})  # there is no video of a part

        # Save the scene where the call cannot be replayed.
        try:
            if call.promises.replayable:
                checkpoint = None
            else:
                checkpoint = self._saved(call, answer, limits.run_ends)
        except RebuildFailed as error:
            # The way back is not in doubt: what the step made is, since no other process can have it.
            self._scene.discard()
            message = f"what it made cannot be kept: {error.message}"
            cure = "Try again; if it happens again, change the arguments."
            finding = Finding(Fault.EXECUTION_FAILED, message, "", cure)
            return self._failed_step(call, answer, (finding,), intent, "rebuild")
        crash_points.reach("call.saved")

        # Bring the files to their destinations.
        try:
            answer, artifacts = self._delivered(call, answer, staged, frames, worker)
        except Refusal as refusal:
            # Where a file cannot be brought to its destination, the scene must not keep the step either.
            self._scene.discard()
            return self._failed_step(call, answer, refusal.findings, intent, "rebuild")
        crash_points.reach("call.delivered")

        entry = self._ledger.success(call, answer, checkpoint=checkpoint, settles=intent, externals=self._arriving)
        return StepOutcome(call, entry, answer, artifacts=artifacts)

    def _staged(self, call: Invocation, frames: KeptFrames | None, worker: RemoteScene) -> Staged:
        """Copy the files that the call reads into the worker's scratch, and make room there for those that it writes."""
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
            # Where the same is demanded again, a part of it will not do.
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
        """Bring artifacts and files out of the worker's scratch. Raises Refusal where one cannot be written.

        Returns the answer with the final name of its artifact, and the paths of all files."""
        if not staged.paths and not answer["artifacts"] and call.promises.isolation is Isolation.SHARED:
            return answer, ()
        scratch = worker.require_process().scratch
        self._files.refuse_too_much(scratch)
        artifacts = self._files.keep_artifacts(answer["artifacts"], scratch)
        answer = _with_name_of(answer, artifacts)
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
        """Return the outcome of a step that Blender answered and that is not kept."""
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
        """Return the outcome of a call that failed, with its audit note; `before` is the hash of the scene that it met."""
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
        """The frames that the call needs not render again. Raises Refusal where others are in their place."""
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
            # A Blender that has read a file goes on to show it as it was then.
            self._scene.follow_head()
        return kept

    def _saved(self, call: Invocation, answer: StepAnswer, run_ends: float) -> StagedCheckpoint | None:
        """None where nothing changed: what is not saved here is lost with the worker. The hash becomes that of the file, as a process
        that did not make it finds it: whoever rebuilds the scene begins with that file."""
        if answer["before"] == answer["after"] and (answer.get("unchanged") or not call.takes_in):
            return None
        file = self._isolated.opened_file
        if call.promises.isolation is Isolation.SHARED:
            if call.takes_in:
                named = paths_in(call.tool.args_model, call.args)
                reads = [each.path for each in named if each.role in ("read", "asset")]
                self._arriving = self._process_scene.arriving_files(reads)
            seconds = min(HANG_SECONDS, max(0.001, run_ends - monotonic()))
            file, answer["after"] = self._process_scene.prove_step(answer["after"], seconds=seconds)
        assert file is not None
        return self._journal.checkpoints.stage(file, answer["after"])

    def _broken_off(
        self, call: Invocation, before: str, error: WorkerError | RebuildFailed, intent: int | None
    ) -> StepOutcome:
        """The worker is gone or not to be trusted. Nothing of the step stands: the scene is what HEAD says."""
        if not unsent(error):
            self._scene.report_loss(error, call.ids)
        finding = finding_of(error, call.tool)
        printed = error.details.get("printed")
        return self._failure(call, before, (finding,), intent=intent, reverted_by="rebuild", printed=printed)


def _with_name_of(answer: StepAnswer, kept: Sequence[str]) -> StepAnswer:
    """The answer with its artifact, or the folder of them, under the name that it was kept by: one that is taken gets a number."""
    result = answer["result"]
    if not kept or not result or "artifact" not in result:
        return answer
    made, now = Path(answer["artifacts"][0]), Path(kept[0])
    old, new = (made.parent.name, now.parent.name) if made.parent.name else (made.name, now.name)
    if result["artifact"] == old:
        return {**answer, "result": {**result, "artifact": new}}
    return answer
