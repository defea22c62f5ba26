"""The viewpoint of a picture: a named side, a camera of the scene, or the scene's own camera.

A side frames the main subject. Floors and walls that are far larger than everything else are in the picture, but do not
determine the distance, because the rest would become a dot. The straight sides are orthographic, as in a drawing: parallels
stay parallel and equal sizes look equal, so a reader can judge right angles and alignment. Corner views have perspective.
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

# The directions of camera framing, and two more names that people use for a side.
NamedView = Literal["FRONT", "BACK", "RIGHT", "LEFT", "TOP", "BOTTOM", "ISO", "SIDE", "THREE_QUARTER"]
DIRECTIONS: dict[NamedView, Point] = {**FROM, "SIDE": FROM["RIGHT"], "THREE_QUARTER": (0.6, -1.0, 0.45)}
IN_PERSPECTIVE: frozenset[NamedView] = frozenset({"ISO", "THREE_QUARTER"})

# Empty border around the subject, as a share of the picture.
MARGIN = 0.05
# A backdrop is flat: its thickness is at most this share of its length. It is larger than all that is not flat by this factor.
FLAT = 0.03
BACKDROP = 2.5
AT = "/camera"
AROUND = "/around"


def viewpoint_problems(scene: Scene, view: NamedView | None, camera: str | None, cure: str) -> Findings:
    """Yield findings if the viewpoint has no camera or no visible object. `cure` is the fix for a scene without a camera."""
    if view is not None:
        if next(everything_by_object(scene), None) is None:
            yield conflict("the scene has no visible object to look at", "/view", "Create a visible object first.")
    elif camera is not None:
        yield from existing_object(scene, camera, AT, "CAMERA")
    elif scene.active.camera is None:
        yield conflict("the scene has no camera", AT, cure)


def closely_problems(scene: Scene, names: Sequence[str]) -> Findings:
    """Yield findings for objects of `around` that renders do not show."""
    shown = {obj.name for obj in visible(scene)}
    for index, name in enumerate(names):
        obj = yield from existing_object(scene, name, f"{AROUND}/{index}")
        if obj is not None and shown.isdisjoint(member.name for member in (obj, *obj.children_recursive)):
            message = f"a render shows nothing of '{name}' and its children"
            yield conflict(message, f"{AROUND}/{index}", "Show it with object.set_visibility, or leave it out.")


def viewing_camera(
    scene: Scene, view: NamedView | None, camera: str | None, temporary: ExitStack, *, closely: Sequence[str] = ()
) -> Block | None:
    """Return the camera to render through, or None for the scene's own.

    For a view, return a temporary camera that frames everything that a render shows, or the objects in `closely` with their
    children, at the present resolution. Closing `temporary` removes it.
    """
    if camera is not None:
        return scene.require(Kind.OBJECT, camera, AT)
    if view is None:
        return None
    lens = temporary.enter_context(scene.temporary(Kind.CAMERA))
    eye = temporary.enter_context(scene.temporary(Kind.OBJECT, lens))
    axes = view_axes(DIRECTIONS[view])
    points, backdrops = _subject(scene)
    backdrop_corners: list[Point] = []
    for box in backdrops:
        backdrop_corners += box.corners
    everything = around([*points, *backdrop_corners])
    if closely:
        members: list[Block] = []
        for name in closely:
            obj = scene.require(Kind.OBJECT, name, AROUND)
            members += [obj, *obj.children_recursive]
        points = corners_of(scene, members)
    subject = around(points)
    perspective = view in IN_PERSPECTIVE
    if perspective:
        lens.type = "PERSP"
    else:
        lens.type = "ORTHO"
    nearest = lens.clip_start * 2.0
    if subject is not None and not perspective:
        # An orthographic camera can be far away at no cost, and objects that later move towards it stay in front of it.
        nearest = max(nearest, subject.radius * 2.0)
        if closely and everything is not None:
            nearest = max(nearest, everything.radius * 2.0)  # keeps objects in front of the subject uncut
    stand = standpoint(points, axes, frustum(scene, lens).within(MARGIN), nearest)
    lens.ortho_scale *= stand.widen
    corners: Sequence[Point] = []
    if everything is not None:
        corners = everything.corners
    reach = max((_reach(axes, stand.position, corner, perspective) for corner in corners), default=0.0)
    lens.clip_end = max(stand.farthest * 2.0, reach * 1.1, 1.0)
    if perspective:
        # A camera far from large objects needs a far clip start too, because depths become too coarse otherwise.
        lens.clip_start = max(lens.clip_start, lens.clip_end / 1e5)
    if any(_is_between(box, stand.position, points) for box in backdrops):
        # Clip the wall away that hides the subject.
        nearest = min(_depth(axes, stand.position, point) for point in points)
        lens.clip_start = max(lens.clip_start, nearest * 0.98)
    eye.matrix_world = view_matrix(scene, axes, stand.position)
    return eye


def _subject(scene: Scene) -> tuple[list[Point], list[BoundingBox]]:
    """Return the points that a view frames, and the boxes of the backdrops that it does not frame."""
    objects = list(everything_by_object(scene))
    solid_points: list[Point] = []
    for points in objects:
        if not _is_flat(around(points)):
            solid_points += points
    solid = around(solid_points)
    framed: list[Point] = []
    backdrops: list[BoundingBox] = []
    for points in objects:
        box = around(points)
        if box is not None and solid is not None and _is_flat(box) and box.radius > BACKDROP * solid.radius:
            backdrops.append(box)
        else:
            framed += points
    return framed, backdrops


def _is_flat(box: BoundingBox | None) -> bool:
    if box is None:
        return True
    sizes = sorted(box.size(axis) for axis in range(3))
    return sizes[0] <= FLAT * sizes[-1]


def _is_between(box: BoundingBox, eye: Point, points: list[Point]) -> bool:
    """Return True if a flat box has the camera on one side and the centre of the points on the other."""
    axis = min(range(3), key=box.size)
    subject = around(points)
    if subject is None:
        return False
    return (eye[axis] - box.center[axis]) * (subject.center[axis] - box.center[axis]) < 0.0


def _reach(axes: Axes, eye: Point, point: Point, perspective: bool) -> float:
    """Return the distance in metres that a camera's clip end must exceed to show a point."""
    if perspective:
        return math.dist(eye, point)
    return _depth(axes, eye, point)


def _depth(axes: Axes, eye: Point, point: Point) -> float:
    """Return the distance in metres from the plane of the camera to a point in front of it."""
    return sum(axis * (start - end) for axis, start, end in zip(axes[2], eye, point, strict=True))
