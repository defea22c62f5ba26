"""From where a picture is taken: a named side, a camera of the scene, or the scene's own camera."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Literal

from blendwright.tool_api import Block, Findings, Kind, Point, Scene
from blendwright.tools.bounding_boxes import everything
from blendwright.tools.camera_views import FROM, frustum, standpoint, view_axes, view_matrix
from blendwright.tools.checks import conflict, existing_object

# As cameras are framed, and two more words that people use for a side.
NamedView = Literal["FRONT", "BACK", "RIGHT", "LEFT", "TOP", "BOTTOM", "ISO", "SIDE", "THREE_QUARTER"]
DIRECTIONS: dict[NamedView, Point] = {**FROM, "SIDE": FROM["RIGHT"], "THREE_QUARTER": (0.6, -1.0, 0.45)}

MARGIN = 0.05
AT = "/camera"


def viewpoint_problems(scene: Scene, view: NamedView | None, camera: str | None, cure: str) -> Findings:
    """Why there is nothing to look through, or at; without a view and a camera the scene's own is meant."""
    if view is not None:
        if not everything(scene):
            yield conflict("there is nothing to look at", "/view", "Create a visible object first.")
    elif camera is not None:
        yield from existing_object(scene, camera, AT, "CAMERA")
    elif scene.active.camera is None:
        yield conflict("the scene has no camera", AT, cure)


def viewing_camera(scene: Scene, view: NamedView | None, camera: str | None, temporary: ExitStack) -> Block | None:
    """The camera to render through, None for the scene's own. That of a view fills the frame with all that a render shows, at the
    resolution that is set now, and is gone when `temporary` is closed."""
    if camera is not None:
        return scene.require(Kind.OBJECT, camera, AT)
    if view is None:
        return None
    lens = temporary.enter_context(scene.temporary(Kind.CAMERA))
    eye = temporary.enter_context(scene.temporary(Kind.OBJECT, lens))
    axes = view_axes(DIRECTIONS[view])
    stand = standpoint(everything(scene), axes, frustum(scene, lens).within(MARGIN), lens.clip_start * 2.0)
    lens.clip_end = max(stand.farthest * 2.0, 1.0)
    # A camera far from large things needs a far start too, or depths become too coarse to tell apart.
    lens.clip_start = max(lens.clip_start, lens.clip_end / 1e5)
    eye.matrix_world = view_matrix(scene, axes, stand.position)
    return eye
