"""From where a picture is taken: a named side, a camera of the scene, or the scene's own camera.

A side shows what the scene is about: floors and walls that are far larger than all the rest are in the picture, but do not decide
how far away it is taken from, or the rest would be a dot in it. Straight from a side, what is parallel stays parallel and equal sizes are
equal, as in a drawing: only so can right angles and alignment be judged. From a corner there is perspective.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Literal

from blendwright.tool_api import Block, Findings, Kind, Point, Scene
from blendwright.tools.bounding_boxes import BoundingBox, around, everything_by_object, visible
from blendwright.tools.bounding_boxes import corners as corners_of
from blendwright.tools.camera_views import FROM, Axes, frustum, standpoint, view_axes, view_matrix
from blendwright.tools.checks import conflict, existing_object

# As cameras are framed, and two more words that people use for a side.
NamedView = Literal["FRONT", "BACK", "RIGHT", "LEFT", "TOP", "BOTTOM", "ISO", "SIDE", "THREE_QUARTER"]
DIRECTIONS: dict[NamedView, Point] = {**FROM, "SIDE": FROM["RIGHT"], "THREE_QUARTER": (0.6, -1.0, 0.45)}
IN_PERSPECTIVE: frozenset[NamedView] = frozenset({"ISO", "THREE_QUARTER"})

MARGIN = 0.05
# A backdrop is flat, its thickness this part of its length at the most, and so many times as large as all that is not.
FLAT = 0.03
BACKDROP = 2.5
AT = "/camera"
AROUND = "/around"


def viewpoint_problems(scene: Scene, view: NamedView | None, camera: str | None, cure: str) -> Findings:
    """Why there is nothing to look through, or at; without a view and a camera the scene's own is meant."""
    if view is not None:
        if next(everything_by_object(scene), None) is None:
            yield conflict("there is nothing to look at", "/view", "Create a visible object first.")
    elif camera is not None:
        yield from existing_object(scene, camera, AT, "CAMERA")
    elif scene.active.camera is None:
        yield conflict("the scene has no camera", AT, cure)


def closely_problems(scene: Scene, names: Sequence[str]) -> Findings:
    """Why some of the objects that are to be seen closely cannot be seen."""
    shown = {obj.name for obj in visible(scene)}
    for index, name in enumerate(names):
        obj = yield from existing_object(scene, name, f"{AROUND}/{index}")
        if obj is not None and shown.isdisjoint(each.name for each in (obj, *obj.children_recursive)):
            message = f"a render shows nothing of '{name}' and its children"
            yield conflict(message, f"{AROUND}/{index}", "Show it with object.set_visibility, or leave it out.")


def viewing_camera(
    scene: Scene, view: NamedView | None, camera: str | None, temporary: ExitStack, *, closely: Sequence[str] = ()
) -> Block | None:
    """The camera to render through, None for the scene's own. That of a view fills the frame with all that a render shows, or with
    the objects that are named and their children, at the resolution that is set now, and is gone when `temporary` is closed."""
    if camera is not None:
        return scene.require(Kind.OBJECT, camera, AT)
    if view is None:
        return None
    lens = temporary.enter_context(scene.temporary(Kind.CAMERA))
    eye = temporary.enter_context(scene.temporary(Kind.OBJECT, lens))
    axes = view_axes(DIRECTIONS[view])
    points, backdrops = _subject(scene)
    everything = around([*points, *(corner for box in backdrops for corner in box.corners)])
    if closely:
        named = [scene.require(Kind.OBJECT, name, AROUND) for name in closely]
        points = corners_of(scene, [each for obj in named for each in (obj, *obj.children_recursive)])
    subject = around(points)
    perspective = view in IN_PERSPECTIVE
    if perspective:
        lens.type = "PERSP"
    else:
        lens.type = "ORTHO"
    nearest = lens.clip_start * 2.0
    if subject is not None and not perspective:
        # Without perspective a long way costs nothing, and what moves towards the camera later on stays before it.
        nearest = max(nearest, subject.radius * 2.0)
        if closely and everything is not None:
            nearest = max(nearest, everything.radius * 2.0)  # nor cuts what stands before the objects in two
    stand = standpoint(points, axes, frustum(scene, lens).within(MARGIN), nearest)
    lens.ortho_scale *= stand.widen
    if everything is None:
        corners = []
    else:
        corners = everything.corners
    reach = max((_reach(axes, stand.position, corner, perspective) for corner in corners), default=0.0)
    lens.clip_end = max(stand.farthest * 2.0, reach * 1.1, 1.0)
    if perspective:
        # A camera far from large things needs a far start too, or depths become too coarse to tell apart.
        lens.clip_start = max(lens.clip_start, lens.clip_end / 1e5)
    if any(_is_between(box, stand.position, points) for box in backdrops):
        # What stands behind a wall is seen as if the wall were not there.
        nearest = min(_depth(axes, stand.position, point) for point in points)
        lens.clip_start = max(lens.clip_start, nearest * 0.98)
    eye.matrix_world = view_matrix(scene, axes, stand.position)
    return eye


def _subject(scene: Scene) -> tuple[list[Point], list[BoundingBox]]:
    """The points that a view is to show, and the boxes of the backdrops that it leaves out of account."""
    objects = list(everything_by_object(scene))
    solid = around([point for points in objects if not _is_flat(around(points)) for point in points])
    shown: list[Point] = []
    backdrops: list[BoundingBox] = []
    for points in objects:
        box = around(points)
        if box is not None and solid is not None and _is_flat(box) and box.radius > BACKDROP * solid.radius:
            backdrops.append(box)
        else:
            shown += points
    return shown, backdrops


def _is_flat(box: BoundingBox | None) -> bool:
    if box is not None:
        sizes = sorted(box.size(axis) for axis in range(3))
    else:
        sizes = [0.0]
    return sizes[0] <= FLAT * sizes[-1]


def _is_between(box: BoundingBox, eye: Point, points: list[Point]) -> bool:
    """Whether a flat box has the camera on one side and the middle of the points on the other."""
    axis = min(range(3), key=box.size)
    subject = around(points)
    if subject is None:
        return False
    return (eye[axis] - box.center[axis]) * (subject.center[axis] - box.center[axis]) < 0.0


def _reach(axes: Axes, eye: Point, point: Point, perspective: bool) -> float:
    """How far a camera must see for a point to be in its picture."""
    if perspective:
        return math.dist(eye, point)
    return _depth(axes, eye, point)


def _depth(axes: Axes, eye: Point, point: Point) -> float:
    """How far a point lies before the plane of the camera, in metres."""
    return sum(axis * (here - there) for axis, here, there in zip(axes[2], eye, point, strict=True))
