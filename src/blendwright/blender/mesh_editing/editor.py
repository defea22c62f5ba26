"""A mesh during a list of operations.

BMesh keeps elements at memory addresses, and some of its operators iterate in the order of these addresses. The same operation
would number new edges and faces differently in every process. Therefore the mesh is written in a canonical order and read again
after each operation that creates or removes elements. The next operation then starts from the same order in every process.
"""

from collections.abc import Callable, Sequence
from typing import Any

import bmesh
import numpy as np

from blendwright.blender.mesh_editing.selection import DOMAINS, Selection
from blendwright.tools.mesh.selectors import LAST, SIDES
from blendwright.values.errors import StepError
from blendwright.values.faults import Fault

# The maximum number of vertices of an edited mesh. More is a mistake in the plan, and would take minutes.
MAX_VERTICES = 4_000_000

_new_bmesh: Any = bmesh.new


class MeshEditor:
    """A mesh as BMesh, with the named selections of earlier operations."""

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
        """Return the slot of the material with this name. Add a slot if none has it."""
        self.mesh_named = mesh_named
        """Return a new mesh with the layers and materials of this one."""
        self.evaluate = evaluate
        """Return the updated dependency graph."""
        self._named: dict[str, Selection] = {}
        self.bm: Any = None
        self._old_faces: Sequence[Any] = ()
        self._load()

    def close(self) -> None:
        """Free the BMesh."""
        self.bm.free()

    def elements(self, domain: str) -> Any:
        """Return the BMesh sequence of a domain: vertices, edges or faces."""
        return {"vertices": self.bm.verts, "edges": self.bm.edges, "faces": self.bm.faces}[domain]

    def selection(self, name: str) -> Selection:
        """Return the valid elements of a named selection; an empty selection for an unknown name."""
        return self._named.get(name, Selection()).living()

    def keep(self, name: str | None, selection: Selection, sides: Selection | None = None) -> None:
        """Store the selection that an operation made under `name` and as the last one. `sides` is stored as its side faces."""
        for key in filter(None, (LAST, name)):
            self._named[key] = selection
            self._named.pop(key + SIDES, None)
            if sides is not None:
                self._named[key + SIDES] = sides

    def slots_with(self, material: str) -> set[int]:
        """Return the numbers of the material slots that hold a material."""
        numbers: set[int] = set()
        for number, slot in enumerate(self.obj.material_slots):
            if slot.material is not None and slot.material.name == material:
                numbers.add(number)
        return numbers

    def require_room(self, vertices: int, at: str) -> None:
        """Raise StepError if an operation would make a mesh with more than MAX_VERTICES vertices."""
        if vertices > MAX_VERTICES:
            message = f"it would make about {vertices} vertices; at most {MAX_VERTICES} are allowed"
            raise StepError.of(Fault.LIMIT_EXCEEDED, message, at=at, cure="Select fewer elements, or use fewer cuts.")

    def settle(self) -> None:
        """Write the mesh in canonical order and read it again. Selections stay valid."""
        positions = canonical_order(self.bm, {face for face in self._old_faces if face.is_valid})
        numbered: dict[str, dict[str, list[int]]] = {}
        for name, selection in self._named.items():
            living = selection.living()
            numbered[name] = {
                domain: [*map(positions[domain].__getitem__, living.elements(domain))] for domain in DOMAINS
            }

        put_in_order(self.bm, positions)
        write(self.bm, self.mesh)
        self.bm.free()
        self._load()

        for name, numbers in numbered.items():
            elements = {domain: [*map(self.elements(domain).__getitem__, numbers[domain])] for domain in DOMAINS}
            self._named[name] = Selection(**elements, sorts=self._named[name].sorts)

    def replace(self, mesh: Any) -> None:
        """Continue with another mesh and drop all selections."""
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


Positions = dict[str, dict[Any, int]]


def canonical_order(bm: Any, old: set[Any]) -> Positions:
    """Return the position of each element in an order that is the same in every process.

    Edges are sorted by the vertices that they join. Faces in `old` come first in their order, new faces follow by their vertices.
    Vertices already have a canonical order.
    """
    bm.verts.index_update()
    edges = sorted(bm.edges, key=_vertex_indices)
    old_faces = [face for face in bm.faces if face in old]
    new_faces = sorted((face for face in bm.faces if face not in old), key=_vertex_indices)
    return {
        "vertices": {vertex: vertex.index for vertex in bm.verts},
        "edges": _numbered(edges),
        "faces": _numbered([*old_faces, *new_faces]),
    }


def _numbered(elements: Sequence[Any]) -> dict[Any, int]:
    return {element: position for position, element in enumerate(elements)}


def _vertex_indices(element: Any) -> list[int]:
    return sorted(vertex.index for vertex in element.verts)


def put_in_order(bm: Any, positions: Positions) -> None:
    """Sort edges and faces by their positions. A reference from before the sort then stands for another element."""
    bm.edges.sort(key=positions["edges"].__getitem__)
    bm.faces.sort(key=positions["faces"].__getitem__)


def write(bm: Any, mesh: Any) -> None:
    """Write a BMesh to a mesh. Each edge starts at its lower vertex."""
    bm.to_mesh(mesh)
    pairs = np.empty(len(mesh.edges) * 2, np.int32)
    mesh.edges.foreach_get("vertices", pairs)
    pairs.reshape(-1, 2).sort(axis=1)
    mesh.edges.foreach_set("vertices", pairs)
