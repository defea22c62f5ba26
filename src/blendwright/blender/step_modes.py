"""The methods by which a step records its changes and is reverted."""

from enum import Enum
from typing import Protocol

import bpy

from blendwright.blender import fingerprint as fp
from blendwright.blender.scene import BpyScene, SceneState
from blendwright.blender.scene.files.linking import drop_linked, library_paths
from blendwright.tool_api.promises import Revert
from blendwright.tool_api.tool import AnyTool
from blendwright.wire.methods import StepRequest

# Blender's undo works without a window from version 4.5 on. For earlier versions the core rebuilds the scene.
HAS_UNDO = bpy.app.version >= (4, 5, 0)


class Hashing(Enum):
    """The moment at which a kept step is hashed."""

    AT_ONCE = "at_once"
    MAY_WAIT = "may_wait"
    """The hash may be deferred if the step has written only what its tool declares."""
    WAITS = "waits"
    """The step was applied and verified, and its hash is deferred."""


class StepMode(Protocol):
    """A method to record and revert the writes of a step."""

    @property
    def method(self) -> Revert | None:
        """The revert method of this process, or None when only a rebuild can revert the step."""
        ...

    def begin(self, name: str) -> None:
        """Prepare for the writes of the tool with this name."""
        ...

    def seal(self) -> list[list[str]]:
        """Bring the writes into the fingerprint and return the changes."""
        ...

    def revert(self) -> None:
        """Undo the writes. Call this only if `method` is not None."""
        ...


class RecordedWrites:
    """The mode of recorded writes: the scene port records each write, and writing the earlier values reverts the
    step.
    """

    method = Revert.INVERSE

    def __init__(self, scene: BpyScene) -> None:
        self._undo_log = scene.undo_log

    def begin(self, name: str) -> None:
        pass

    def seal(self) -> list[list[str]]:
        return self._undo_log.seal()

    def revert(self) -> None:
        self._undo_log.revert()


class MemfileUndo:
    """The mode of Blender's undo, for operators whose writes are not recorded. A comparison of the whole scene
    shows the changes.
    """

    def __init__(self, state: SceneState) -> None:
        self._state = state
        self._leaves = dict(state.fingerprint.leaves())
        self._libraries = library_paths()
        self.method: Revert | None = None
        if HAS_UNDO and state.owns_undo:
            self.method = Revert.MEMFILE

    def begin(self, name: str) -> None:
        if self._state.owns_undo:
            _push_undo(name)

    def seal(self) -> list[list[str]]:
        self._state.refresh()
        return fp.changes_between(self._leaves, self._state.fingerprint.leaves())

    def revert(self) -> None:
        # Blender's undo does not revert edits since the last push, so push the changed state first.
        _push_undo("revert")
        bpy.ops.ed.undo()
        # Blender's undo keeps linked datablocks.
        drop_linked(lambda key: key in self._leaves, self._libraries)
        self._state.refresh()


class DisposableProcess:
    """The mode of a process that ends after the step. It records and reverts nothing."""

    method = None

    def begin(self, name: str) -> None:
        pass

    def seal(self) -> list[list[str]]:
        return []

    def revert(self) -> None:
        raise AssertionError("a step in a disposable process cannot be reverted")


def uses_memfile(tool: AnyTool, args: object, request: StepRequest) -> bool:
    """Return True if Blender's own undo reverts the step, because its tool declares that or the request rehearses
    it.
    """
    declared = tool.revert_for(args, bpy.app.version) is Revert.MEMFILE
    return declared or request.get("rehearse") == Revert.MEMFILE.value


def _push_undo(message: str) -> None:
    if HAS_UNDO:
        bpy.ops.ed.undo_push(message=message)
