"""Boolean operations on an object's mesh, each result held against its inputs before it counts.

Of closed surfaces it is known what must come out: what is cut away and what is left make up the whole, two bodies that are united
have the volume of both without what they share. A solver that meets faces in one plane, or a surface that goes through itself, can
fail without a word; this is where it is noticed.
"""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import bmesh
import numpy as np

from blendwright.blender.mesh_editing.editor import new_places, put_in_order, write
from blendwright.blender.mesh_editing.modified import Evaluate, modified
from blendwright.blender.scene.geometry.mesh_arrays import MeshArrays, MeshReader, area_vectors
from blendwright.blender.scene.state import RESERVED_PREFIX
from blendwright.tool_api.mesh_port import BooleanOperation, BooleanSolver, BooleanStep
from blendwright.tool_api.surfaces import SurfaceFacts
from blendwright.values.errors import StepError
from blendwright.values.faults import Fault

_new_bmesh: Any = bmesh.new
OWN = f"{RESERVED_PREFIX}own"
# Part of the volumes at hand by which they may miss each other: positions are of single precision.
TOLERANCE = 1e-4
CURE = "Move the cutter a little, so that no faces lie in one plane; mend the inputs with mesh.clean, or try the other solver."


class BooleanMaker:
    """One object that others are combined with, one after the other; its mesh may be written into freely."""

    def __init__(self, obj: Any, solver: BooleanSolver, overlapping: bool, evaluate: Evaluate) -> None:
        self._obj = obj
        self._solver = solver
        self._overlapping = overlapping
        self._evaluate = evaluate
        self._facts = facts_of(obj.data)

    def combine(self, cutter: Any, operation: BooleanOperation, at: str) -> BooleanStep:
        with _evaluated_mesh(cutter, self._evaluate) as mesh:
            other = facts_of(mesh)
        self._require_outward(other, cutter, at)
        share = self._volume_of(other, cutter)
        closed = self._facts.volume is not None and share is not None
        holes = not closed and self._solver == "EXACT"
        bm = _new_bmesh()
        try:
            with self._result(cutter, operation, holes) as made:
                after = facts_of(made)
                bm.from_mesh(made)
            self._require_something(after, cutter, operation, at)
            step = BooleanStep(after.volume, None, proven=False)
            if closed and not self._overlapping:
                step = self._proven(after, share or 0.0, cutter, operation, at)
            elif operation == "difference" and _same(self._facts, after):
                raise _unreached(self._obj, cutter, at)
            self._take(bm, cutter)
        finally:
            bm.free()
        self._facts = after
        return step

    def _proven(
        self, after: SurfaceFacts, share: float, cutter: Any, operation: BooleanOperation, at: str
    ) -> BooleanStep:
        """Hold the result against its inputs; a StepError where it cannot be right."""
        whole = self._facts.volume or 0.0
        if after.volume is None:
            wrong = after.open_edges + after.loose_edges + after.crowded_edges + after.flipped_edges
            raise _failed(
                f"the result is not closed, as both were: {wrong} edges have not two faces that look one way", at
            )
        with self._result(cutter, "difference" if operation == "intersect" else "intersect", False) as counterpart:
            facts = facts_of(counterpart)
            if facts.faces:
                rest = facts.volume
            else:
                rest = 0.0
        allowed = TOLERANCE * (whole + share)
        if operation == "intersect":
            overlap = after.volume
        else:
            overlap = rest
        if overlap is not None and overlap <= allowed and operation != "union":
            raise _unreached(self._obj, cutter, at)
        if operation == "union":
            expected = whole + share
        else:
            expected = whole
        total = after.volume + (rest or 0.0)
        if rest is None or abs(total - expected) > allowed:
            message = (
                f"{operation} gives a volume of {after.volume:.6g}, where {expected - (rest or 0.0):.6g} is expected"
            )
            raise _failed(message, at)
        self._require_bounds(after, operation, at)
        return BooleanStep(after.volume, overlap, proven=True)

    def _require_bounds(self, after: SurfaceFacts, operation: BooleanOperation, at: str) -> None:
        before = self._facts
        inner, outer = (before, after) if operation == "union" else (after, before)
        for axis in range(3):
            slack = TOLERANCE * max(outer.high[axis] - outer.low[axis], 1e-6)
            if inner.low[axis] < outer.low[axis] - slack or inner.high[axis] > outer.high[axis] + slack:
                raise _failed(f"{operation} reaches further along {'XYZ'[axis]} than its inputs allow", at)

    def _require_outward(self, other: SurfaceFacts, cutter: Any, at: str) -> None:
        for facts, named, place in ((self._facts, self._obj, "/object"), (other, cutter, at)):
            if facts.volume is not None and facts.volume < 0.0 and not self._overlapping:
                message = f"the faces of '{named.name}' look inward"
                cure = "Turn them with mesh.clean, or the operation normals of mesh.edit."
                raise StepError.of(Fault.SCENE_CONFLICT, message, at=place, cure=cure)
            if facts.volume is None and self._solver == "MANIFOLD":
                message = f"'{named.name}' is not closed, which the MANIFOLD solver asks for"
                cure = "Close it with the operation fill of mesh.edit, or use the EXACT solver."
                raise StepError.of(Fault.SCENE_CONFLICT, message, at=place, cure=cure)

    def _require_something(self, after: SurfaceFacts, cutter: Any, operation: BooleanOperation, at: str) -> None:
        if after.faces:
            return
        reason = f"'{cutter.name}' takes all of '{self._obj.name}' away"
        if operation == "intersect":
            reason = f"'{self._obj.name}' and '{cutter.name}' have nothing in common"
        raise StepError.of(Fault.SCENE_CONFLICT, reason, at=at, cure="Move or scale one of them with object.transform.")

    def _volume_of(self, other: SurfaceFacts, cutter: Any) -> float | None:
        """The volume of a cutter in the space of the object."""
        if other.volume is None:
            return None
        graph = self._evaluate()
        own, its = (one.evaluated_get(graph).matrix_world for one in (self._obj, cutter))
        return other.volume * abs((own.inverted_safe() @ its).determinant())

    @contextmanager
    def _result(self, cutter: Any, operation: str, holes: bool) -> Generator[Any]:
        settings = {"object": cutter, "operation": operation.upper(), "solver": self._solver, "material_mode": "INDEX"}
        if self._solver == "EXACT":
            settings |= {"use_self": self._overlapping, "use_hole_tolerant": holes}
        with (
            _marked_faces(self._obj.data),
            _room_for_slots(self._obj.data, len(cutter.material_slots)),
            modified(self._obj, "BOOLEAN", settings, self._evaluate) as mesh,
        ):
            yield mesh

    def _take(self, bm: Any, cutter: Any) -> None:
        own = self._obj.data
        marks = bm.faces.layers.int[OWN]
        slots = self._slots_of(cutter)
        for face in bm.faces:
            if not face[marks]:
                if face.material_index < len(slots):
                    face.material_index = slots[face.material_index]
                else:
                    face.material_index = 0
        bm.faces.layers.int.remove(marks)
        put_in_order(bm, new_places(bm, set()))
        write(bm, own)
        own.update()

    def _slots_of(self, cutter: Any) -> list[int]:
        """For each slot of a cutter that of the object with the same material, made where there is none; the first for no material."""
        materials, slots = self._obj.data.materials, list[int]()
        for slot in cutter.material_slots:
            if slot.material is not None and slot.material.name not in materials:
                if not len(materials):
                    materials.append(None)  # its own faces have had none
                materials.append(slot.material)
            slots.append(0 if slot.material is None else materials.find(slot.material.name))
        return slots


@contextmanager
def _marked_faces(mesh: Any) -> Generator[None]:
    """Faces that are a mesh's own have a mark, which those of a cutter lack."""
    attribute = mesh.attributes.new(OWN, "INT", "FACE")
    attribute.data.foreach_set("value", [1] * len(mesh.polygons))
    try:
        yield
    finally:
        mesh.attributes.remove(mesh.attributes[OWN])


@contextmanager
def _room_for_slots(mesh: Any, count: int) -> Generator[None]:
    """Faces of a cutter keep the number of their slot only where the object has as many."""
    added = max(0, count - len(mesh.materials))
    for _ in range(added):
        mesh.materials.append(None)
    try:
        yield
    finally:
        for _ in range(added):
            mesh.materials.pop(index=len(mesh.materials) - 1)


def facts_of(mesh: Any) -> SurfaceFacts:
    reader = MeshReader()
    number = reader.add(mesh)
    reader.finish()
    arrays = reader.read[number]
    facts = arrays.facts
    if facts.volume is None and facts.crowded_edges and facts.faces:
        # Two solids that touch along an edge: four faces meet there, and what they enclose is known all the same.
        return replace(facts, volume=_volume(arrays))
    return facts


def _volume(arrays: MeshArrays) -> float | None:
    """What a surface encloses; None unless each edge is passed as often in one direction as in the other."""
    corners = arrays.corner_vertices.astype(np.int64)
    following, count = corners[arrays.following], len(arrays.positions)
    if not np.array_equal(np.sort(corners * count + following), np.sort(following * count + corners)):
        return None
    points = arrays.positions.astype(np.float64)
    places = (points - points[0]).T
    areas = area_vectors([places[0], places[1], places[2]], corners, arrays.starts, arrays.sizes)
    return float((areas * places[:, corners[arrays.starts]]).sum() / 3.0)


@contextmanager
def _evaluated_mesh(obj: Any, evaluate: Evaluate) -> Generator[Any]:
    evaluated = obj.evaluated_get(evaluate())
    mesh = evaluated.to_mesh()
    try:
        yield mesh
    finally:
        evaluated.to_mesh_clear()


def _same(one: SurfaceFacts, other: SurfaceFacts) -> bool:
    return (one.vertices, one.faces, one.low, one.high) == (other.vertices, other.faces, other.low, other.high)


def _unreached(obj: Any, cutter: Any, at: str) -> StepError:
    message = f"'{cutter.name}' does not reach into '{obj.name}'"
    return StepError.of(Fault.SCENE_CONFLICT, message, at=at, cure="Move or scale it with object.transform.")


def _failed(message: str, at: str) -> StepError:
    return StepError.of(Fault.EXECUTION_FAILED, message, at=at, cure=CURE)
