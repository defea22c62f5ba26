"""Rules about where objects are: what floats, what is in something else, what is there twice, what the camera does not see."""

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

# So many pairs of objects that are near each other are compared; a scene where more are is no scene of parts.
MOST_PAIRS = 100_000
# So many names are told of what is one finding.
MOST_NAMES = 8


class Contacts:
    """Which parts touch, go through each other, or are the same: by boxes first, by surfaces where boxes do not decide.

    All parts hold, carry and are gone through; those of `told` alone are told about."""

    def __init__(
        self, scene: Scene, parts: Sequence[Part], surfaces: Surfaces, tolerance: float, told: Collection[str]
    ) -> None:
        self._scene = scene
        self._parts = parts
        self._surfaces = surfaces
        self._tolerance = tolerance
        self._told = told
        self.pairs: list[tuple[Part, Part]] = []
        self.complete = True
        for pair in near_pairs(parts, tolerance):
            if len(self.pairs) == MOST_PAIRS:
                self.complete = False
                break
            self.pairs.append(pair)
        self.pairs.sort(key=lambda pair: (pair[0].name, pair[1].name))
        self._same: set[tuple[str, str]] = set()

    # ------------------------------------------------------------------ the same twice

    def duplicates(self) -> Iterator[Flaw]:
        """Each copy once, with the first of its kind by name."""
        known: set[str] = set()
        for one, other in self._same_pairs():
            if other.name not in known:
                known.add(other.name)
                delete: Repair = ("object.delete", {"object": other.name})
                yield Flaw("duplicate", other.name, {"vertices": other.facts.vertices}, one.name, lambda d=delete: [d])

    def _same_pairs(self) -> Iterator[tuple[Part, Part]]:
        for one, other in self._told_pairs():
            if self._is_same(one, other):
                yield (one, other) if other.name in self._told else (other, one)

    def _told_pairs(self) -> Iterator[tuple[Part, Part]]:
        return (pair for pair in self.pairs if pair[0].name in self._told or pair[1].name in self._told)

    def _is_same(self, one: Part, other: Part) -> bool:
        if one.facts.vertices != other.facts.vertices or not one.facts.vertices or one.instances or other.instances:
            return False
        ends = zip((*one.box.low, *one.box.high), (*other.box.low, *other.box.high), strict=True)
        if any(abs(a - b) > self._tolerance for a, b in ends):
            return False
        return self._surfaces.coincide(one.obj, other.obj, self._tolerance)

    # ------------------------------------------------------------------ in each other

    def interpenetrations(self, intended: Callable[[str], object]) -> Iterator[Flaw]:
        """Of parts that belong together a finding for each parent; nothing of those whose name says that it is intended."""
        joints: dict[str, list[_Overlap]] = {}
        for overlap in self._overlaps():
            mover, stays = overlap.mover, overlap.stays
            if intended(mover.name) or intended(stays.name):
                continue
            if parent := _common_parent(mover.obj, stays.obj):
                joints.setdefault(parent.name, []).append(overlap)
                continue
            yield Flaw(
                "interpenetrating",
                mover.name,
                {"depth": overlap.depth, "axis": "xyz"[overlap.axis]},
                stays.name,
                lambda one=overlap: moved(self._scene, [one.mover], along(one.axis, one.way)),
            )
        for parent, overlaps in joints.items():
            deepest = max(overlaps, key=lambda overlap: overlap.depth)
            between = f"{deepest.mover.name} and {deepest.stays.name}"
            yield Flaw("joined", parent, {"overlaps": len(overlaps), "depth": deepest.depth, "deepest": between})

    def _overlaps(self) -> Iterator[_Overlap]:
        for one, other in self._told_pairs():
            way, _ = way_out(one.box, other.box)
            if abs(way) <= self._tolerance or not _comparable(one, other) or self._is_same(one, other):
                continue
            if self._surfaces.cross(one.obj, other.obj, self._tolerance):
                mover, stays = sorted((one, other), key=lambda part: (part.box.radius, part.name))
                yield _Overlap(mover, stays, *way_out(mover.box, stays.box))

    # ------------------------------------------------------------------ in the air

    def floating(self, ground: float | None) -> Iterator[Flaw]:
        """Groups of parts that touch each other, of which none stands on the ground; the lowest part that is told about stands for it."""
        if not self._parts:
            return
        if ground is None:
            grounds = [0.0, min(part.box.low[2] for part in self._parts)]
        else:
            grounds = [ground]
        group_of = {part.name: part.name for part in self._parts}

        def root(name: str) -> str:
            while group_of[name] != name:
                group_of[name] = group_of[group_of[name]]
                name = group_of[name]
            return name

        held = {part.name for part in self._parts if self._stands(part, grounds)}
        for one, other in self.pairs:
            first, second = root(one.name), root(other.name)
            if first == second or (first in held and second in held) or not self._touch(one, other):
                continue
            group_of[second] = first
            if second in held:
                held.add(first)
        groups: dict[str, list[Part]] = {}
        for part in self._parts:
            if root(part.name) not in held:
                groups.setdefault(root(part.name), []).append(part)
        for group in groups.values():
            if any(part.name in self._told for part in group):
                yield self._floating_flaw(group, grounds)

    def _stands(self, part: Part, grounds: Sequence[float]) -> bool:
        low, high = part.box.low[2] - self._tolerance, part.box.high[2] + self._tolerance
        return any(low <= height <= high for height in grounds)

    def _touch(self, one: Part, other: Part) -> bool:
        if not _comparable(one, other):
            return True
        return self._surfaces.touch(one.obj, other.obj, self._tolerance)

    def _floating_flaw(self, group: Sequence[Part], grounds: Sequence[float]) -> Flaw:
        lowest = min(group, key=_height)
        names = {part.name for part in group}
        if missed := self._missed_parent(group, names):
            return missed
        below = [part for part in self._parts if part.name not in names and _is_below(part, lowest, self._tolerance)]
        target = max(below, key=lambda part: (part.box.high[2], part.name), default=None)
        reached = [height for height in grounds if height <= lowest.box.low[2]]
        if target is not None:
            height = target.box.high[2]
        else:
            height = max(reached, default=max(grounds))
        gap = lowest.box.low[2] - height
        measure: dict[str, float | int | str] = {"gap": rounded(gap)}
        if len(group) > 1:
            measure["parts"] = len(group)
        told = min((part for part in group if part.name in self._told), key=_height)
        return Flaw(
            "floating", told.name, measure, target.name if target else "", lambda: self._lowered(group, target, gap)
        )

    def _missed_parent(self, group: Sequence[Part], names: Collection[str]) -> Flaw | None:
        """Of a group that hangs on a part of which it falls short: by how much. To put it down somewhere would take it from its joint."""
        parts = {part.name: part for part in self._parts}
        for part in sorted((part for part in group if part.name in self._told), key=_height):
            parent = part.obj.parent
            if parent is not None and parent.name not in names:
                holder = parts.get(parent.name)
            else:
                holder = None
            if holder is not None and _comparable(part, holder):
                return Flaw("floating", part.name, {"gap_to_parent": self._gap(part, holder)}, holder.name)
        return None

    def _gap(self, one: Part, other: Part) -> float:
        """How far two parts are from each other, which do not touch, to a part in ten thousand of it."""
        far = self._tolerance
        while far < MAX_COORDINATE and not self._surfaces.touch(one.obj, other.obj, far):
            far *= 2.0
        near = far / 2.0
        while far - near > 1e-4 * far:
            middle = (near + far) / 2.0
            near, far = (near, middle) if self._surfaces.touch(one.obj, other.obj, middle) else (middle, far)
        return rounded(far)

    def _lowered(self, group: Sequence[Part], target: Part | None, gap: float) -> Sequence[Repair]:
        if target is not None and len(group) == 1 and target.has_faces and not target.instances:
            [part] = group
            matrix = evaluated_matrix(self._scene, part.obj)
            if matrix is None:
                return ()
            x, y, _ = matrix.translation
            if vertical_hit(self._scene, target.obj, x, y, "top") is not None and part.has_faces:
                free = not list(move_conflicts(self._scene, part.obj, ""))
                rest: Repair = ("place.on_surface", {"object": part.name, "target": target.name})
                if free:
                    return [rest]
                return ()
        return moved(self._scene, group, [0.0, 0.0, -gap])


@dataclass(frozen=True, slots=True)
class _Overlap:
    """Two parts that go through each other, and the shortest way out: how far, with its sign, and along which axis."""

    mover: Part
    stays: Part
    way: float
    axis: int

    @property
    def depth(self) -> float:
        return rounded(abs(self.way))


def _height(part: Part) -> tuple[float, str]:
    return part.box.low[2], part.name


def _common_parent(one: Block, other: Block) -> Block | None:
    """What makes two objects parts of one thing: a parent of both, or one of them that is the other's."""
    first, second = one.parent, other.parent
    if first == other:
        return other
    if second is not None and second in (one, first):
        return second
    return None


def _comparable(one: Part, other: Part) -> bool:
    """Whether surfaces say where both end, and neither is there to cut or shape the other."""
    if not (one.has_faces and other.has_faces) or one.instances or other.instances:
        return False
    return not (_works_on(one.obj, other.obj) or _works_on(other.obj, one.obj))


def _works_on(tool: Block, obj: Block) -> bool:
    return any(getattr(modifier, "object", None) == tool for modifier in obj.modifiers)


def _is_below(part: Part, lowest: Part, tolerance: float) -> bool:
    if part.box.high[2] > lowest.box.low[2] + tolerance:
        return False
    return all(
        part.box.low[axis] <= lowest.box.high[axis] and part.box.high[axis] >= lowest.box.low[axis] for axis in (0, 1)
    )


def moved(scene: Scene, parts: Sequence[Part], way: Sequence[float]) -> Sequence[Repair]:
    """Calls that move parts by a way in the world, those that go along with another one left out; none where one is held."""
    going = {part.obj for part in parts}
    calls: list[Repair] = []
    for part in parts:
        if going.intersection(ancestors(part.obj)):
            continue
        if part.obj.constraints or list(move_conflicts(scene, part.obj, "")):
            return ()
        inside = parent_space(scene, part.obj).to_3x3().inverted_safe() @ scene.vector(way)
        location = [round(value, 6) + 0.0 for value in inside]
        calls.append(("object.transform", {"object": part.name, "mode": "add", "location": location}))
    return calls


# ---------------------------------------------------------------------- in the picture


def frame_flaws(scene: Scene, parts: Sequence[Part]) -> Iterator[Flaw]:
    """Parts of which nothing can be in the picture, in one finding: all corners of a box are beyond one side of the frame. What a camera
    is not to see is not missed."""
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
        # Of most the middle is in the picture, which is known sooner than of all corners that none is.
        if _side(sight, [inverse @ scene.vector(part.box.center)], near, far) is None:
            continue
        side = _side(sight, [inverse @ scene.vector(corner) for corner in part.box.corners], near, far)
        if side is not None and part.obj.visible_camera:
            unseen.append(f"{part.name} ({side})")
    if not unseen:
        return
    names = ", ".join(unseen[:MOST_NAMES])
    if len(unseen) > MOST_NAMES:
        names += f" and {len(unseen) - MOST_NAMES} more"
    frame: Repair = ("camera.frame_objects", {"object": camera.name})
    free = scene.find(Kind.OBJECT, camera.name) is not None and not list(move_conflicts(scene, camera, ""))
    yield Flaw(
        "out_of_frame", camera.name, {"objects": len(unseen), "unseen": names}, repairs=lambda: [frame] if free else []
    )


def _side(sight: Frustum, points: Sequence[Block], near: float, far: float) -> str | None:
    """The side of the frame beyond which all points of a camera's space are; None where there is none."""
    if all(z > -near for _, _, z in points):
        return "behind"
    placed = [(x, y, 1.0 if sight.orthographic else -z) for x, y, z in points]
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
