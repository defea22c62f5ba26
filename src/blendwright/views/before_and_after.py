"""Before and after: pictures of the scenes of two commits from the same viewpoint, and their difference.

A separate temporary Blender rebuilds both scenes. The scene of the workspace stays unchanged.
"""

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

# The time limit of one picture. A heavy scene on a slow machine takes long, but a hanging render must not block its caller.
PICTURE_SECONDS = 600.0
# The name of the camera for both scenes. Without a shared camera, a change of the scene would move the viewpoint.
EYE = "blendwright look"
# The far clipping distance of a perspective camera.
FAR_CLIP = 1e6
# The distance of an orthographic camera, as a multiple of the extent or the width of the later scene.
STEPS_BACK = 10
# The maximum width of one picture in pixels.
MAX_WIDTH_PIXELS = 1024
PREVIEW = "render.preview"
# The seed of render noise in a result: the default of `render.preview`.
SEED = 0
AFTER, SHEET = "after.png", "before_after.png"


@dataclass(frozen=True, slots=True)
class LookBack:
    """The viewpoint for looking at the scenes of two commits. Without a view and a camera, each scene uses
    the scene camera.

    Without a frame, each scene uses its own current frame.
    """

    view: NamedView | None = None
    camera: str | None = None
    engine: Literal["WORKBENCH", "CYCLES"] = "WORKBENCH"
    width: int = 480
    frame: int | None = None


@dataclass(frozen=True, slots=True)
class CommitsSeen:
    """Two commits with their pictures.

    `sheet` is a PNG with before, after and the difference. `result` is the result of `render.compare`.
    """

    before: Commit
    after: Commit
    result: Mapping[str, Any]
    sheet: bytes

    def to_json(self) -> dict[str, Any]:
        document: dict[str, Any] = {"ok": True, "before": self.before.number, "after": self.after.number}
        for name in ("silhouette_iou", "difference", "differing", "width", "height"):
            document[name] = self.result[name]
        if self.result["notes"]:
            document["notes"] = self.result["notes"]
        return document


def look_back(
    workspace: str | Path,
    before: str,
    after: str = "HEAD",
    look: LookBack | None = None,
    *,
    blender: str | Path | WorkerSource | None = None,
) -> CommitsSeen:
    """Return pictures of the scenes of two commits of a workspace, which may be in use.

    Raise Refusal when the scenes show nothing, and RebuildFailed when a scene differs from the journal.
    """
    with read_journal(workspace) as journal, inspection_workers(workspace, blender=blender) as inspection:
        commits = find(journal, before), find(journal, after)
        return see_commits(journal, inspection.worker(), *commits, [look or LookBack()])[0]


def require_look(opened: OpenScene, args: Mapping[str, Any], options: RunOptions) -> None:
    """Raise Refusal if the contract forbids such a picture of the scene: the rules for `render.preview` apply."""
    operation = Operation("look", PREVIEW, args, (), None, 0, "", NOWHERE)
    report = opened.check(Plan("call", new_id(), (operation,), "id", "stop", single_call=True))
    if report is not None:
        findings = list(report.findings)
        for operation_report in report.operations:
            findings.extend(operation_report.findings)
        raise Refusal(findings)
    opened.require_allowed(PREVIEW, SafetyLevel.READ_ONLY, args, options)


def look_back_in(
    opened: OpenScene,
    before: int | str,
    after: int | str = "HEAD",
    look: LookBack | None = None,
    options: RunOptions = DEFAULT_OPTIONS,
) -> Outcome:
    """Return pictures of the scenes of two commits of an open workspace and their difference, as an artifact.

    Raise Refusal when the scenes show nothing, or when the rules for `render.preview` forbid it.
    """
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
        args: dict[str, Any] = {"engine": look.engine}
        if look.view is not None:
            args["view"] = look.view
        if look.camera is not None:
            args["camera"] = look.camera
        require_look(opened, args, options)
    journal = opened.journal
    before_commit, after_commit = find(journal, before), find(journal, after)
    seconds = opened.terms.constraints.render_seconds
    with opened.spare_worker() as worker:
        pairs = see_commits(journal, worker, before_commit, after_commit, looks, seconds=seconds, cancel=options.cancel)
        scratch = worker.require_process().scratch
        paths = opened.keep_artifacts([_numbered(SHEET, number) for number in range(len(looks))], scratch)

    outcomes: list[Outcome] = []
    for look, pair, path in zip(looks, pairs, paths, strict=True):
        determinism, seed = "seeded", SEED
        if look.engine == "WORKBENCH":
            determinism, seed = "deterministic", None
        outcomes.append(
            Outcome(
                "render.compare",
                tools()["render.compare"].version,
                result=pair.to_json(),
                artifacts=(path,),
                determinism_class=determinism,
                seed=seed,
                fingerprint_before=before_commit.hash_after,
                fingerprint_after=after_commit.hash_after,
                request_id=new_id(),
            )
        )
    return outcomes


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
    """Return one pair of pictures per look, both scenes from the same viewpoint.

    If a look uses the scene's own camera and one of the scenes has none, view both scenes from a corner above.
    """
    steps = LookSteps(worker, seconds, cancel)
    seen = _seen(journal, steps, before, after, dict(enumerate(looks)))
    blind = {index: replace(look, view="ISO") for index, look in enumerate(looks) if index not in seen}
    if blind:
        seen |= _seen(journal, steps, before, after, blind)
    return [seen[index] for index in range(len(looks))]


def _seen(
    journal: JournalView, steps: LookSteps, before: Commit, after: Commit, looks: Mapping[int, LookBack]
) -> dict[int, CommitsSeen]:
    """Return pairs of pictures by the index of their look, without looks through a scene camera that one of the
    scenes lacks.

    The function renders the later scene first, and chooses each view for it. The earlier scene uses the same
    viewpoint.
    """
    rebuild_commit(steps.worker, journal, after.number)
    shared: dict[int, dict[str, Any]] = {}
    eyes: list[dict[str, Any]] = []
    rendered: dict[int, dict[str, Any]] = {}
    for number, look in looks.items():
        shared[number] = {"engine": look.engine}
        if look.camera is not None:
            shared[number]["camera"] = look.camera
        if look.frame is not None:
            shared[number]["frame"] = look.frame
        if look.view is not None and look.camera is None:
            eyes.append(framed(steps, look.view, f"{EYE} {number}", look.frame))
            shared[number]["camera"] = f"{EYE} {number}"
        size = {"width": look.width, "height": look.width * 3 // 4, "render_shape": True}
        with _tolerate_missing_camera(look):
            rendered[number] = steps.do(PREVIEW, {**shared[number], **size, "artifact": _numbered(AFTER, number)})
    rebuild_commit(steps.worker, journal, before.number)
    for eye in eyes:
        steps.do("camera.create", eye)
    scratch = steps.worker.require_process().scratch
    seen: dict[int, CommitsSeen] = {}
    for number, later in rendered.items():
        reference, sheet = _numbered(AFTER, number), _numbered(SHEET, number)
        args: dict[str, Any] = {
            **shared[number],
            "reference": reference,
            "width": min(later["width"], MAX_WIDTH_PIXELS),
            "panels": ["SCENE", "REFERENCE", "DIFFERENCE"],
            "captions": [f"after: commit {after.number}", f"before: commit {before.number}"],
            "artifact": sheet,
        }
        with _tolerate_missing_camera(looks[number]):
            result = steps.do("render.compare", args, files={reference: str(scratch / "artifacts" / reference)})
            # Both notes, because an area that is black in one scene is often lit in the other.
            notes = [f"commit {after.number}: {note}" for note in later["notes"]]
            notes += [f"commit {before.number}: {note}" for note in result["notes"]]
            result["notes"] = notes
            with open_scratch_file(scratch, "artifacts", sheet) as opened:
                seen[number] = CommitsSeen(before, after, result, opened.read())
    return seen


@contextmanager
def _tolerate_missing_camera(look: LookBack) -> Generator[None]:
    """Suppress the refusal of a picture through the scene's own camera when the scene has none."""
    try:
        yield
    except Refusal as refused:
        uses_scene_camera = look.view is None and look.camera is None
        if not uses_scene_camera or {finding.fault for finding in refused.findings} != {Fault.SCENE_CONFLICT}:
            raise


def _numbered(name: str, number: int) -> str:
    if number == 0:
        return name
    return name.replace(".", f"_{number}.")


def framed(steps: LookSteps, view: NamedView, name: str = EYE, frame: int | None = None) -> dict[str, Any]:
    """Create a camera that sees the whole current scene from a side, and return the arguments of `camera.create` for
    an equal camera.

    With `frame`, the camera sees the whole scene at that frame.
    """
    perspective = view in IN_PERSPECTIVE
    projection = "ORTHO"
    if perspective:
        projection = "PERSP"
    frames: list[int] = []
    if frame is not None:
        frames = [frame]
    steps.do("camera.create", {"name": name, "projection": projection})
    direction = list(DIRECTIONS[view])
    framing = steps.do("camera.frame_objects", {"object": name, "from_direction": direction, "frames": frames})
    camera = steps.do("object.inspect", {"object": name})
    eye: dict[str, Any] = {
        "name": name,
        "location": camera["location"],
        "rotation_euler_deg": camera["rotation_euler_deg"],
    }
    if perspective:
        return {**eye, "clip_end": FAR_CLIP}
    # Move the camera back, so that nearer objects of the other scene stay in front of it. An orthographic depth buffer has the same
    # precision everywhere, so the distance must stay limited.
    scale = _ortho_scale(steps, camera["data"])
    back = max(framing["distance"], scale) * STEPS_BACK
    eye["location"] = [at + towards * back for at, towards in zip(eye["location"], DIRECTIONS[view], strict=True)]
    return {**eye, "projection": "ORTHO", "ortho_scale": scale, "clip_end": back * 4}


def _ortho_scale(steps: LookSteps, camera: str) -> float:
    """Return the orthographic scale of a camera, found page by page in a snapshot.

    Raise KeyError when the camera does not exist.
    """
    offset: int | None = 0
    while offset is not None:
        page = steps.do("scene.snapshot", {"include": ["cameras"], "limit": 1000, "offset": offset})
        for entry in page["cameras"]["items"]:
            if entry["name"] == camera:
                return entry["ortho_scale"]
        offset = page["next_offset"]
    raise KeyError(camera)


class LookSteps:
    """A runner of tools in a temporary Blender."""

    def __init__(self, worker: RemoteScene, seconds: float, cancel: CancelToken | None) -> None:
        self.worker = worker
        self._seconds = seconds
        self._cancel = cancel

    def do(self, name: str, args: Mapping[str, Any], files: Mapping[str, str] | None = None) -> dict[str, Any]:
        """Run a tool and return its result. Raise Refusal with the findings of a failed step."""
        tool: AnyTool = tools()[name]
        canonical = tool.args_model.model_validate(dict(args)).model_dump(mode="json")
        request = StepRequest(tool=name, version=tool.version, args=canonical, files=dict(files or {}), verify=True)
        answer: StepAnswer = self.worker.step(request, deadline=self._seconds, cancel=self._cancel)
        if not answer["ok"] or answer["result"] is None:
            findings = [Finding.from_json(finding) for finding in answer["findings"]]
            raise Refusal(findings or [Finding(Fault.EXECUTION_FAILED, answer["message"], "", None)])
        return answer["result"]
