"""Calls that need the scene for themselves while it is open in a window.

Calls that need files, a separate process or a checkpoint run on a headless Blender, and their result is then
loaded into the window.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from blendwright.engine.files.access import FileAccess
from blendwright.engine.heartbeat import Waiting
from blendwright.engine.invocation import Invocation
from blendwright.engine.ledger import Ledger
from blendwright.engine.sending.exclusive_step import ExclusiveStep, StepOutcome
from blendwright.journal import Journal
from blendwright.policy.refusals import refusal
from blendwright.records.commits import NewCommit
from blendwright.tool_api.arguments import file_arguments
from blendwright.tool_api.promises import Isolation
from blendwright.util.cancel import CancelToken
from blendwright.values.errors import WorkerError
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding
from blendwright.wire.methods import StepAnswer
from blendwright.wire.remote_scene import HANG_SECONDS

if TYPE_CHECKING:
    from blendwright.window.attached_scene import WindowScene


class WindowStep:
    """A runner for one call at a time, in the window or on the headless Blender next to it."""

    def __init__(self, scene: WindowScene, journal: Journal, ledger: Ledger, files: FileAccess) -> None:
        self._scene = scene
        self._journal = journal
        self._ledger = ledger
        self._in_window = ExclusiveStep(scene, scene.headless, journal, ledger, files)
        self._headless = ExclusiveStep(scene.headless, scene.headless, journal, ledger, files)

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
        def run_with(step: ExclusiveStep) -> StepOutcome:
            return step.run(
                call,
                seconds=seconds,
                run_ends=run_ends,
                cancel=cancel,
                waiting=waiting,
                verify=verify,
                rehearse=rehearse,
            )

        if not _needs_process(call):
            return run_with(self._in_window)
        if call.promises.isolation is Isolation.REPLACED:
            message = f"{call.tool.name} runs trusted code, which never runs in a window that a person has open"
            finding = refusal("trusted_in_window", message)
            note = self._ledger.note(call, "failed", self._scene.hash, fault=finding.fault)
            return StepOutcome(call, note, findings=(finding,))
        self._scene.headless_at_head()
        outcome = run_with(self._headless)
        answer = outcome.answer
        if not outcome.ok or answer is None or answer["before"] == answer["after"]:
            return outcome
        problem = self._load_into_window(outcome, answer)
        if problem is None:
            return outcome
        self._scene.discard()
        self._scene.headless.discard()
        message = (
            f"{call.tool.name} ran on a separate Blender, but its result cannot be loaded into the window: {problem}"
        )
        cure = "Save the file, detach, run the call on the saved file, and open the result."
        finding = Finding(Fault.EXECUTION_FAILED, message, "", cure)
        if isinstance(outcome.entry, NewCommit):
            settles = outcome.entry.settles
        else:
            settles = None
        note = self._ledger.note(
            call, "rolled_back", answer["before"], fault=finding.fault, answer=answer, settles=settles
        )
        return replace(outcome, entry=note, findings=(finding,), reverted_by="rebuild")

    def _load_into_window(self, outcome: StepOutcome, answer: StepAnswer) -> str | None:
        """Load the result of the headless Blender into the window. Return the problem if that fails, else None."""
        window = self._scene.window()
        entry = outcome.entry
        try:
            if isinstance(entry, NewCommit) and entry.checkpoint is not None:
                file = self._journal.checkpoints.path(entry.checkpoint)
                brought = window.bring(file, answer["changes"], answer["after"])
                window_hash = brought["hash"]
                problem = brought["problem"]
            else:
                call = outcome.call
                step = {"tool": call.tool.name, "version": call.tool.version, "args": call.args}
                redone = window.submit_redo([{**step, "after": answer["after"]}]).result(HANG_SECONDS)  # pyright: ignore[reportArgumentType]
                window_hash = redone["hash"]
                problem = redone["message"]
        except WorkerError as error:
            return error.message
        except TimeoutError:
            window.abandon()
            return "the window does not answer"
        if problem:
            return problem
        if window_hash == answer["after"]:
            return None
        return "the window then had a different scene"


def _needs_process(call: Invocation) -> bool:
    promises = call.promises
    return (
        promises.isolation is not Isolation.SHARED
        or not promises.replayable
        or call.writes_outside
        or bool(file_arguments(call.tool.args_model))
        or call.tool.frames_for(call.model) is not None
    )
