"""What can be seen of the scene of any commit, in a Blender that is there to look only: pictures, the scene as GLB, its objects and what
an audit finds, and files to take along."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from blendwright.engine.files.scratch import SCENE_FILE, open_scratch_file
from blendwright.engine.moves.commit_names import find
from blendwright.engine.scene.differences import compare, objects_to_inspect, take_snapshot, with_modifier_settings
from blendwright.engine.scene.rebuild import rebuild_commit, redo_in_batches
from blendwright.journal import JournalView
from blendwright.records.commits import Commit
from blendwright.records.results import Difference
from blendwright.values.errors import RebuildFailed, Refusal
from blendwright.values.faults import Fault
from blendwright.views.before_and_after import AFTER, EYE, PICTURE_SECONDS, PREVIEW, LookSteps, framed
from blendwright.views.queries import renamed_between
from blendwright.wire.remote_scene import RemoteScene

GLB_FILE = "scene.glb"
QUALITY = 82
# What a list of objects says of each.
SHOWN = {"type": "type", "data": "data", "parent": "parent", "collections": "collections", "materials": "materials",
         "location": "transform.location", "modifiers": "modifiers.order", "visible": "visible_render"}  # fmt: skip


@dataclass(frozen=True, slots=True)
class PicturePair:
    """WebP pictures of two scenes from the same place."""

    before: bytes
    after: bytes


class SceneViews:
    """Looks at scenes of one workspace with one worker, which holds the scene of the last commit that was asked for."""

    def __init__(self, journal: JournalView, worker: RemoteScene) -> None:
        self._journal = journal
        self._worker = worker
        self._steps = LookSteps(worker, PICTURE_SECONDS, None)
        self._at: Commit | None = None

    def commit(self, name: int | str) -> Commit:
        """Raises Refusal where there is none."""
        return find(self._journal, name)

    def picture(self, number: int, width: int) -> bytes | None:
        """A WebP picture through the scene's camera, or from a corner above; None where there is nothing to see."""
        self._go_to(number)
        return self._picture({"width": width, "height": width * 3 // 4}) or self._picture(
            {"width": width, "height": width * 3 // 4, "view": "ISO"}
        )

    def picture_pair(self, before: int, after: int, width: int) -> PicturePair | None:
        """Both from one place, which is chosen for the later one."""
        size = {"width": width, "height": width * 3 // 4}
        self._go_to(after)
        second = self._picture(size)
        if second is not None:
            self._go_to(before)
            first = self._picture(size)
            if first is not None:
                return PicturePair(first, second)
            self._go_to(after)
        try:
            self._at = None  # an eye is put into the scene
            eye = framed(self._steps, "ISO")
        except Refusal:
            return None
        second = self._picture({**size, "camera": EYE})
        self._go_to(before)
        self._at = None
        self._steps.do("camera.create", eye)
        first = self._picture({**size, "camera": EYE})
        if first is None or second is None:
            return None
        return PicturePair(first, second)

    def glb(self, number: int) -> bytes | None:
        """The scene as a GLB file; None where nothing in it can be in one."""
        self._go_to(number)
        return glb_of(self._worker)

    def blend(self, number: int) -> bytes:
        """The scene as a .blend file, without code that would run where it is opened."""
        commit = self._go_to(number)
        saved = self._worker.export(SCENE_FILE)
        if saved["hash"] != commit.hash_after:
            raise RebuildFailed(f"saving gave another scene: expected {commit.hash_after}, found {saved['hash']}")
        with open_scratch_file(self._worker.require_process().scratch, SCENE_FILE) as opened:
            return opened.read()

    def objects(self, number: int) -> list[dict[str, Any]]:
        """The objects of the scene, by name."""
        self._go_to(number)
        entries = take_snapshot(self._worker).entries
        return [{"name": name, **_shown(found)} for (kind, name), found in entries.items() if kind == "objects"]

    def audit(self, number: int) -> Mapping[str, Any]:
        """What `scene.audit` says."""
        self._go_to(number)
        return self._steps.do("scene.audit", {})

    def difference(self, before: int, after: int) -> Difference:
        """What differs between two scenes, property by property."""
        first, second = self._go_to(before), self._journal.show(after)
        old = take_snapshot(self._worker)
        self._go_to(after)
        new = take_snapshot(self._worker)
        names = objects_to_inspect(old, new)
        if names:
            new = with_modifier_settings(new, names, self._worker)
            self._go_to(before)
            old = with_modifier_settings(old, names, self._worker)
        return compare(old, new, renamed_between(self._journal, first, second))

    def _picture(self, args: Mapping[str, Any]) -> bytes | None:
        """None where there is nothing to look through, or at."""
        try:
            self._steps.do(PREVIEW, {**args, "artifact": AFTER})
        except Refusal as refused:
            if {finding.fault for finding in refused.findings} != {Fault.SCENE_CONFLICT}:
                raise
            return None
        from PIL import Image  # loaded only where there are pictures

        written = io.BytesIO()
        with open_scratch_file(self._worker.require_process().scratch, "artifacts", AFTER) as opened:
            Image.open(opened, formats=("PNG",)).convert("RGB").save(written, "WEBP", quality=QUALITY)
        return written.getvalue()

    def _go_to(self, number: int) -> Commit:
        """By redo alone where that leads there from the commit that the worker holds."""
        target, at, self._at = self._journal.show(number), self._at, None
        if at is None or at.hash_after != target.hash_after:
            if at is None:
                steps = None
            else:
                steps = self._journal.checkpoints.steps_between(at.number, target.number)
            if steps is None or any(wrong is not None for _, wrong in redo_in_batches(self._worker, steps)):
                rebuild_commit(self._worker, self._journal, number)
        self._at = target
        return target


def glb_of(worker: RemoteScene) -> bytes | None:
    """The scene that the worker holds as a GLB file; None where nothing in it can be in one."""
    scratch = worker.require_process().scratch
    steps = LookSteps(worker, PICTURE_SECONDS, None)
    try:
        steps.do("file.export", {"path": GLB_FILE, "overwrite": True}, files={GLB_FILE: str(scratch / GLB_FILE)})
    except Refusal as refused:
        if {finding.fault for finding in refused.findings} != {Fault.SCENE_CONFLICT}:
            raise
        return None
    with open_scratch_file(scratch, GLB_FILE) as opened:
        return opened.read()


def _shown(found: Mapping[str, Any]) -> dict[str, Any]:
    return {name: found.get(key) for name, key in SHOWN.items()}
