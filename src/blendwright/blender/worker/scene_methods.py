"""The methods of a worker on its scene, as `wire/methods.py` lists them. Paths are inside the worker's scratch."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, cast

from blendwright.blender import fingerprint as fp
from blendwright.blender.scene import SceneState, external_files
from blendwright.blender.scene.scripts import active_content, silenced
from blendwright.blender.step import Stepper, StepRun
from blendwright.blender.worker.loop import Deferred, Handler, Refused
from blendwright.tool_api.tool import AnyTool
from blendwright.wire import methods
from blendwright.wire.methods import EPOCH_CLOSED, Answer, Method, Request, StepAnswer, StepRequest


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

    def handlers(self) -> dict[str, Handler]:
        """A handler for every method of the list, each checking its requests before anything else."""
        return {
            methods.RESET.name: _checked(methods.RESET, self.reset),
            methods.OPEN.name: _checked(methods.OPEN, self.open),
            methods.SAVE.name: _checked(methods.SAVE, self.save),
            methods.EXPORT.name: _checked(methods.EXPORT, self.export),
            methods.SWAP.name: _checked(methods.SWAP, self.swap),
            methods.HASH.name: _checked(methods.HASH, self.hash),
            methods.EXTERNAL_FILES.name: _checked(methods.EXTERNAL_FILES, self.external_files),
            methods.RELOCATE_FILES.name: _checked(methods.RELOCATE_FILES, self.relocate_files),
            methods.ACTIVE_CONTENT.name: _checked(methods.ACTIVE_CONTENT, self.active_content),
            methods.STEP.name: _checked(methods.STEP, self.step),
        }

    def reset(self, request: methods.NoArguments) -> methods.SceneHash:
        """An empty scene."""
        self._state.reset()
        return self._hash()

    def open(self, request: methods.FileRequest) -> methods.SceneHash:
        """The scene of a .blend file; its scripts never run."""
        path = self._inside(request["path"])
        try:
            self._state.open(path)
        except RuntimeError as error:
            self._state.reset()
            raise Refused("cannot_open", f"Blender cannot open the file: {error}") from error
        return self._hash()

    def save(self, request: methods.SaveRequest) -> methods.SceneHash:
        """Write the scene to a .blend file; the hash is recomputed in full, unless `full` says that nobody needs it."""
        self._state.save(self._inside(request["path"]))
        if request.get("full", True):
            self._state.refresh()
        return self._hash()

    def export(self, request: methods.FileRequest) -> methods.ExportAnswer:
        """Save for use outside of the workspace: the file goes without code that would run where it is opened."""
        path = self._inside(request["path"])
        with silenced(lambda key: None) as carried:
            self._state.save(path)
        self._state.refresh()
        return {**self._hash(), "cleaned": [cast("methods.Script", asdict(entry)) for entry in carried]}

    def external_files(self, request: methods.NoArguments) -> methods.ExternalFilesAnswer:
        """The paths of all files that the scene refers to, as they stand in it."""
        return {"paths": external_files.paths()}

    def relocate_files(self, request: methods.RelocateRequest) -> methods.SceneHash:
        """Give external files other paths; the scene is afterwards that of the file which it is saved to."""
        external_files.relocate(request["new_paths"])
        self._state.save(self._inside(request["path"]))
        return self.open({"path": request["path"]})

    def active_content(self, request: methods.NoArguments) -> methods.ActiveContentAnswer:
        """What the scene carries that would run by itself, or that names a file."""
        return {"active_content": active_content()}

    def swap(self, request: methods.FileRequest) -> methods.SwapAnswer:
        """Open a file in place of the scene, and say what is different in it and what it carries."""
        leaves = dict(self._state.fingerprint.leaves())
        opened = self.open(request)
        changes = fp.changes_between(leaves, self._state.fingerprint.leaves())
        return {**opened, "changes": changes, "active_content": active_content()}

    def hash(self, request: methods.HashRequest) -> methods.SceneHash:
        """The scene's hash: as kept from step to step, or with `full` recomputed."""
        return {"hash": self._state.full_root()} if request.get("full") else self._hash()

    def step(self, request: StepRequest) -> StepAnswer | StepRun:
        """Run one step. A failure closes its epoch: what was sent behind it was meant for a scene that did not come to be."""
        epoch = request.get("epoch")
        if epoch is None:
            return self._run(request)
        if epoch <= self._closed_epoch:
            raise Refused(EPOCH_CLOSED, f"a step of epoch {epoch} has failed before this one")
        closed, self._closed_epoch = self._closed_epoch, epoch
        answer = self._run(request)
        if isinstance(answer, StepRun) or answer["ok"]:
            self._closed_epoch = closed
        return answer

    def _run(self, request: StepRequest) -> StepAnswer | StepRun:
        tool = self._tools.get(request["tool"])
        if tool is None or tool.version != request["version"]:
            raise Refused("unknown_tool", f"this worker has no {request['tool']} version {request['version']}")
        return self._stepper.begin(request)

    def _hash(self) -> methods.SceneHash:
        return {"hash": self._state.root()}

    def _inside(self, path: str) -> Path:
        resolved = (self._scratch / path).resolve()
        if not resolved.is_relative_to(self._scratch.resolve()):
            raise Refused("outside_scratch", "a worker opens and saves inside its scratch only")
        return resolved


def _checked(method: Method[Request, Answer], handle: Callable[[Request], Answer | Deferred]) -> Handler:
    """The handler for requests that fit the method; any other is refused."""
    fits = method.request_fits

    def checked(params: dict[str, Any]) -> object:
        if not fits(params):
            raise Refused("malformed_request", f"this is no request of {method.name}: {sorted(params)[:8]}")
        return handle(cast("Request", params))

    return checked
