"""The worker's methods on its scene: open, save, reset, hash, and one step. Paths are inside the worker's scratch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, cast

from blendwright.blender.scene import SceneState, externals
from blendwright.blender.scene.scripts import marks, silenced
from blendwright.blender.step import KeptStep, Stepper, changes_between
from blendwright.blender.worker.loop import Handler, Refused
from blendwright.tool_api.tool import AnyTool
from blendwright.wire.step import EPOCH_CLOSED, StepAnswer, StepRequest


class SceneMethods:
    """One scene and the requests it answers."""

    def __init__(self, scratch: Path, tools: Mapping[str, AnyTool]) -> None:
        self._scratch = scratch
        self._tools = tools
        self._state = SceneState()
        self._state.reset()
        outbox = scratch / "artifacts"
        outbox.mkdir(exist_ok=True)
        self._stepper = Stepper(self._state, tools, outbox)
        self._closed_epoch = 0

    def methods(self) -> dict[str, Handler]:
        return {
            "scene.reset": self.reset,
            "scene.open": self.open,
            "scene.save": self.save,
            "scene.export": self.export,
            "scene.externals": self.externals,
            "scene.resettle": self.resettle,
            "scene.marks": self.marks,
            "scene.swap": self.swap,
            "scene.hash": self.hash,
            "scene.step": self.step,
        }

    def reset(self, params: dict[str, Any]) -> object:
        """An empty scene."""
        self._state.reset()
        return self._hash()

    def open(self, params: dict[str, Any]) -> object:
        """The scene of a .blend file; its scripts never run."""
        path = self._inside(params["path"])
        try:
            self._state.open(path)
        except RuntimeError as error:
            self._state.reset()
            raise Refused("cannot_open", f"Blender cannot open the file: {error}") from error
        return self._hash()

    def save(self, params: dict[str, Any]) -> object:
        """Write the scene to a .blend file; the hash is that of a full recomputation, but where `full` says that nobody needs it."""
        self._state.save(self._inside(params["path"]))
        if params.get("full", True):
            self._state.refresh()
        return self._hash()

    def export(self, params: dict[str, Any]) -> object:
        """The same for a file that leaves the workspace: it goes without code that would run where it is opened."""
        path = self._inside(params["path"])
        with silenced(lambda key: None) as carried:
            self._state.save(path)
        self._state.refresh()
        return self._hash() | {"cleaned": [asdict(entry) for entry in carried]}

    def externals(self, params: dict[str, Any]) -> object:
        """The paths of all files that the scene refers to, as they stand in it."""
        return {"paths": externals.paths()}

    def resettle(self, params: dict[str, Any]) -> object:
        """Give external files other paths; the scene is afterwards that of the file which it is saved to."""
        externals.resettle(params["places"])
        self._state.save(self._inside(params["path"]))
        return self.open(params)

    def marks(self, params: dict[str, Any]) -> object:
        """What the scene carries that would run by itself, or that names a file."""
        return {"marks": marks()}

    def swap(self, params: dict[str, Any]) -> object:
        """Open a file in place of the scene, and say what is different in it and what it carries."""
        leaves = dict(self._state.fingerprint.leaves())
        opened = cast("dict[str, str]", self.open(params))
        return opened | {"changes": changes_between(leaves, self._state.fingerprint.leaves()), "marks": marks()}

    def hash(self, params: dict[str, Any]) -> object:
        """The scene's hash: as kept from step to step, or with `full` recomputed."""
        return {"hash": self._state.full_root() if params.get("full") else self._state.root()}

    def step(self, params: dict[str, Any]) -> object:
        """Run one step. A failure closes its epoch: what was sent behind it was meant for a scene that did not come to be."""
        request = cast("StepRequest", params)
        epoch = request.get("epoch")
        if epoch is None:
            return self._run(request)
        if epoch <= self._closed_epoch:
            raise Refused(EPOCH_CLOSED, f"a step of epoch {epoch} has failed before this one")
        closed, self._closed_epoch = self._closed_epoch, epoch
        answer = self._run(request)
        if isinstance(answer, KeptStep) or answer["ok"]:
            self._closed_epoch = closed
        return answer

    def _run(self, request: StepRequest) -> StepAnswer | KeptStep:
        tool = self._tools.get(request["tool"])
        if tool is None or tool.version != request["version"]:
            raise Refused("unknown_tool", f"this worker has no {request['tool']} version {request['version']}")
        return self._stepper.begin(request)

    def _hash(self) -> dict[str, str]:
        return {"hash": self._state.root()}

    def _inside(self, path: str) -> Path:
        found = (self._scratch / path).resolve()
        if not found.is_relative_to(self._scratch.resolve()):
            raise Refused("outside_scratch", "a worker opens and saves inside its scratch only")
        return found
