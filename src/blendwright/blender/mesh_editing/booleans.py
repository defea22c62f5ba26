"""Boolean operations on an object's mesh. Each result is checked against its inputs before it counts.

For closed surfaces the volumes are predictable. The part cut away and the part left add up to the whole. The union of two bodies
has the volume of both minus their common part. A solver can fail silently on faces in one plane or on a surface that intersects
itself. These checks detect such a failure.
"""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import bmesh
import numpy as np

from blendwright.blender.mesh_editing.editor import canonical_order, put_in_order, write
from blendwright.blender.mesh_editing.modified import Evaluate, modified
from blendwright.blender.scene.geometry.mesh_arrays import MeshArrays, MeshReader, area_vectors
from blendwright.blender.scene.state import RESERVED_PREFIX
from blendwright.tool_api.mesh_port import BooleanOperation, BooleanSolver, BooleanStep
from blendwright.tool_api.surfaces import SurfaceFacts
from blendwright.values.errors import StepError
from blendwright.values.faults import Fault

_new_bmesh: Any = bmesh.new
# The face attribute that marks faces of the object.
OWN = f"{RESERVED_PREFIX}own"
# The tolerated error of a volume, relative to the inputs. Positions have single precision.
TOLERANCE = 1e-4
CURE = "Move the cutter a little, so that no faces lie in one plane. Or fix the inputs with mesh.clean, or try the other solver."


class BooleanMaker:
    """A mesh object that is combined with several cutters in turn. It writes into the object's mesh."""

    def __init__(self, obj: Any, solver: BooleanSolver, overlapping: bool, evaluate: Evaluate) -> None:
        self._obj = obj
        self._solver = solver
        self._overlapping = overlapping
        self._evaluate = evaluate
        self._facts = facts_of(obj.data)

    def combine(self, cutter: Any, operation: BooleanOperation, at: str) -> BooleanStep:
        """Combine the object with one cutter, write the result into the object's mesh, and return its facts.

        Raise StepError with the pointer `at` if the inputs are unsuitable, the result is empty or unchanged, or its volume is wrong.
        """
        with _evaluated_mesh(cutter, self._evaluate) as mesh:
            cutter_facts = facts_of(mesh)
        self._require_outward(cutter_facts, cutter, at)
        share = self._volume_of(cutter_facts, cutter)
        closed = self._facts.volume is not None and share is not None
        holes = not closed and self._solver == "EXACT"
        bm = _new_bmesh()
        try:
            with self._result(cutter, operation, holes) as result:
                after = facts_of(result)
                bm.from_mesh(result)
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
        """Check the result's volume and bounds against its inputs, and return its facts. Raise StepError if it cannot be right."""
        object_volume = self._facts.volume or 0.0
        if after.volume is None:
            wrong = after.open_edges + after.loose_edges + after.crowded_edges + after.flipped_edges
            raise _failed(
                f"the result is not closed although both inputs are: {wrong} edges do not join two faces that look the same way",
                at,
            )

        if operation == "intersect":
            counterpart_operation = "difference"
        else:
            counterpart_operation = "intersect"
        with self._result(cutter, counterpart_operation, False) as counterpart:
            facts = facts_of(counterpart)
            if facts.faces:
                counterpart_volume = facts.volume
            else:
                counterpart_volume = 0.0

        allowed = TOLERANCE * (object_volume + share)
        if operation == "intersect":
            overlap = after.volume
        else:
            overlap = counterpart_volume
        if overlap is not None and overlap <= allowed and operation != "union":
            raise _unreached(self._obj, cutter, at)
        if operation == "union":
            expected = object_volume + share
        else:
            expected = object_volume
        expected -= counterpart_volume or 0.0
        if counterpart_volume is None or abs(after.volume - expected) > allowed:
            message = f"{operation} gives a volume of {after.volume:.6g}, but {expected:.6g} is expected"
            raise _failed(message, at)

        self._require_bounds(after, operation, at)
        return BooleanStep(after.volume, overlap, proven=True)

    def _require_bounds(self, after: SurfaceFacts, operation: BooleanOperation, at: str) -> None:
        """Raise StepError if the result extends beyond the bounds that its inputs allow."""
        before = self._facts
        if operation == "union":
            inner, outer = before, after
        else:
            inner, outer = after, before
        for axis in range(3):
            slack = TOLERANCE * max(outer.high[axis] - outer.low[axis], 1e-6)
            if inner.low[axis] < outer.low[axis] - slack or inner.high[axis] > outer.high[axis] + slack:
                raise _failed(f"{operation} reaches further along {'XYZ'[axis]} than its inputs allow", at)

    def _require_outward(self, cutter_facts: SurfaceFacts, cutter: Any, at: str) -> None:
        """Raise StepError if an input's faces look inward, or if it is open and the solver needs closed surfaces."""
        for facts, obj, pointer in ((self._facts, self._obj, "/object"), (cutter_facts, cutter, at)):
            if facts.volume is not None and facts.volume < 0.0 and not self._overlapping:
                message = f"the faces of '{obj.name}' look inward"
                cure = "Turn them with mesh.clean, or with the operation normals of mesh.edit."
                raise StepError.of(Fault.SCENE_CONFLICT, message, at=pointer, cure=cure)
            if facts.volume is None and self._solver == "MANIFOLD":
                message = f"'{obj.name}' is not closed, but the MANIFOLD solver needs closed surfaces"
                cure = "Close it with the operation fill of mesh.edit, or use the EXACT solver."
                raise StepError.of(Fault.SCENE_CONFLICT, message, at=pointer, cure=cure)

    def _require_something(self, after: SurfaceFacts, cutter: Any, operation: BooleanOperation, at: str) -> None:
        """Raise StepError if the result is empty."""
        if after.faces:
            return
        reason = f"'{cutter.name}' takes all of '{self._obj.name}' away"
        if operation == "intersect":
            reason = f"'{self._obj.name}' and '{cutter.name}' have nothing in common"
        raise StepError.of(Fault.SCENE_CONFLICT, reason, at=at, cure="Move or scale one of them with object.transform.")

    def _volume_of(self, cutter_facts: SurfaceFacts, cutter: Any) -> float | None:
        """Return the volume of a cutter in the object's space; None if the cutter is not closed."""
        if cutter_facts.volume is None:
            return None
        graph = self._evaluate()
        object_matrix = self._obj.evaluated_get(graph).matrix_world
        cutter_matrix = cutter.evaluated_get(graph).matrix_world
        scale = abs((object_matrix.inverted_safe() @ cutter_matrix).determinant())
        return cutter_facts.volume * scale

    @contextmanager
    def _result(self, cutter: Any, operation: str, holes: bool) -> Generator[Any]:
        """Yield the mesh that the modifier makes of the object and a cutter. Faces of the object carry the mark OWN."""
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
        """Write a result into the object's mesh, with the cutter's faces moved to the object's material slots."""
        mesh = self._obj.data
        marks = bm.faces.layers.int[OWN]
        slots = self._slots_of(cutter)
        for face in bm.faces:
            if face[marks]:
                continue
            if face.material_index < len(slots):
                face.material_index = slots[face.material_index]
            else:
                face.material_index = 0
        bm.faces.layers.int.remove(marks)
        put_in_order(bm, canonical_order(bm, set()))
        write(bm, mesh)
        mesh.update()

    def _slots_of(self, cutter: Any) -> list[int]:
        """Return for each slot of a cutter the object's slot with the same material, adding missing materials.

        A slot without material maps to the first slot.
        """
        materials = self._obj.data.materials
        slots: list[int] = []
        for slot in cutter.material_slots:
            if slot.material is None:
                slots.append(0)
                continue
            if slot.material.name not in materials:
                if not len(materials):
                    materials.append(None)  # the object's faces have no material, and keep none
                materials.append(slot.material)
            slots.append(materials.find(slot.material.name))
        return slots


@contextmanager
def _marked_faces(mesh: Any) -> Generator[None]:
    """Mark the faces of a mesh within the block, so that the result's faces from the mesh differ from faces of a cutter."""
    attribute = mesh.attributes.new(OWN, "INT", "FACE")
    attribute.data.foreach_set("value", [1] * len(mesh.polygons))
    try:
        yield
    finally:
        mesh.attributes.remove(mesh.attributes[OWN])


@contextmanager
def _room_for_slots(mesh: Any, count: int) -> Generator[None]:
    """Give a mesh at least `count` material slots within the block. Otherwise a cutter's faces would lose their slot numbers."""
    added = max(0, count - len(mesh.materials))
    for _ in range(added):
        mesh.materials.append(None)
    try:
        yield
    finally:
        for _ in range(added):
            mesh.materials.pop(index=len(mesh.materials) - 1)


def facts_of(mesh: Any) -> SurfaceFacts:
    """Return the facts of a mesh: counts, bounds, volume, and edges that keep it from being closed."""
    reader = MeshReader()
    number = reader.add(mesh)
    reader.finish()
    arrays = reader.read[number]
    facts = arrays.facts
    if facts.volume is None and facts.crowded_edges and facts.faces:
        # Two solids touch along an edge where four faces meet. Their volume is still known.
        return replace(facts, volume=_volume(arrays))
    return facts


def _volume(arrays: MeshArrays) -> float | None:
    """Return the volume that a surface encloses; None unless each edge is passed equally often in both directions."""
    corners = arrays.corner_vertices.astype(np.int64)
    following, count = corners[arrays.following], len(arrays.positions)
    if not np.array_equal(np.sort(corners * count + following), np.sort(following * count + corners)):
        return None
    points = arrays.positions.astype(np.float64)
    local = (points - points[0]).T
    areas = area_vectors([local[0], local[1], local[2]], corners, arrays.starts, arrays.sizes)
    first_corners = local[:, corners[arrays.starts]]
    return float((areas * first_corners).sum() / 3.0)


@contextmanager
def _evaluated_mesh(obj: Any, evaluate: Evaluate) -> Generator[Any]:
    """Yield the evaluated mesh of an object. It is valid only within the block."""
    evaluated = obj.evaluated_get(evaluate())
    mesh = evaluated.to_mesh()
    try:
        yield mesh
    finally:
        evaluated.to_mesh_clear()


def _same(before: SurfaceFacts, after: SurfaceFacts) -> bool:
    """Return True if two surfaces have the same counts and bounds."""
    if (before.vertices, before.faces) != (after.vertices, after.faces):
        return False
    return (before.low, before.high) == (after.low, after.high)


def _unreached(obj: Any, cutter: Any, at: str) -> StepError:
    message = f"'{cutter.name}' does not reach into '{obj.name}'"
    return StepError.of(Fault.SCENE_CONFLICT, message, at=at, cure="Move or scale it with object.transform.")


def _failed(message: str, at: str) -> StepError:
    return StepError.of(Fault.EXECUTION_FAILED, message, at=at, cure=CURE)
