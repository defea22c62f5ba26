"""Views of the scene of any commit, in a Blender for viewing only: pictures, GLB and .blend files, objects, and audit
findings.
"""

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
# The quality of WebP pictures.
WEBP_QUALITY = 82
# The fields of an object in a list, and their names in a snapshot.
OBJECT_FIELDS = {"type": "type", "data": "data", "parent": "parent", "collections": "collections", "materials": "materials",
         "location": "transform.location", "modifiers": "modifiers.order", "visible": "visible_render"}  # fmt: skip


@dataclass(frozen=True, slots=True)
class PicturePair:
    """WebP pictures of two scenes from the same viewpoint."""

    before: bytes
    after: bytes


class SceneViews:
    """A viewer of scenes of one workspace. Its worker holds the scene of the latest requested commit."""

    def __init__(self, journal: JournalView, worker: RemoteScene) -> None:
        self._journal = journal
        self._worker = worker
        self._steps = LookSteps(worker, PICTURE_SECONDS, None)
        self._at: Commit | None = None

    def commit(self, name: int | str) -> Commit:
        """Return a commit by its name. Raise Refusal when it does not exist."""
        return find(self._journal, name)

    def picture(self, number: int, width: int) -> bytes | None:
        """Return a WebP picture through the scene's camera, or from a corner above.

        Return None for a scene without anything to see.
        """
        self._go_to(number)
        return self._picture({"width": width, "height": width * 3 // 4}) or self._picture(
            {"width": width, "height": width * 3 // 4, "view": "ISO"}
        )

    def picture_pair(self, before: int, after: int, width: int) -> PicturePair | None:
        """Return pictures of two scenes from one viewpoint, which is chosen for the later scene, or None without
        anything to see.
        """
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
            self._at = None  # the new camera changes the worker's scene
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
        """Return the scene as a GLB file, or None when the scene has nothing to export."""
        self._go_to(number)
        return glb_of(self._worker)

    def blend(self, number: int) -> bytes:
        """Return the scene as a .blend file, without code that would run on opening."""
        commit = self._go_to(number)
        saved = self._worker.export(SCENE_FILE)
        if saved["hash"] != commit.hash_after:
            raise RebuildFailed(f"saving gave another scene: expected {commit.hash_after}, found {saved['hash']}")
        with open_scratch_file(self._worker.require_process().scratch, SCENE_FILE) as opened:
            return opened.read()

    def objects(self, number: int) -> list[dict[str, Any]]:
        """Return the objects of the scene in the order of their names."""
        self._go_to(number)
        entries = take_snapshot(self._worker).entries
        return [{"name": name, **_shown(entry)} for (kind, name), entry in entries.items() if kind == "objects"]

    def audit(self, number: int) -> Mapping[str, Any]:
        """Return the result of `scene.audit`."""
        self._go_to(number)
        return self._steps.do("scene.audit", {})

    def difference(self, before: int, after: int) -> Difference:
        """Return the differences between two scenes, property by property."""
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
        """Render a picture. Return None for a scene without a camera or without anything to see."""
        try:
            self._steps.do(PREVIEW, {**args, "artifact": AFTER})
        except Refusal as refused:
            if {finding.fault for finding in refused.findings} != {Fault.SCENE_CONFLICT}:
                raise
            return None
        from PIL import Image  # imported here, because only pictures need it

        written = io.BytesIO()
        with open_scratch_file(self._worker.require_process().scratch, "artifacts", AFTER) as opened:
            Image.open(opened, formats=("PNG",)).convert("RGB").save(written, "WEBP", quality=WEBP_QUALITY)
        return written.getvalue()

    def _go_to(self, number: int) -> Commit:
        """Bring a commit's scene into the worker, by redo alone if that is possible from the current commit."""
        target = self._journal.show(number)
        current = self._at
        self._at = None
        if current is None:
            rebuild_commit(self._worker, self._journal, number)
        elif current.hash_after != target.hash_after:
            steps = self._journal.checkpoints.steps_between(current.number, target.number)
            if steps is None or any(error is not None for _, error in redo_in_batches(self._worker, steps)):
                rebuild_commit(self._worker, self._journal, number)
        self._at = target
        return target


def glb_of(worker: RemoteScene) -> bytes | None:
    """Return the worker's scene as a GLB file, or None when the scene has nothing to export."""
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


def _shown(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {name: entry.get(key) for name, key in OBJECT_FIELDS.items()}
