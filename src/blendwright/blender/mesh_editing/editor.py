"""A mesh while a list of operations works on it.

BMesh keeps elements at addresses, and some of its operators go through them in the order of these: the same operation numbers new
edges and faces differently in every process. After each operation that makes or removes elements the mesh is therefore written with
edges and new faces in an order of its own, and read again, so that the next one begins with what any process would have.
"""

from collections.abc import Callable, Sequence
from typing import Any

import bmesh
import numpy as np

from blendwright.blender.mesh_editing.selection import DOMAINS, Selection
from blendwright.tools.mesh.selectors import LAST, SIDES
from blendwright.values.errors import StepError
from blendwright.values.faults import Fault

# A list of operations that makes more than this is a mistake, and would take minutes.
MOST_VERTICES = 4_000_000

_new_bmesh: Any = bmesh.new


class MeshEditor:
    """The mesh as BMesh, and the selections that operations have named."""

    def __init__(
        self,
        obj: Any,
        world: Any,
        slot_for: Callable[[str], int],
        mesh_named: Callable[[str], Any],
        evaluate: Callable[[], Any],
    ) -> None:
        self.obj = obj
        self.mesh = obj.data
        self.world = world
        self.slot_for = slot_for
        """The material slot of a name, made where there is none."""
        self.mesh_named = mesh_named
        """A new mesh with the layers and materials of this one."""
        self.evaluate = evaluate
        """The dependency graph, brought up to date."""
        self._named: dict[str, Selection] = {}
        self.bm: Any = None
        self._old_faces: Sequence[Any] = ()
        self._load()

    def close(self) -> None:
        self.bm.free()

    def elements(self, domain: str) -> Any:
        return {"vertices": self.bm.verts, "edges": self.bm.edges, "faces": self.bm.faces}[domain]

    def selection(self, name: str) -> Selection:
        return self._named.get(name, Selection()).living()

    def keep(self, name: str | None, made: Selection, sides: Selection | None = None) -> None:
        """Note what an operation made, under its own name and as the last."""
        for key in filter(None, (LAST, name)):
            self._named[key] = made
            self._named.pop(key + SIDES, None)
            if sides is not None:
                self._named[key + SIDES] = sides

    def slots_with(self, material: str) -> set[int]:
        slots = self.obj.material_slots
        return {
            number for number, slot in enumerate(slots) if slot.material is not None and slot.material.name == material
        }

    def require_room(self, vertices: int, at: str) -> None:
        """A StepError where an operation would make a mesh too large."""
        if vertices > MOST_VERTICES:
            message = f"it would make about {vertices} vertices; at most {MOST_VERTICES} are allowed"
            raise StepError.of(Fault.LIMIT_EXCEEDED, message, at=at, cure="Select less, or cut less often.")

    def settle(self) -> None:
        """Write the mesh in an order that any process would have, and read it again; selections stay."""
        places = new_places(self.bm, {face for face in self._old_faces if face.is_valid})
        numbers = {
            name: tuple([places[domain][one] for one in getattr(chosen.living(), domain)] for domain in DOMAINS)
            for name, chosen in self._named.items()
        }
        put_in_order(self.bm, places)
        write(self.bm, self.mesh)
        self.bm.free()
        self._load()
        for name, lists in numbers.items():
            found = ([self.elements(domain)[i] for i in chosen] for domain, chosen in zip(DOMAINS, lists, strict=True))
            self._named[name] = Selection(*found, sorts=self._named[name].sorts)

    def replace(self, mesh: Any) -> None:
        """Go on with another mesh; nothing that was selected is left."""
        self.bm.free()
        self.bm = _new_bmesh()
        self.bm.from_mesh(mesh)
        self._old_faces = ()
        self._named.clear()

    def _load(self) -> None:
        self.bm = _new_bmesh()
        self.bm.from_mesh(self.mesh)
        for domain in DOMAINS:
            self.elements(domain).ensure_lookup_table()
        self._old_faces = list(self.bm.faces)


Places = dict[str, dict[Any, int]]


def new_places(bm: Any, old: set[Any]) -> Places:
    """The place of each element in an order that any process would have: edges by the vertices that they join; faces that were there before
    first, new ones by their vertices. Vertices come in such an order anyway."""
    bm.verts.index_update()
    numbers = {edge: sorted(vertex.index for vertex in edge.verts) for edge in bm.edges}
    edges = sorted(numbers, key=numbers.__getitem__)
    kept = [face for face in bm.faces if face in old]
    new = sorted((face for face in bm.faces if face not in old), key=lambda face: sorted(v.index for v in face.verts))
    return {
        "vertices": {vertex: vertex.index for vertex in bm.verts},
        "edges": {edge: place for place, edge in enumerate(edges)},
        "faces": {face: place for place, face in enumerate([*kept, *new])},
    }


def put_in_order(bm: Any, places: Places) -> None:
    """Sort elements to their places. What was held of them before stands for others afterwards."""
    bm.edges.sort(key=places["edges"].__getitem__)
    bm.faces.sort(key=places["faces"].__getitem__)


def write(bm: Any, mesh: Any) -> None:
    """BMesh to mesh; each edge begins at the lower of its vertices."""
    bm.to_mesh(mesh)
    pairs = np.empty(len(mesh.edges) * 2, np.int32)
    mesh.edges.foreach_get("vertices", pairs)
    pairs.reshape(-1, 2).sort(axis=1)
    mesh.edges.foreach_set("vertices", pairs)
