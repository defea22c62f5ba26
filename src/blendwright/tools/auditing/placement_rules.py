"""Rules about positions: floating, intersecting and duplicate objects, and objects outside the camera's frame."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass

from blendwright.tool_api.scene import Block, Kind, Scene
from blendwright.tool_api.surfaces import Surfaces
from blendwright.tools.animation_data import move_conflicts
from blendwright.tools.auditing.flaws import Flaw, Repair
from blendwright.tools.auditing.mesh_rules import rounded
from blendwright.tools.auditing.parts import Part, near_pairs, way_out
from blendwright.tools.bounding_boxes import MAX_COORDINATE
from blendwright.tools.camera_views import Frustum, frustum
from blendwright.tools.place.movement import along, ancestors
from blendwright.tools.place.surface import vertical_hit
from blendwright.tools.world_space import evaluated_matrix, parent_space

# Largest number of near pairs of objects that an audit compares.
MAX_PAIRS = 100_000
# Largest number of names listed in one flaw.
MAX_NAMES = 8


class Contacts:
    """Contacts between parts: which ones touch, intersect or are identical. Compares boxes first, then surfaces.

    All parts can support or intersect others, but only flaws of the parts named in `reported` are yielded. `complete`
    is False if there were more than `MAX_PAIRS` pairs.
    """

    def __init__(
        self, scene: Scene, parts: Sequence[Part], surfaces: Surfaces, tolerance: float, reported: Collection[str]
    ) -> None:
        self._scene = scene
        self._parts = parts
        self._surfaces = surfaces
        self._tolerance = tolerance
        self._reported = reported
        self.pairs: list[tuple[Part, Part]] = []
        self.complete = True
        for pair in near_pairs(parts, tolerance):
            if len(self.pairs) == MAX_PAIRS:
                self.complete = False
                break
            self.pairs.append(pair)
        self.pairs.sort(key=lambda pair: (pair[0].name, pair[1].name))
        self._same: set[tuple[str, str]] = set()

    # ------------------------------------------------------------------ the same twice

    def duplicates(self) -> Iterator[Flaw]:
        """Yield each copy once, together with the first of the identical parts by name."""
        seen: set[str] = set()
        for original, copy in self._same_pairs():
            if copy.name not in seen:
                seen.add(copy.name)
                delete: Repair = ("object.delete", {"object": copy.name})
                measure = {"vertices": copy.facts.vertices}
                yield Flaw("duplicate", copy.name, measure, original.name, lambda delete=delete: [delete])

    def _same_pairs(self) -> Iterator[tuple[Part, Part]]:
        for first, second in self._reported_pairs():
            if not self._is_same(first, second):
                continue
            if second.name in self._reported:
                yield first, second
            else:
                yield second, first

    def _reported_pairs(self) -> Iterator[tuple[Part, Part]]:
        return (pair for pair in self.pairs if pair[0].name in self._reported or pair[1].name in self._reported)

    def _is_same(self, first: Part, second: Part) -> bool:
        if (
            first.facts.vertices != second.facts.vertices
            or not first.facts.vertices
            or first.instances
            or second.instances
        ):
            return False
        ends = zip((*first.box.low, *first.box.high), (*second.box.low, *second.box.high), strict=True)
        if any(abs(a - b) > self._tolerance for a, b in ends):
            return False
        return self._surfaces.coincide(first.obj, second.obj, self._tolerance)

    # ------------------------------------------------------------------ in each other

    def interpenetrations(self, intended: Callable[[str], object]) -> Iterator[Flaw]:
        """Yield a flaw for each intersecting pair, and one per common parent for parts that belong together.

        Skip parts for whose name `intended` returns a true value.
        """
        overlaps_by_parent: dict[str, list[_Overlap]] = {}
        for overlap in self._overlaps():
            mover, stays = overlap.mover, overlap.stays
            if intended(mover.name) or intended(stays.name):
                continue
            parent = _common_parent(mover.obj, stays.obj)
            if parent is not None:
                overlaps_by_parent.setdefault(parent.name, []).append(overlap)
                continue
            yield Flaw(
                "interpenetrating",
                mover.name,
                {"depth": overlap.depth, "axis": "xyz"[overlap.axis]},
                stays.name,
                lambda overlap=overlap: moved(self._scene, [overlap.mover], along(overlap.axis, overlap.distance)),
            )
        for parent, overlaps in overlaps_by_parent.items():
            deepest = max(overlaps, key=lambda overlap: overlap.depth)
            between = f"{deepest.mover.name} and {deepest.stays.name}"
            yield Flaw("joined", parent, {"overlaps": len(overlaps), "depth": deepest.depth, "deepest": between})

    def _overlaps(self) -> Iterator[_Overlap]:
        for first, second in self._reported_pairs():
            distance, _ = way_out(first.box, second.box)
            if abs(distance) <= self._tolerance or not _comparable(first, second) or self._is_same(first, second):
                continue
            if self._surfaces.cross(first.obj, second.obj, self._tolerance):
                mover, stays = sorted((first, second), key=lambda part: (part.box.radius, part.name))
                yield _Overlap(mover, stays, *way_out(mover.box, stays.box))

    # ------------------------------------------------------------------ in the air

    def floating(self, ground: float | None) -> Iterator[Flaw]:
        """Yield a flaw for each group of touching parts that is not connected to the ground.

        `ground` is the ground's height in metres; without it, the height 0 and the lowest part both count as ground.
        The lowest reported part represents its group.
        """
        if not self._parts:
            return
        grounds = [0.0, min(part.box.low[2] for part in self._parts)]
        if ground is not None:
            grounds = [ground]

        # Union-find over touching parts: each name leads to another name of its group, and a root to itself.
        group_of = {part.name: part.name for part in self._parts}

        def root(name: str) -> str:
            while group_of[name] != name:
                group_of[name] = group_of[group_of[name]]
                name = group_of[name]
            return name

        grounded = {part.name for part in self._parts if self._is_grounded(part, grounds)}
        for one_part, other_part in self.pairs:
            left_root, right_root = root(one_part.name), root(other_part.name)
            if (
                left_root == right_root
                or (left_root in grounded and right_root in grounded)
                or not self._touch(one_part, other_part)
            ):
                continue
            group_of[right_root] = left_root
            if right_root in grounded:
                grounded.add(left_root)
        groups: dict[str, list[Part]] = {}
        for part in self._parts:
            if root(part.name) not in grounded:
                groups.setdefault(root(part.name), []).append(part)
        for group in groups.values():
            if self._reported_parts(group):
                yield self._floating_flaw(group, grounds)

    def _is_grounded(self, part: Part, grounds: Sequence[float]) -> bool:
        low, high = part.box.low[2] - self._tolerance, part.box.high[2] + self._tolerance
        return any(low <= height <= high for height in grounds)

    def _touch(self, first: Part, second: Part) -> bool:
        if not _comparable(first, second):
            return True
        return self._surfaces.touch(first.obj, second.obj, self._tolerance)

    def _reported_parts(self, group: Sequence[Part]) -> list[Part]:
        return [part for part in group if part.name in self._reported]

    def _floating_flaw(self, group: Sequence[Part], grounds: Sequence[float]) -> Flaw:
        lowest = min(group, key=_height)
        names = {part.name for part in group}
        missed = self._missed_parent(group, names)
        if missed is not None:
            return missed

        below = [part for part in self._parts if part.name not in names and _is_below(part, lowest, self._tolerance)]
        target = max(below, key=lambda part: (part.box.high[2], part.name), default=None)
        reached = [height for height in grounds if height <= lowest.box.low[2]]
        target_name = ""
        height = max(reached, default=max(grounds))
        if target is not None:
            target_name = target.name
            height = target.box.high[2]
        gap = lowest.box.low[2] - height
        measure: dict[str, float | int | str] = {"gap": rounded(gap)}
        if len(group) > 1:
            measure["parts"] = len(group)
        represented = min(self._reported_parts(group), key=_height)
        return Flaw("floating", represented.name, measure, target_name, lambda: self._lowered(group, target, gap))

    def _missed_parent(self, group: Sequence[Part], names: Collection[str]) -> Flaw | None:
        """Return a flaw with the gap if a reported part of the group does not reach its parent, else None.

        Lowering such a part would move it away from its joint, so the flaw has no repair.
        """
        parts = {part.name: part for part in self._parts}
        for part in sorted(self._reported_parts(group), key=_height):
            parent = part.obj.parent
            if parent is None or parent.name in names:
                continue
            holder = parts.get(parent.name)
            if holder is not None and _comparable(part, holder):
                return Flaw("floating", part.name, {"gap_to_parent": self._gap(part, holder)}, holder.name)
        return None

    def _gap(self, first: Part, second: Part) -> float:
        """Return the distance between two parts that do not touch, with a relative accuracy of 1e-4."""
        far = self._tolerance
        while far < MAX_COORDINATE and not self._surfaces.touch(first.obj, second.obj, far):
            far *= 2.0
        near = far / 2.0
        while far - near > 1e-4 * far:
            middle = (near + far) / 2.0
            if self._surfaces.touch(first.obj, second.obj, middle):
                far = middle
            else:
                near = middle
        return rounded(far)

    def _lowered(self, group: Sequence[Part], target: Part | None, gap: float) -> Sequence[Repair]:
        if target is not None and len(group) == 1 and target.has_faces and not target.instances:
            [part] = group
            matrix = evaluated_matrix(self._scene, part.obj)
            if matrix is None:
                return ()
            x, y, _ = matrix.translation
            if vertical_hit(self._scene, target.obj, x, y, "top") is not None and part.has_faces:
                is_free = not list(move_conflicts(self._scene, part.obj, ""))
                rest: Repair = ("place.on_surface", {"object": part.name, "target": target.name})
                if is_free:
                    return [rest]
                return ()
        return moved(self._scene, group, [0.0, 0.0, -gap])


@dataclass(frozen=True, slots=True)
class _Overlap:
    """Two intersecting parts, with the shortest signed distance in metres, and its axis, that separates them."""

    mover: Part
    stays: Part
    distance: float
    axis: int

    @property
    def depth(self) -> float:
        return rounded(abs(self.distance))


def _height(part: Part) -> tuple[float, str]:
    return part.box.low[2], part.name


def _common_parent(first: Block, second: Block) -> Block | None:
    """Return the parent of both objects, or the one that is the other's parent; None if they are not related."""
    first_parent, second_parent = first.parent, second.parent
    if first_parent == second:
        return second
    if second_parent is not None and second_parent in (first, first_parent):
        return second_parent
    return None


def _comparable(first: Part, second: Part) -> bool:
    """Return True if both parts' surfaces show their full extent and neither object cuts or shapes the other by a
    modifier.
    """
    if not (first.has_faces and second.has_faces) or first.instances or second.instances:
        return False
    return not (_works_on(first.obj, second.obj) or _works_on(second.obj, first.obj))


def _works_on(tool: Block, obj: Block) -> bool:
    return any(getattr(modifier, "object", None) == tool for modifier in obj.modifiers)


def _is_below(part: Part, lowest: Part, tolerance: float) -> bool:
    if part.box.high[2] > lowest.box.low[2] + tolerance:
        return False
    low, high = part.box.low, part.box.high
    return all(low[axis] <= lowest.box.high[axis] and high[axis] >= lowest.box.low[axis] for axis in (0, 1))


def moved(scene: Scene, parts: Sequence[Part], offset: Sequence[float]) -> Sequence[Repair]:
    """Return calls that move parts by a world-space vector, or no calls if animation or a constraint controls one of
    them.

    Children of other moved parts need no call of their own.
    """
    moved_objects = {part.obj for part in parts}
    calls: list[Repair] = []
    for part in parts:
        if moved_objects.intersection(ancestors(part.obj)):
            continue
        if part.obj.constraints or list(move_conflicts(scene, part.obj, "")):
            return ()
        local = parent_space(scene, part.obj).to_3x3().inverted_safe() @ scene.vector(offset)
        location = [round(value, 6) + 0.0 for value in local]
        calls.append(("object.transform", {"object": part.name, "mode": "add", "location": location}))
    return calls


# ---------------------------------------------------------------------- in the picture


def frame_flaws(scene: Scene, parts: Sequence[Part]) -> Iterator[Flaw]:
    """Yield one flaw that lists all parts outside the camera's frame.

    A part counts as outside if all corners of its box are beyond one side. Parts that are hidden from the camera are
    ignored.
    """
    camera = scene.active.camera
    if camera is None or camera.type != "CAMERA" or camera.data.type == "PANO":
        return
    matrix = evaluated_matrix(scene, camera)
    if matrix is None:
        return
    sight, inverse = frustum(scene, camera.data), matrix.inverted_safe()
    near, far = camera.data.clip_start, camera.data.clip_end
    unseen: list[str] = []
    for part in parts:
        # Fast path: the centre of most parts is in the frame.
        if _side(sight, [inverse @ scene.vector(part.box.center)], near, far) is None:
            continue
        side = _side(sight, [inverse @ scene.vector(corner) for corner in part.box.corners], near, far)
        if side is not None and part.obj.visible_camera:
            unseen.append(f"{part.name} ({side})")
    if not unseen:
        return
    names = ", ".join(unseen[:MAX_NAMES])
    if len(unseen) > MAX_NAMES:
        names += f" and {len(unseen) - MAX_NAMES} more"
    frame: Repair = ("camera.frame_objects", {"object": camera.name})
    is_free = scene.find(Kind.OBJECT, camera.name) is not None and not list(move_conflicts(scene, camera, ""))
    repairs: list[Repair] = []
    if is_free:
        repairs.append(frame)
    yield Flaw("out_of_frame", camera.name, {"objects": len(unseen), "unseen": names}, repairs=lambda: repairs)


def _side(sight: Frustum, points: Sequence[Block], near: float, far: float) -> str | None:
    """Return the name of the frame side beyond which all points are, or None. The points are in camera space."""
    if all(z > -near for _, _, z in points):
        return "behind"
    if sight.orthographic:
        placed = [(x, y, 1.0) for x, y, _ in points]
    else:
        placed = [(x, y, -z) for x, y, z in points]
    if all(x < sight.left * depth for x, _, depth in placed):
        return "left"
    if all(x > sight.right * depth for x, _, depth in placed):
        return "right"
    if all(y < sight.bottom * depth for _, y, depth in placed):
        return "below"
    if all(y > sight.top * depth for _, y, depth in placed):
        return "above"
    if all(-z > far for _, _, z in points):
        return "too_far"
    return None
