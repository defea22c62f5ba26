"""What the worker can be asked, by method name: those on its scene as `wire/methods.py` lists them. Paths are inside its scratch."""

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from time import monotonic
from typing import Any, cast

from blendwright.blender import fingerprint as fp
from blendwright.blender.alike_steps import NEVER, begin_all
from blendwright.blender.confinement import Confinement
from blendwright.blender.content import write_content
from blendwright.blender.scene import SceneState
from blendwright.blender.scene.code.execution import protect_unused
from blendwright.blender.scene.code.hidden_drivers import HiddenDriverError
from blendwright.blender.scene.code.scripts import active_content, silenced
from blendwright.blender.scene.files import external_files
from blendwright.blender.scene.files.interchange import IMPORTERS, read_back
from blendwright.blender.scene.tracking.unlisted import unlisted_blocks
from blendwright.blender.step import Stepper, StepRun
from blendwright.blender.worker import profile
from blendwright.blender.worker.conversation import Handler, Refused
from blendwright.blender.worker.extensions import load_extensions
from blendwright.tool_api.tool import AnyTool
from blendwright.tools.catalog import tools
from blendwright.tools.registry import registry_fingerprint
from blendwright.values.errors import StepError
from blendwright.wire import methods
from blendwright.wire.methods import EPOCH_CLOSED, Method, StepAnswer, StepRequest
from blendwright.wire.package_version import PACKAGE_MISMATCH, mismatch, same_package, this_package
from blendwright.wire.worker_environment import LOG_NAME

# Twice what anybody is shown of it.
LARGEST_LOG = 16 * 1024

# A bulk ends early after so many seconds: whoever waits for it has a deadline for each of its steps.
LONGEST_BULK = 0.5


def build(scratch: Path, confinement: Confinement) -> dict[str, Handler]:
    """The methods of this worker."""
    extensions = load_extensions()
    catalogue = tools().with_others(tool for each in extensions for tool in getattr(each, "TOOLS", ()))
    more_methods: dict[str, Handler] = {
        name: handler for each in extensions for name, handler in getattr(each, "METHODS", {}).items()
    }
    state = SceneState()
    state.reset()
    return (
        {"hello": hello(catalogue, confinement), "ping": ping}
        | SceneMethods(scratch, catalogue, state).handlers()
        | more_methods
    )


def hello(catalogue: Mapping[str, AnyTool], confinement: Confinement) -> Handler:
    """The handshake: which package this is, what Blender it runs in, and what tools it has."""
    fingerprint = registry_fingerprint(catalogue)

    def answer(params: dict[str, Any]) -> object:
        if not same_package(params.get("package")):
            raise Refused(PACKAGE_MISMATCH, mismatch(params.get("package"), this_package()))
        about = profile.describe(confinement).model_dump(mode="json")
        return {"package": this_package(), "profile": about, "catalogue": fingerprint}

    return answer


def ping(params: dict[str, Any]) -> object:
    """Answers with what it was sent."""
    return params


class SceneMethods:
    """One scene and the requests it answers; `RemoteScene` says what each is for."""

    def __init__(self, scratch: Path, tools: Mapping[str, AnyTool], state: SceneState) -> None:
        self._scratch = scratch
        self._tools = tools
        self._state = state
        outbox = scratch / "artifacts"
        outbox.mkdir(exist_ok=True)
        self._stepper = Stepper(state, tools, outbox)
        self._closed_epoch = 0

    def handlers(self) -> dict[str, Handler]:
        """A handler for every method of the list, each checking its requests before anything else."""
        return {
            name: _checked(method, getattr(self, name.removeprefix("scene.")))
            for name, method in methods.METHODS.items()
        }

    def reset(self, request: methods.NoArguments) -> methods.SceneHash:
        self._closed_epoch = 0
        self._state.reset()
        return self._hash()

    def open(self, request: methods.OpenRequest) -> methods.SceneHash:
        # Whoever brings a scene has nothing under way. It may be another session, which counts its epochs from one.
        self._closed_epoch = 0
        return self._open(request)

    def _open(self, request: methods.OpenRequest) -> methods.SceneHash:
        path = self._inside(request["path"])
        try:
            full, drop_unused = request.get("full", True), request.get("drop_unused", False)
            self._state.open(path, full=full, drop_unused=drop_unused)
        except HiddenDriverError as error:
            self._state.reset()
            raise Refused(methods.HIDDEN_DRIVER, str(error)) from error
        except RuntimeError as error:
            self._state.reset()
            raise Refused("cannot_open", f"Blender cannot open the file: {error}") from error
        return self._hash()

    def save(self, request: methods.SaveRequest) -> methods.SceneHash:
        """Write the scene to a .blend file; the hash is recomputed in full, unless `full` says that nobody needs it."""
        self._state.save(self._inside(request["path"]))
        if request.get("full", True):
            self._state.refresh()
        self._bound_log()
        return self._hash()

    def export(self, request: methods.ExportRequest) -> methods.ExportAnswer:
        path = self._inside(request["path"])
        if request.get("keep_unused"):
            protect_unused()
        try:
            with silenced(lambda key: None) as carried:
                self._state.save(path)
        except StepError as error:
            raise Refused(methods.HIDDEN_DRIVER, error.finding.message) from error
        self._state.refresh()
        return {**self._hash(), "cleaned": [cast("methods.Script", asdict(entry)) for entry in carried]}

    def external_files(self, request: methods.NoArguments) -> methods.ExternalFilesAnswer:
        return {"paths": external_files.paths()}

    def relocate_files(self, request: methods.RelocateRequest) -> methods.SceneHash:
        external_files.relocate(request["new_paths"])
        self._state.save(self._inside(request["path"]))
        return self._open({"path": request["path"]})

    def active_content(self, request: methods.NoArguments) -> methods.ActiveContentAnswer:
        return {"active_content": active_content()}

    def swap(self, request: methods.SwapRequest) -> methods.SwapAnswer:
        leaves = dict(self._state.fingerprint.leaves())
        opened = self._open({"path": request["path"], "drop_unused": request.get("drop_unused", False)})
        if external_files.rebase(request.get("home", "")):
            self._state.refresh()
            opened = self._hash()
        changes = fp.changes_between(leaves, self._state.fingerprint.leaves())
        return {**opened, "changes": changes, "active_content": active_content()}

    def hash(self, request: methods.HashRequest) -> methods.SceneHash:
        if request.get("full"):
            return {"hash": self._state.full_root()}
        return self._hash()

    def unlisted(self, request: methods.NoArguments) -> methods.UnlistedAnswer:
        return {"blocks": unlisted_blocks(self._leaves())}

    def content(self, request: methods.ContentRequest) -> methods.ContentAnswer:
        keys = request.get("keys")
        if keys is None:
            named = None
        else:
            named = [tuple(key) for key in keys]
        return {"blocks": write_content(self._state, self._inside(request["path"]), named)}

    def read_back(self, request: methods.ReadBackRequest) -> methods.ReadBackAnswer:
        path, form = self._inside(request["path"]), request["form"]
        if form not in IMPORTERS:
            raise Refused("unknown_form", f"no file of the form {form!r} can be read")
        self._state.reset()
        try:
            return {"facts": read_back(str(path), form, request["profile"])}
        except StepError as error:
            raise Refused("cannot_read", error.finding.message) from error
        finally:
            self._state.reset()

    def step(self, request: StepRequest) -> StepAnswer | StepRun:
        """Run one step. A failure closes its epoch: what was sent behind it was meant for a scene that did not come to be."""
        epoch = request.get("epoch")
        if epoch is None:
            return self._run(request)
        self._require_open(epoch)
        closed, self._closed_epoch = self._closed_epoch, epoch
        answer = self._run(request)
        if isinstance(answer, StepRun) or answer["ok"]:
            self._closed_epoch = closed
        return answer

    def bulk(self, request: methods.BulkRequest) -> methods.BulkAnswer:
        """Run steps in a row and hash what they touched in one pass. What is left over was meant for a scene that did not come to be
        yet, and so is what was sent behind it: the epoch is closed."""
        self._require_open(request["epoch"])
        closed, self._closed_epoch = self._closed_epoch, request["epoch"]
        runs = self._run_all(request["steps"], monotonic() + LONGEST_BULK)
        answers: list[StepAnswer] = []
        for run in runs:
            answers.append(run.finish() if isinstance(run, StepRun) else run)
            if not answers[-1]["ok"]:
                break
        if len(answers) == len(request["steps"]) and answers[-1]["ok"]:
            self._closed_epoch = closed
        return {"answers": answers}

    def redo(self, request: methods.RedoRequest) -> methods.RedoAnswer:
        """Run committed steps again; what leads elsewhere than it did ends it, and the core decides what that means."""
        runs = self._run_all(
            [{"tool": step["tool"], "version": step["version"], "args": step["args"]} for step in request["steps"]]
        )
        redone = 0
        for step, run in zip(request["steps"], runs, strict=False):
            if isinstance(run, StepRun):
                answer = run.finish()
            else:
                answer = run
            if not answer["ok"] or answer["after"] != step["after"]:
                return {"hash": answer["after"], "redone": redone, "message": answer["message"]}
            redone += 1
        return {**self._hash(), "redone": redone, "message": ""}

    def _require_open(self, epoch: int) -> None:
        if epoch <= self._closed_epoch:
            raise Refused(EPOCH_CLOSED, f"a step of epoch {epoch} has failed before this one")

    def _run(self, request: StepRequest) -> StepAnswer | StepRun:
        self._require_possible(request)
        return self._stepper.begin(request)

    def _run_all(self, requests: Sequence[StepRequest], ends: float = NEVER) -> Sequence[StepAnswer | StepRun]:
        for request in requests:
            self._require_possible(request)
        return begin_all(self._stepper, requests, ends)

    def _require_possible(self, request: StepRequest) -> None:
        """Refuses what this worker cannot do at all."""
        tool = self._tools.get(request["tool"])
        if tool is None or tool.version != request["version"]:
            raise Refused("unknown_tool", f"this worker has no {request['tool']} version {request['version']}")

    def _leaves(self) -> Mapping[fp.Key, bytes]:
        self._state.hash_deferred()
        return self._state.fingerprint.leaves()

    def _hash(self) -> methods.SceneHash:
        return {"hash": self._state.root()}

    def _bound_log(self) -> None:
        """Blender writes a line or two for every file that it saves, and a worker that follows a session saves thousands: begin anew."""
        sys.stdout.flush()
        log = self._scratch / LOG_NAME
        if log.exists() and log.stat().st_size > LARGEST_LOG:
            os.truncate(log, 0)

    def _inside(self, path: str) -> Path:
        resolved = (self._scratch / path).resolve()
        if not resolved.is_relative_to(self._scratch.resolve()):
            raise Refused("outside_scratch", "a worker opens and saves inside its scratch only")
        return resolved


def _checked(method: Method, handle: Handler) -> Handler:
    """The handler for requests that fit the method; any other is refused."""

    def checked(params: dict[str, Any]) -> object:
        if not method.request_fits(params):
            raise Refused("malformed_request", f"this is no request of {method.name}: {sorted(params)[:8]}")
        return handle(params)

    return checked
