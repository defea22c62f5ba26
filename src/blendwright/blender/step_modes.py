"""The ways in which a step knows what it changed, and in which it is taken back."""

from enum import Enum
from typing import Protocol

import bpy

from blendwright.blender import fingerprint as fp
from blendwright.blender.scene import BpyScene, SceneState
from blendwright.blender.scene.files.linking import drop_linked, library_paths
from blendwright.tool_api.promises import Revert
from blendwright.tool_api.tool import AnyTool
from blendwright.wire.methods import StepRequest

# Blender's own undo is proven to work headless from 4.5 on; before that such steps are rebuilt by the core.
HAS_UNDO = bpy.app.version >= (4, 5, 0)


class Hashing(Enum):
    """When a step that was kept is hashed."""

    AT_ONCE = "at_once"
    MAY_WAIT = "may_wait"
    """It may be left for later, when the step has written only what its tool declares."""
    WAITS = "waits"
    """The step was applied and verified, and its hash is left for later."""


class StepMode(Protocol):
    """How a step that writes is recorded and taken back."""

    @property
    def method(self) -> Revert | None:
        """The way in which the step can be taken back here; None when only a rebuild can."""
        ...

    def begin(self, name: str) -> None:
        """Prepare for the writes of the tool of this name."""
        ...

    def seal(self) -> list[list[str]]:
        """Bring the writes into the fingerprint. Returns the changes."""
        ...

    def revert(self) -> None:
        """Undo the writes. Call it only where `method` is not None."""
        ...


class RecordedWrites:
    """The scene port records each write, so that writing the earlier values takes the step back."""

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
    """An operator writes what nobody records: a comparison of the whole scene shows it, and Blender's own undo takes it back."""

    def __init__(self, state: SceneState) -> None:
        self._state = state
        self._leaves = dict(state.fingerprint.leaves())
        self._libraries = library_paths()
        self.method = Revert.MEMFILE if HAS_UNDO and state.owns_undo else None

    def begin(self, name: str) -> None:
        if self._state.owns_undo:
            _push_undo(name)

    def seal(self) -> list[list[str]]:
        self._state.refresh()
        return fp.changes_between(self._leaves, self._state.fingerprint.leaves())

    def revert(self) -> None:
        # Edits since the last push survive an undo: the dirty state is pushed first.
        _push_undo("revert")
        bpy.ops.ed.undo()
        # Blender's undo leaves what was linked where it is.
        drop_linked(lambda key: key in self._leaves, self._libraries)
        self._state.refresh()


class DisposableProcess:
    """The process ends after the step, so that nothing is recorded and nothing is taken back."""

    method = None

    def begin(self, name: str) -> None:
        pass

    def seal(self) -> list[list[str]]:
        return []

    def revert(self) -> None:
        raise AssertionError("a disposable process is not taken back")


def uses_memfile(tool: AnyTool, args: object, request: StepRequest) -> bool:
    """Whether the step is to be taken back by Blender's own undo, by its tool's declaration or as a rehearsal."""
    declared = tool.revert_for(args, bpy.app.version) is Revert.MEMFILE
    return declared or request.get("rehearse") == Revert.MEMFILE.value


def _push_undo(message: str) -> None:
    if HAS_UNDO:
        bpy.ops.ed.undo_push(message=message)
