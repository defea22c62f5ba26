"""The check of .blend files that safe code writes as outputs.

Code can write anything into such a file, and the person who opens it in Blender may have scripts enabled.
Therefore Blendwright never delivers such a file directly. A clean worker opens it with scripts off, applies the
rules for scenes of safe code, and saves it again; that copy is delivered. Code that the scene had before is left
out, as in an export.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from blendwright.blendfile.detection import may_be_blend
from blendwright.engine.code.answers import broken_off, forbidden_content
from blendwright.engine.code.resource_guard import ResourceGuard
from blendwright.engine.files.access import Staged
from blendwright.engine.files.delivery import written_files
from blendwright.engine.files.scratch import LARGER_CURE, copy_opened_in, open_scratch_file, size_problem
from blendwright.policy.objections import FULL
from blendwright.policy.refusals import refusal
from blendwright.util.no_follow import open_file
from blendwright.values.errors import DeadlinePassed, WorkerError, WorkerFault
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding
from blendwright.wire.methods import HIDDEN_DRIVER, ActiveItem
from blendwright.wire.remote_scene import RemoteScene

WRITTEN_FILE = "written.blend"
CHECKED_FILE = "checked.blend"
MAX_MESSAGE_CHARACTERS = 2000
LEAVE_OUT = (
    "Write no registered texts, scripted drivers, scripts, linked libraries or file paths into it. "
    "Pack images and clear their paths."
)
WRITE_OTHERWISE = "Write it with bpy.data.libraries.write, or export the scene with file.export after the call."


class WrittenSceneCheck:
    """The check of all .blend files among the outputs of one call."""

    def __init__(
        self,
        start_worker: Callable[[], RemoteScene],
        seconds_left: Callable[[], float],
        scratch_mb: int,
        content_before: Sequence[ActiveItem],
    ) -> None:
        """Initialize the check. `start_worker` returns a ready worker without a scene or external files, which
        serves one file.

        `content_before` is the active content of the scene before the code ran.
        """
        self._start_worker = start_worker
        self._seconds_left = seconds_left
        self._scratch_mb = scratch_mb
        self._content_before = content_before

    def replace_by_checked(self, staged: Staged) -> Finding | None:
        """Replace every .blend file among the outputs by its checked copy. Return a finding if one cannot be
        delivered.
        """
        for number, (directory, target) in enumerate(staged.outputs.items()):
            scratch = directory.parent.parent
            for written_file in written_files(directory, target):
                parts = (directory.parent.name, directory.name, *written_file.parts)
                with open_scratch_file(scratch, *parts) as opened:
                    is_blend = may_be_blend(opened, written_file.name)
                if is_blend:
                    finding = self._check(scratch, parts, target.parent / written_file, f"/files/out/{number}")
                    if finding is not None:
                        return finding
        return None

    def _check(self, scratch: Path, parts: tuple[str, ...], target: Path, pointer: str) -> Finding | None:
        try:
            worker = self._start_worker()
        except DeadlinePassed as error:
            return broken_off(error)
        try:
            if worker.profile.confinement.get("level") != FULL:
                return refusal("unconfined", "the process for the file is not confined")
            process = worker.require_process()
            with open_scratch_file(scratch, *parts) as opened:
                copy_opened_in(opened, process.scratch, WRITTEN_FILE)
            with ResourceGuard(process, self._scratch_mb) as guard:
                try:
                    finding = self._clean(worker, target, pointer)
                except WorkerError as error:
                    finding = guard.finding() or _cannot_be_opened(error, target, pointer)
            return finding or guard.finding() or self._fetch(process.scratch, scratch, parts, target, pointer)
        finally:
            worker.abandon()

    def _clean(self, worker: RemoteScene, target: Path, pointer: str) -> Finding | None:
        """Open the file and save it without code. Return a finding if it has active content that the scene did not
        have.
        """
        worker.open(WRITTEN_FILE, full=False, deadline=self._seconds_left())
        content = worker.active_content(deadline=self._seconds_left())
        unexpected = [item for item in content if item not in self._content_before]
        if unexpected:
            forbidden = forbidden_content(unexpected)
            message = f"{target} cannot be delivered: {forbidden.message}"
            return Finding(Fault.POLICY_BLOCKED, message[:MAX_MESSAGE_CHARACTERS], pointer, LEAVE_OUT)
        worker.export(CHECKED_FILE, keep_unused=True, deadline=self._seconds_left())
        return None

    def _fetch(
        self, worker_scratch: Path, scratch: Path, parts: tuple[str, ...], target: Path, pointer: str
    ) -> Finding | None:
        try:
            with open_file(worker_scratch / CHECKED_FILE) as opened:
                too_large = size_problem(opened, self._scratch_mb)
                if too_large:
                    return Finding(Fault.LIMIT_EXCEEDED, f"{target} {too_large}", pointer, LARGER_CURE)
                copy_opened_in(opened, scratch, *parts)
        except OSError as error:
            message = f"{target} cannot be saved again: {error.strerror or os.strerror(error.errno or 0)}"
            return Finding(Fault.EXECUTION_FAILED, message, pointer, "Check the free space on the disk.")
        return None


def _cannot_be_opened(error: WorkerError, target: Path, pointer: str) -> Finding:
    if isinstance(error, DeadlinePassed):
        return broken_off(error)
    if isinstance(error, WorkerFault) and error.code == HIDDEN_DRIVER:
        message = f"{target} cannot be delivered: {error.message}"
        return Finding(Fault.POLICY_BLOCKED, message[:MAX_MESSAGE_CHARACTERS], pointer, LEAVE_OUT)
    message = f"{target} cannot be delivered, because it is not a .blend file that can be checked: {error.message}"
    return Finding(Fault.EXECUTION_FAILED, message[:MAX_MESSAGE_CHARACTERS], pointer, WRITE_OTHERWISE)
