"""The worker's scene methods for a window, except methods that would replace the user's open file."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from blendwright.blender import fingerprint as fp
from blendwright.blender.scene.state import is_tombstone
from blendwright.blender.window.scene_state import WindowState
from blendwright.blender.window.turns import Turns
from blendwright.blender.worker.conversation import Handler, Refused
from blendwright.blender.worker.handlers import SceneMethods
from blendwright.tool_api.promises import Revert
from blendwright.tool_api.tool import AnyTool
from blendwright.wire.methods import HashRequest, SceneHash, StepRequest
from blendwright.wire.window_methods import NOT_IN_A_WINDOW

REFUSED = ("reset", "open", "swap", "export", "relocate_files", "read_back")
CODE = "python.run"
# Methods that change the scene or rely on state from earlier steps.
IN_A_TURN = ("step", "bulk", "redo")


class WindowSceneMethods(SceneMethods):
    """The scene methods of a window. Methods that run steps need an open turn; methods that read the scene work at any time."""

    def __init__(self, scratch: Path, tools: Mapping[str, AnyTool], state: WindowState, turns: Turns) -> None:
        super().__init__(scratch, tools, state)
        self._turns = turns

    def handlers(self) -> dict[str, Handler]:
        handlers = super().handlers()
        handlers |= {f"scene.{name}": _refusing(f"scene.{name}") for name in REFUSED}
        handlers |= {f"scene.{name}": self._in_a_turn(handlers[f"scene.{name}"]) for name in IN_A_TURN}
        return handlers

    def hash(self, request: HashRequest) -> SceneHash:
        """Return the scene hash. Outside a turn, always recompute it, because the user may have changed the scene."""
        if self._turns.is_open and not request.get("full"):
            return {"hash": self._state.root()}
        return super().hash({"full": True})

    def _leaves(self) -> Mapping[fp.Key, bytes]:
        if self._turns.is_open:
            return super()._leaves()
        return fp.full(is_tombstone)

    def _in_a_turn(self, handle: Handler) -> Handler:
        def handle_in_turn(params: dict[str, Any]) -> object:
            self._turns.require_open()
            self._turns.require_calm()
            return handle(params)

        return handle_in_turn

    def _require_possible(self, request: StepRequest) -> None:
        if request["tool"] == CODE:
            raise Refused(NOT_IN_A_WINDOW, "code does not run in a user's window, but in a separate process")
        if request.get("rehearse") == Revert.MEMFILE.value or request.get("disposable"):
            raise Refused(NOT_IN_A_WINDOW, "a window does not run a step that needs a disposable copy of the scene")
        super()._require_possible(request)


def _refusing(name: str) -> Handler:
    def refuse(params: dict[str, Any]) -> object:
        raise Refused(NOT_IN_A_WINDOW, f"{name} would replace the file that the user has open")

    return refuse
