"""The worker's methods by name. `wire/methods.py` lists the methods on its scene. All paths are inside its scratch directory."""

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

# The number of bytes above which the log is emptied: twice as much as reports show of it.
MAX_LOG_BYTES = 16 * 1024

# The number of seconds after which a bulk ends early, because the caller has a deadline for each step.
MAX_BULK_SECONDS = 0.5


def build(scratch: Path, confinement: Confinement) -> dict[str, Handler]:
    """Return the methods of this worker by name."""
    extensions = load_extensions()
    extra_tools: list[AnyTool] = []
    extra_methods: dict[str, Handler] = {}
    for extension in extensions:
        extra_tools += getattr(extension, "TOOLS", ())
        extra_methods |= getattr(extension, "METHODS", {})
    catalogue = tools().with_others(extra_tools)
    state = SceneState()
    state.reset()
    return (
        {"hello": hello(catalogue, confinement), "ping": ping}
        | SceneMethods(scratch, catalogue, state).handlers()
        | extra_methods
    )


def hello(catalogue: Mapping[str, AnyTool], confinement: Confinement) -> Handler:
    """Return the handshake's handler. It answers with this package, the Blender profile and the catalogue's fingerprint."""
    fingerprint = registry_fingerprint(catalogue)

    def answer(params: dict[str, Any]) -> object:
        if not same_package(params.get("package")):
            raise Refused(PACKAGE_MISMATCH, mismatch(params.get("package"), this_package()))
        about = profile.describe(confinement).model_dump(mode="json")
        return {"package": this_package(), "profile": about, "catalogue": fingerprint}

    return answer


def ping(params: dict[str, Any]) -> object:
    """Return the parameters unchanged."""
    return params


class SceneMethods:
    """The methods on this worker's scene. `RemoteScene` documents each of them."""

    def __init__(self, scratch: Path, tools: Mapping[str, AnyTool], state: SceneState) -> None:
        self._scratch = scratch
        self._tools = tools
        self._state = state
        outbox = scratch / "artifacts"
        outbox.mkdir(exist_ok=True)
        self._stepper = Stepper(state, tools, outbox)
        self._closed_epoch = 0

    def handlers(self) -> dict[str, Handler]:
        """Return a handler for every scene method. Each one checks its request first."""
        handlers: dict[str, Handler] = {}
        for name, method in methods.METHODS.items():
            handlers[name] = _checked(method, getattr(self, name.removeprefix("scene.")))
        return handlers

    def reset(self, request: methods.NoArguments) -> methods.SceneHash:
        """Replace the scene by an empty one."""
        self._closed_epoch = 0
        self._state.reset()
        return self._hash()

    def open(self, request: methods.OpenRequest) -> methods.SceneHash:
        # A caller that opens a scene has no steps in progress. It may be another session, which counts its epochs from one.
        """Open a .blend file as the scene. Raise Refused if Blender cannot open it or it hides drivers."""
        self._closed_epoch = 0
        return self._open(request)

    def _open(self, request: methods.OpenRequest) -> methods.SceneHash:
        path = self._inside(request["path"])
        try:
            self._state.open(path, full=request.get("full", True), drop_unused=request.get("drop_unused", False))
        except HiddenDriverError as error:
            self._state.reset()
            raise Refused(methods.HIDDEN_DRIVER, str(error)) from error
        except RuntimeError as error:
            self._state.reset()
            raise Refused("cannot_open", f"Blender cannot open the file: {error}") from error
        return self._hash()

    def save(self, request: methods.SaveRequest) -> methods.SceneHash:
        """Write the scene to a .blend file. Recompute the hash in full, unless `full` says that the caller does not need it."""
        self._state.save(self._inside(request["path"]))
        if request.get("full", True):
            self._state.refresh()
        self._bound_log()
        return self._hash()

    def export(self, request: methods.ExportRequest) -> methods.ExportAnswer:
        """Write the scene to a .blend file with all its scripts silenced, and return the silenced scripts."""
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
        """Give external files new paths, save the scene, and open it again."""
        external_files.relocate(request["new_paths"])
        self._state.save(self._inside(request["path"]))
        return self._open({"path": request["path"]})

    def active_content(self, request: methods.NoArguments) -> methods.ActiveContentAnswer:
        return {"active_content": active_content()}

    def swap(self, request: methods.SwapRequest) -> methods.SwapAnswer:
        """Open another .blend file as the scene, and return the differences to the previous scene."""
        leaves = dict(self._state.fingerprint.leaves())
        opened = self._open({"path": request["path"], "drop_unused": request.get("drop_unused", False)})
        if external_files.rebase(request.get("home", "")):
            self._state.refresh()
            opened = self._hash()
        changes = fp.changes_between(leaves, self._state.fingerprint.leaves())
        return {**opened, "changes": changes, "active_content": active_content()}

    def hash(self, request: methods.HashRequest) -> methods.SceneHash:
        """Return the scene hash, recomputed in full if the request says so."""
        if request.get("full"):
            return {"hash": self._state.full_root()}
        return self._hash()

    def unlisted(self, request: methods.NoArguments) -> methods.UnlistedAnswer:
        return {"blocks": unlisted_blocks(self._leaves())}

    def content(self, request: methods.ContentRequest) -> methods.ContentAnswer:
        """Write the content of datablocks to a file, and return their number."""
        keys = request.get("keys")
        if keys is None:
            named = None
        else:
            named = [tuple(key) for key in keys]
        return {"blocks": write_content(self._state, self._inside(request["path"]), named)}

    def read_back(self, request: methods.ReadBackRequest) -> methods.ReadBackAnswer:
        """Import an exported file into an empty scene, and return facts about it."""
        path, form = self._inside(request["path"]), request["form"]
        if form not in IMPORTERS:
            raise Refused("unknown_form", f"this worker cannot read files of the form {form!r}")
        self._state.reset()
        try:
            return {"facts": read_back(str(path), form, request["profile"])}
        except StepError as error:
            raise Refused("cannot_read", error.finding.message) from error
        finally:
            self._state.reset()

    def step(self, request: StepRequest) -> StepAnswer | StepRun:
        """Run one step. A failure closes its epoch, because later steps were written for a scene that does not exist."""
        epoch = request.get("epoch")
        if epoch is None:
            return self._run(request)
        self._require_open(epoch)
        previous, self._closed_epoch = self._closed_epoch, epoch
        answer = self._run(request)
        if isinstance(answer, StepRun) or answer["ok"]:
            self._closed_epoch = previous
        return answer

    def bulk(self, request: methods.BulkRequest) -> methods.BulkAnswer:
        """Run steps in a row and hash their changes in one pass.

        A failure or the time limit leaves steps over and closes the epoch, because later steps were written for a scene that does
        not exist yet.
        """
        self._require_open(request["epoch"])
        previous, self._closed_epoch = self._closed_epoch, request["epoch"]
        runs = self._run_all(request["steps"], monotonic() + MAX_BULK_SECONDS)
        answers: list[StepAnswer] = []
        for run in runs:
            answers.append(_finished(run))
            if not answers[-1]["ok"]:
                break
        if len(answers) == len(request["steps"]) and answers[-1]["ok"]:
            self._closed_epoch = previous
        return {"answers": answers}

    def redo(self, request: methods.RedoRequest) -> methods.RedoAnswer:
        """Run committed steps again. Stop at the first one with another result; the core decides what that means."""
        requests: list[StepRequest] = []
        for step in request["steps"]:
            requests.append({"tool": step["tool"], "version": step["version"], "args": step["args"]})
        runs = self._run_all(requests)

        redone = 0
        for step, run in zip(request["steps"], runs, strict=False):
            answer = _finished(run)
            if not answer["ok"] or answer["after"] != step["after"]:
                return {"hash": answer["after"], "redone": redone, "message": answer["message"]}
            redone += 1
        return {**self._hash(), "redone": redone, "message": ""}

    def _require_open(self, epoch: int) -> None:
        if epoch <= self._closed_epoch:
            raise Refused(EPOCH_CLOSED, f"an earlier step of epoch {epoch} has failed")

    def _run(self, request: StepRequest) -> StepAnswer | StepRun:
        self._require_possible(request)
        return self._stepper.begin(request)

    def _run_all(self, requests: Sequence[StepRequest], ends: float = NEVER) -> Sequence[StepAnswer | StepRun]:
        for request in requests:
            self._require_possible(request)
        return begin_all(self._stepper, requests, ends)

    def _require_possible(self, request: StepRequest) -> None:
        """Raise Refused if this worker does not have the tool in this version."""
        tool = self._tools.get(request["tool"])
        if tool is None or tool.version != request["version"]:
            raise Refused("unknown_tool", f"this worker has no {request['tool']} version {request['version']}")

    def _leaves(self) -> Mapping[fp.Key, bytes]:
        self._state.hash_deferred()
        return self._state.fingerprint.leaves()

    def _hash(self) -> methods.SceneHash:
        return {"hash": self._state.root()}

    def _bound_log(self) -> None:
        """Empty the log when it exceeds its limit. Blender writes lines for every saved file, and a worker may save thousands."""
        sys.stdout.flush()
        log = self._scratch / LOG_NAME
        if log.exists() and log.stat().st_size > MAX_LOG_BYTES:
            os.truncate(log, 0)

    def _inside(self, path: str) -> Path:
        """Return the absolute path, or raise Refused if it is outside the scratch directory."""
        resolved = (self._scratch / path).resolve()
        if not resolved.is_relative_to(self._scratch.resolve()):
            raise Refused("outside_scratch", f"the path {path!r} is outside the scratch directory of this worker")
        return resolved


def _finished(run: StepAnswer | StepRun) -> StepAnswer:
    if isinstance(run, StepRun):
        return run.finish()
    return run


def _checked(method: Method, handle: Handler) -> Handler:
    """Return a handler that refuses requests which do not fit the method."""

    def checked(params: dict[str, Any]) -> object:
        if not method.request_fits(params):
            raise Refused("malformed_request", f"the parameters do not fit {method.name}: {sorted(params)[:8]}")
        return handle(params)

    return checked
