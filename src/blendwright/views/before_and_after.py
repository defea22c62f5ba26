"""Before and after: pictures of the scenes of two commits from the same place, and what differs between them.

Both scenes are rebuilt in a Blender of their own, which is thrown away; the scene of the workspace stays as it is."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from blendwright.bridge.worker_source import WorkerSource
from blendwright.engine.calls import NOWHERE
from blendwright.engine.files.scratch import open_scratch_file
from blendwright.engine.invocation import new_id
from blendwright.engine.moves.commit_names import find
from blendwright.engine.options import DEFAULT_OPTIONS, RunOptions
from blendwright.engine.scene.rebuild import rebuild_commit
from blendwright.journal import JournalView
from blendwright.records.commits import Commit
from blendwright.tool_api.promises import SafetyLevel
from blendwright.tool_api.tool import AnyTool
from blendwright.tools.catalog import tools
from blendwright.tools.render.viewpoint import DIRECTIONS, IN_PERSPECTIVE, NamedView
from blendwright.util.cancel import CancelToken
from blendwright.values.errors import Refusal
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding
from blendwright.values.outcome import Outcome
from blendwright.values.plan import Operation, Plan
from blendwright.wire.methods import StepAnswer, StepRequest
from blendwright.wire.remote_scene import RemoteScene
from blendwright.workspace.reading import inspection_workers, read_journal

if TYPE_CHECKING:
    from blendwright.workspace.open_scene import OpenScene

# A picture of a heavy scene on a slow machine takes long; one that hangs must not keep its caller for ever.
PICTURE_SECONDS = 600.0
# The camera that a view is seen through in both scenes, or what changed would move the picture.
EYE = "blendwright look"
FAR = 1e6
# How far back it stands where there is no perspective: so many times as far as the later scene reaches, or is wide.
STEPS_BACK = 10
WIDEST = 1024
PREVIEW = "render.preview"
# Of its noise, where the engine has some: what `render.preview` takes where none is given.
SEED = 0
AFTER, SHEET = "after.png", "before_after.png"


@dataclass(frozen=True, slots=True)
class LookBack:
    """From where, and how, the scenes of two commits are looked at. Without a view and a camera it is through each scene's own one, and
    without a frame at that of each."""

    view: NamedView | None = None
    camera: str | None = None
    engine: Literal["WORKBENCH", "CYCLES"] = "WORKBENCH"
    width: int = 480
    frame: int | None = None


@dataclass(frozen=True, slots=True)
class CommitsSeen:
    """`sheet` is a PNG: before, after, and their difference. `result` is that of `render.compare`."""

    before: Commit
    after: Commit
    result: Mapping[str, Any]
    sheet: bytes

    def to_json(self) -> dict[str, Any]:
        told = ("silhouette_iou", "difference", "differing", "width", "height")
        commits = {"before": self.before.number, "after": self.after.number}
        if self.result["notes"]:
            notes = {"notes": self.result["notes"]}
        else:
            notes = {}
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
        return see_commits(journal, inspection.worker(), *commits, [look or LookBack()])[0]


def require_look(opened: OpenScene, args: Mapping[str, Any], options: RunOptions) -> None:
    """Raises Refusal where whoever is held to this contract may not look at the scene like this: the rules for `render.preview` decide."""
    operation = Operation("look", PREVIEW, args, (), None, 0, "", NOWHERE)
    against = opened.check(Plan("call", new_id(), (operation,), "id", "stop", single_call=True))
    if against is not None:
        raise Refusal([*against.findings, *(each for one in against.operations for each in one.findings)])
    opened.require_allowed(PREVIEW, SafetyLevel.READ_ONLY, args, options)


def look_back_in(
    opened: OpenScene,
    before: int | str,
    after: int | str = "HEAD",
    look: LookBack | None = None,
    options: RunOptions = DEFAULT_OPTIONS,
) -> Outcome:
    """Return pictures of the scenes of two commits of an open workspace, and what differs between them, as an artifact.

    Raises Refusal where there is nothing to see, or where the rules for `render.preview` do not allow it."""
    return look_back_from(opened, [look or LookBack()], before, after, options)[0]


def look_back_from(
    opened: OpenScene,
    looks: Sequence[LookBack],
    before: int | str,
    after: int | str = "HEAD",
    options: RunOptions = DEFAULT_OPTIONS,
) -> list[Outcome]:
    """Return one outcome for each view, as `look_back_in` does for a single one. Both scenes are rebuilt once."""
    for look in looks:
        place = {name: value for name, value in (("view", look.view), ("camera", look.camera)) if value is not None}
        require_look(opened, {"engine": look.engine, **place}, options)
    journal = opened.journal
    before_commit, after_commit = find(journal, before), find(journal, after)
    seconds = opened.terms.constraints.render_seconds
    with opened.spare_worker() as worker:
        every = see_commits(journal, worker, before_commit, after_commit, looks, seconds=seconds, cancel=options.cancel)
        scratch = worker.require_process().scratch
        paths = opened.keep_artifacts([_numbered(SHEET, number) for number in range(len(looks))], scratch)
    return [
        Outcome(
            "render.compare",
            tools()["render.compare"].version,
            result=seen.to_json(),
            artifacts=(path,),
            determinism_class="deterministic" if look.engine == "WORKBENCH" else "seeded",
            seed=None if look.engine == "WORKBENCH" else SEED,
            fingerprint_before=before_commit.hash_after,
            fingerprint_after=after_commit.hash_after,
            request_id=new_id(),
        )
        for look, seen, path in zip(looks, every, paths, strict=True)
    ]


def see_commits(
    journal: JournalView,
    worker: RemoteScene,
    before: Commit,
    after: Commit,
    looks: Sequence[LookBack],
    *,
    seconds: float = PICTURE_SECONDS,
    cancel: CancelToken | None = None,
) -> list[CommitsSeen]:
    """From the same places. Where one of the scenes has no camera of its own, and none was named, both are seen from a corner above."""
    steps = LookSteps(worker, seconds, cancel)
    seen = _seen(journal, steps, before, after, dict(enumerate(looks)))
    blind = {place: replace(look, view="ISO") for place, look in enumerate(looks) if place not in seen}
    if blind:
        seen |= _seen(journal, steps, before, after, blind)
    return [seen[place] for place in range(len(looks))]


def _seen(
    journal: JournalView, steps: LookSteps, before: Commit, after: Commit, looks: Mapping[int, LookBack]
) -> dict[int, CommitsSeen]:
    """By the numbers of the looks, without those through a camera that one of the scenes does not have. The later scene first: a view is
    chosen for it, and the earlier one is seen from there too."""
    rebuild_commit(steps.worker, journal, after.number)
    shared: dict[int, dict[str, Any]] = {}
    eyes: list[dict[str, Any]] = []
    taken: dict[int, dict[str, Any]] = {}
    for number, look in looks.items():
        place = {"camera": look.camera, "frame": look.frame}
        shared[number] = {"engine": look.engine, **{name: at for name, at in place.items() if at is not None}}
        if look.view is not None and look.camera is None:
            eyes.append(framed(steps, look.view, f"{EYE} {number}", look.frame))
            shared[number]["camera"] = f"{EYE} {number}"
        size = {"width": look.width, "height": look.width * 3 // 4, "render_shape": True}
        with _without_its_camera(look):
            taken[number] = steps.do(PREVIEW, {**shared[number], **size, "artifact": _numbered(AFTER, number)})
    rebuild_commit(steps.worker, journal, before.number)
    for eye in eyes:
        steps.do("camera.create", eye)
    scratch = steps.worker.require_process().scratch
    seen: dict[int, CommitsSeen] = {}
    for number, later in taken.items():
        reference, sheet = _numbered(AFTER, number), _numbered(SHEET, number)
        args: dict[str, Any] = {
            **shared[number],
            "reference": reference,
            "width": min(later["width"], WIDEST),
            "panels": ["SCENE", "REFERENCE", "DIFFERENCE"],
            "captions": [f"after: commit {after.number}", f"before: commit {before.number}"],
            "artifact": sheet,
        }
        with _without_its_camera(looks[number]):
            result = steps.do("render.compare", args, files={reference: str(scratch / "artifacts" / reference)})
            # What is black in the one is often lit in the other.
            told = {f"commit {after.number}": later["notes"], f"commit {before.number}": result["notes"]}
            result["notes"] = [f"{which}: {note}" for which, notes in told.items() for note in notes]
            with open_scratch_file(scratch, "artifacts", sheet) as opened:
                seen[number] = CommitsSeen(before, after, result, opened.read())
    return seen


@contextmanager
def _without_its_camera(look: LookBack) -> Generator[None]:
    """For a look through the scene's own camera, which it may not have."""
    try:
        yield
    except Refusal as refused:
        own = look.view is None and look.camera is None
        if not own or {finding.fault for finding in refused.findings} != {Fault.SCENE_CONFLICT}:
            raise


def _numbered(name: str, number: int) -> str:
    if number == 0:
        return name
    return name.replace(".", f"_{number}.")


def framed(steps: LookSteps, view: NamedView, name: str = EYE, frame: int | None = None) -> dict[str, Any]:
    """A camera that sees everything from a side of the scene as it is now, or at a frame, as the arguments that make it in another one."""
    perspective = view in IN_PERSPECTIVE
    steps.do("camera.create", {"name": name, "projection": "PERSP" if perspective else "ORTHO"})
    from_there = {"from_direction": list(DIRECTIONS[view]), "frames": [] if frame is None else [frame]}
    found = steps.do("camera.frame_objects", {"object": name, **from_there})
    told = steps.do("object.inspect", {"object": name})
    eye: dict[str, Any] = {"name": name, **{part: told[part] for part in ("location", "rotation_euler_deg")}}
    if perspective:
        return {**eye, "clip_end": FAR}
    # What was nearer in the other scene is before the camera too. Its depths are as fine everywhere: they must not reach too far.
    scale = _ortho_scale(steps, told["data"])
    back = max(found["distance"], scale) * STEPS_BACK
    eye["location"] = [at + towards * back for at, towards in zip(eye["location"], DIRECTIONS[view], strict=True)]
    return {**eye, "projection": "ORTHO", "ortho_scale": scale, "clip_end": back * 4}


def _ortho_scale(steps: LookSteps, camera: str) -> float:
    """How wide the camera of that name sees: told of the cameras of a scene, page by page."""
    offset: int | None = 0
    while offset is not None:
        told = steps.do("scene.snapshot", {"include": ["cameras"], "limit": 1000, "offset": offset})
        for each in told["cameras"]["items"]:
            if each["name"] == camera:
                return each["ortho_scale"]
        offset = told["next_offset"]
    raise KeyError(camera)


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
