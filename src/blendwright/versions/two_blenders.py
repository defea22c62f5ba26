"""Two Blenders with the same scene, which receive the same requests and whose scenes are compared."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from blendwright.engine.files.scratch import SCENE_FILE, copy_scene, open_scene_file
from blendwright.records.commits import Commit
from blendwright.values.errors import RebuildFailed, WorkerFault
from blendwright.versions.compare_content import ContentDifference, compare_content
from blendwright.versions.content_files import Key, read_content
from blendwright.wire.methods import StepAnswer, StepRequest
from blendwright.wire.remote_scene import HANG_SECONDS, RemoteScene

HANDED_OVER = "handed_over.blend"
SCENE_MEMBER = "scene:"

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class TwoBlenders:
    """Two workers: `old` in the Blender that the scene comes from, `new` in the Blender under test."""

    old: RemoteScene
    new: RemoteScene

    @property
    def versions(self) -> tuple[str, str]:
        return (self.old.profile.version_string, self.new.profile.version_string)

    def both(self, act: Callable[[RemoteScene], T]) -> tuple[T, T]:
        """Run a function for both workers at the same time, and return both results."""
        with ThreadPoolExecutor(2) as threads:
            first, second = threads.submit(act, self.old), threads.submit(act, self.new)
            return first.result(), second.result()

    def open(self, file: Path, label: str) -> tuple[str, str]:
        """Open a .blend file in both, and return the hashes. Raise RebuildFailed when one of them cannot open it."""
        return self.both(lambda worker: open_scene_file(worker, file, label))

    def hand_over(self) -> str:
        """Save the scene of the old Blender and open it in the new one. Return its hash there."""
        self.old.save(HANDED_OVER, full=False)
        source = self.old.require_process().scratch / HANDED_OVER
        copy_scene(source, self.new.require_process().scratch / SCENE_FILE)
        try:
            return self.new.open(SCENE_FILE)
        except WorkerFault as error:
            raise RebuildFailed(f"the new Blender cannot open the scene of the old one: {error.message}") from error

    def compare(self, keys: Sequence[Key] | None = None) -> ContentDifference:
        """Return the difference of the two scenes, or of these datablocks only."""
        return compare_content(*self.both(lambda worker: read_content(worker, keys)))

    def step(self, commit: Commit) -> tuple[StepAnswer, StepAnswer]:
        """Run the step of a commit again in both, and return both answers."""
        request = StepRequest(tool=commit.tool, version=commit.tool_version, args=dict(commit.args))
        return self.both(lambda worker: _step(worker, request, commit))


def _step(worker: RemoteScene, request: StepRequest, commit: Commit) -> StepAnswer:
    try:
        return worker.step(request, deadline=HANG_SECONDS)
    except WorkerFault as error:
        version = worker.profile.version_string
        message = f"commit {commit.number} ({commit.tool}) cannot run again in Blender {version}: {error.message}"
        raise RebuildFailed(message, cure="Use the Blendwright version that wrote it.") from error


def changed_blocks(*answers: StepAnswer) -> list[Key]:
    """Return the datablocks that steps changed. A change of a membership counts for the collection or the scene."""
    keys: dict[Key, None] = {}
    for change in (change for answer in answers for change in answer["changes"]):
        kind, name = change[:2]
        if kind != "member":
            keys[tuple(change[:-1])] = None
        elif name.startswith(SCENE_MEMBER):
            keys["scenes", name.removeprefix(SCENE_MEMBER)] = None
        else:
            keys["collections", name] = None
    return list(keys)
