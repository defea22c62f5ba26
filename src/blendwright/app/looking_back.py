"""Before and after: pictures of the scenes of two commits from the same place, and what differs between them.

Both scenes are rebuilt in a Blender of their own, which is thrown away; the scene of the workspace stays as it is."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from blendwright.app.read_workspace import inspection_workers, read_journal
from blendwright.bridge.worker_source import WorkerSource
from blendwright.journal import JournalView
from blendwright.records.commits import Commit
from blendwright.run.calls import NOWHERE
from blendwright.run.commit_names import find
from blendwright.run.invocation import new_id
from blendwright.run.options import RunOptions
from blendwright.run.rebuild import rebuild_commit, take_worker
from blendwright.run.scratch_files import open_scratch_file
from blendwright.run.session import Session
from blendwright.tool_api.promises import SafetyLevel
from blendwright.tool_api.tool import AnyTool
from blendwright.tools.catalog import tools
from blendwright.tools.render.viewpoint import DIRECTIONS, NamedView
from blendwright.values.cancel import CancelToken
from blendwright.values.errors import Refusal
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding
from blendwright.values.frozen import frozen
from blendwright.values.outcome import Outcome
from blendwright.values.plan import Operation, Plan
from blendwright.wire.methods import StepAnswer, StepRequest
from blendwright.wire.remote_scene import RemoteScene
from blendwright.wire.worker_port import WorkerPool

if TYPE_CHECKING:
    from blendwright.app.open_scene import OpenScene

# A picture of a heavy scene on a slow machine takes long; one that hangs must not keep its caller for ever.
PICTURE_SECONDS = 600.0
# The camera that a view is seen through in both scenes, or what changed would move the picture.
EYE = "blendwright look"
FAR = 1e6
WIDEST = 1024
PREVIEW = "render.preview"
# Of its noise, where the engine has some: what `render.preview` takes where none is given.
SEED = 0
AFTER, SHEET = "after.png", "before_after.png"


@frozen
class LookBack:
    """From where, and how, the scenes of two commits are looked at. Without a view and a camera it is through each scene's own one, and
    without a frame at that of each."""

    view: NamedView | None = None
    camera: str | None = None
    engine: Literal["WORKBENCH", "CYCLES"] = "WORKBENCH"
    width: int = 480
    frame: int | None = None


@frozen
class CommitsSeen:
    """`sheet` is a PNG: before, after, and their difference. `result` is that of `render.compare`."""

    before: Commit
    after: Commit
    result: Mapping[str, Any]
    sheet: bytes

    def to_json(self) -> dict[str, Any]:
        told = ("silhouette_iou", "difference", "differing", "width", "height")
        commits = {"before": self.before.number, "after": self.after.number}
        notes = {"notes": self.result["notes"]} if self.result["notes"] else {}
        return {"ok": True, **commits, **{name: self.result[name] for name in told}, **notes}


def look_back(
    workspace: str | Path,
    before: str,
    after: str = "HEAD",
    look: LookBack | None = None,
    *,
    blender: str | Path | WorkerSource | None = None,
) -> CommitsSeen:
    """The scenes of two commits of a workspace, which may be in use. Raises Refusal where there is nothing to see, and RebuildFailed
    where a scene is not what the journal says."""
    with read_journal(workspace) as journal, inspection_workers(workspace, blender=blender) as inspection:
        commits = find(journal, before), find(journal, after)
        return see_commits(journal, inspection.worker(), *commits, look or LookBack())


def require_look(opened: OpenScene, args: Mapping[str, Any], options: RunOptions) -> None:
    """Raises Refusal where whoever is held to this contract may not look at the scene like this: the rules for `render.preview` decide."""
    operation = Operation("look", PREVIEW, args, (), None, 0, "", NOWHERE)
    against = opened.check(Plan("call", new_id(), (operation,), "id", "stop", single_call=True))
    if against is not None:
        raise Refusal([*against.findings, *(each for one in against.operations for each in one.findings)])
    opened.require_allowed(PREVIEW, SafetyLevel.READ_ONLY, args, options)


def look_back_beside(
    opened: OpenScene,
    session: Session,
    pool: WorkerPool,
    catalogue: str,
    commits: tuple[int | str, int | str],
    look: LookBack,
    options: RunOptions,
) -> Outcome:
    """The same for a workspace that is open, with a worker of its pool; the sheet is kept among its artifacts."""
    place = {name: value for name, value in (("view", look.view), ("camera", look.camera)) if value is not None}
    require_look(opened, {"engine": look.engine, **place}, options)
    session.scene.record_background()
    before, after = (find(session.journal, commit) for commit in commits)
    worker = take_worker(pool, catalogue)
    try:
        seconds = opened.terms.constraints.render_seconds
        seen = see_commits(session.journal, worker, before, after, look, seconds=seconds, cancel=options.cancel)
        paths = session.files.keep_artifacts([SHEET], worker.require_process().scratch)
    finally:
        worker.abandon()
    return Outcome(
        "render.compare",
        tools()["render.compare"].version,
        result=seen.to_json(),
        artifacts=tuple(paths),
        determinism_class="deterministic" if look.engine == "WORKBENCH" else "seeded",
        seed=None if look.engine == "WORKBENCH" else SEED,
        fingerprint_before=before.hash_after,
        fingerprint_after=after.hash_after,
        request_id=new_id(),
    )


def see_commits(
    journal: JournalView,
    worker: RemoteScene,
    before: Commit,
    after: Commit,
    look: LookBack,
    *,
    seconds: float = PICTURE_SECONDS,
    cancel: CancelToken | None = None,
) -> CommitsSeen:
    """From the same place. Where one of the scenes has no camera of its own, and none was named, both are seen from a corner above."""
    steps = LookSteps(worker, seconds, cancel)
    if look.view is None and look.camera is None:
        try:
            return _seen(journal, steps, before, after, look, None)
        except Refusal as refused:
            if {finding.fault for finding in refused.findings} != {Fault.SCENE_CONFLICT}:
                raise
    view = None if look.camera is not None else look.view or "ISO"
    return _seen(journal, steps, before, after, look, view)


def _seen(
    journal: JournalView, steps: LookSteps, before: Commit, after: Commit, look: LookBack, view: NamedView | None
) -> CommitsSeen:
    """The later one first: a view is chosen for it, and the earlier one is seen from there too."""
    rebuild_commit(steps.worker, journal, after.number)
    place = {"camera": look.camera, "frame": look.frame}
    shared: dict[str, Any] = {"engine": look.engine, **{name: at for name, at in place.items() if at is not None}}
    eye: dict[str, Any] | None = None
    if view is not None:
        eye = {"name": EYE, **framed(steps, view)}
        shared["camera"] = EYE
    size = {"width": look.width, "height": look.width * 3 // 4, "render_shape": True}
    taken = steps.do(PREVIEW, {**shared, **size, "artifact": AFTER})
    rebuild_commit(steps.worker, journal, before.number)
    if eye is not None:
        steps.do("camera.create", eye)
    scratch = steps.worker.require_process().scratch
    args: dict[str, Any] = {
        **shared,
        "reference": AFTER,
        "width": min(taken["width"], WIDEST),
        "panels": ["SCENE", "REFERENCE", "DIFFERENCE"],
        "captions": [f"after: commit {after.number}", f"before: commit {before.number}"],
        "artifact": SHEET,
    }
    result = steps.do("render.compare", args, files={AFTER: str(scratch / "artifacts" / AFTER)})
    # What is black in the one is often lit in the other.
    told = {f"commit {after.number}": taken["notes"], f"commit {before.number}": result["notes"]}
    result["notes"] = [f"{which}: {note}" for which, notes in told.items() for note in notes]
    with open_scratch_file(scratch, "artifacts", SHEET) as opened:
        return CommitsSeen(before, after, result, opened.read())


def framed(steps: LookSteps, view: NamedView) -> dict[str, Any]:
    """Where a camera that sees everything from a side stands in the scene as it is now."""
    steps.do("camera.create", {"name": EYE})
    steps.do("camera.frame_objects", {"object": EYE, "from_direction": list(DIRECTIONS[view])})
    told = steps.do("object.inspect", {"object": EYE})
    return {"clip_end": FAR, **{name: told[name] for name in ("location", "rotation_euler_deg")}}


class LookSteps:
    """Tools run in a Blender that nobody goes on with."""

    def __init__(self, worker: RemoteScene, seconds: float, cancel: CancelToken | None) -> None:
        self.worker = worker
        self._seconds = seconds
        self._cancel = cancel

    def do(self, name: str, args: Mapping[str, Any], files: Mapping[str, str] | None = None) -> dict[str, Any]:
        """The result. Raises Refusal with the findings of a step that fails."""
        tool: AnyTool = tools()[name]
        canonical = tool.args_model.model_validate(dict(args)).model_dump(mode="json")
        request = StepRequest(tool=name, version=tool.version, args=canonical, files=dict(files or {}), verify=True)
        answer: StepAnswer = self.worker.step(request, deadline=self._seconds, cancel=self._cancel)
        if not answer["ok"] or answer["result"] is None:
            found = [Finding.from_json(one) for one in answer["findings"]]
            raise Refusal(found or [Finding(Fault.EXECUTION_FAILED, answer["message"], "", None)])
        return answer["result"]
