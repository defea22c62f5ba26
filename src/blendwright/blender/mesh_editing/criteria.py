"""Selection of mesh elements by the criteria of a selector."""

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from mathutils import Vector

from blendwright.blender.mesh_editing.selection import Elements, Predicate, center_of, converted, counted, outline
from blendwright.tools.mesh.selectors import ALL, BOUNDARY, LOOSE, Criteria, Selector, selector_parts
from blendwright.values.errors import StepError
from blendwright.values.faults import Fault

if TYPE_CHECKING:
    from blendwright.blender.mesh_editing.editor import MeshEditor

# The tolerance of comparisons in metres and radians. Positions have single precision, so the edge of a box counts as inside.
SLACK = 1e-5
# The attribute value or weight above which an element is selected.
HALF = 0.5
LAYERS = {"BOOLEAN": "bool", "INT": "int", "FLOAT": "float"}
SORTS = {"POINT": "vertices", "EDGE": "edges", "FACE": "faces"}
FACE_SETS = ".sculpt_face_set"


def axis_vector(direction: Any) -> Any:
    """Return a direction as a unit vector. `direction` is an axis name such as `-Z`, or three numbers."""
    if isinstance(direction, str):
        values = [0.0, 0.0, 0.0]
        if direction[0] == "-":
            values["XYZ".index(direction[1])] = -1.0
        else:
            values["XYZ".index(direction[1])] = 1.0
        return Vector(values)
    return Vector(direction).normalized()


def select(editor: "MeshEditor", selector: Selector, domain: str, at: str) -> Elements:
    """Return the elements that a selector selects, in the order of the mesh. Raise StepError when it selects none."""
    selected: set[Any] = set()
    summaries: list[str] = []
    for part, pointer in selector_parts(selector, at):
        if isinstance(part, str):
            chosen = _by_word(editor, part, domain)
            summaries.append(f"'{part}' has {len(chosen)}")
        else:
            chosen, counts = _by_criteria(editor, part, domain, pointer)
            summaries.append(", ".join(f"{name} fits {count}" for name, count in counts))
        selected.update(chosen)

    everything = editor.elements(domain)
    if not selected:
        message = f"selects no {domain}: of {counted(len(everything), domain)}, {'; '.join(summaries)}"
        cure = "Widen the selector: a larger angle or box, fewer criteria, the other space."
        raise StepError.of(Fault.SCENE_CONFLICT, message, at=at, cure=cure)
    return [element for element in everything if element in selected]


def _by_word(editor: "MeshEditor", word: str, domain: str) -> Elements:
    """Return the elements for a word: all, boundary, loose, or the name of an earlier selection."""
    if word == ALL:
        return list(editor.elements(domain))
    if word == BOUNDARY:
        return converted([edge for edge in editor.bm.edges if edge.is_boundary], "edges", domain)
    if word == LOOSE:
        return list(filter(_is_loose, editor.elements(domain)))
    return editor.selection(word).as_domain(domain)


def _by_criteria(
    editor: "MeshEditor", criteria: Criteria, domain: str, at: str
) -> tuple[Elements, list[tuple[str, int]]]:
    """Return the elements that fit all criteria, and for each criterion its name and the number of elements that fit it."""
    if criteria.outline:
        wanted = "faces"
    else:
        wanted = domain
    fitting: set[Any] | None = None
    counts: list[tuple[str, int]] = []
    for name, source, predicate in _predicates(editor, criteria, wanted, at):
        chosen = converted(list(filter(predicate, editor.elements(source))), source, wanted)
        counts.append((name, len(chosen)))
        if fitting is None:
            fitting = set(chosen)
        else:
            fitting = fitting & set(chosen)
    if fitting is None:
        together = list(editor.elements(wanted))
    else:
        together = [element for element in editor.elements(wanted) if element in fitting]
    if criteria.outline:
        around = outline(together)
        counts.append(("outline", len(around)))
        return converted(around, "edges", domain), counts
    return together, counts


def _predicates(editor: "MeshEditor", criteria: Criteria, domain: str, at: str) -> Iterator[tuple[str, str, Predicate]]:
    """Yield for each given criterion its name, the domain that it tests, and a predicate on one element."""
    world = criteria.space == "world"
    if criteria.normal is not None:
        direction = axis_vector(criteria.normal)
        if world:
            # A normal transforms by the inverse transpose.
            turned = editor.world.to_3x3().inverted_safe().transposed()
            yield "normal", "faces", lambda face: _looks(turned @ face.normal, direction, criteria.angle_deg)
        else:
            yield "normal", "faces", lambda face: _looks(face.normal, direction, criteria.angle_deg)
    if criteria.box is not None:
        low, high = criteria.box
        if world:
            matrix = editor.world
        else:
            matrix = None
        yield "box", domain, lambda element: _is_between(_position(element, matrix), low, high)
    for name in ("inside", "outside"):
        earlier = getattr(criteria, name)
        if earlier is not None:
            members = set(editor.selection(earlier).as_domain(domain))
            wanted = name == "inside"
            yield name, domain, lambda element, members=members, wanted=wanted: (element in members) is wanted
    if criteria.material is not None:
        slots = editor.slots_with(criteria.material)
        yield "material", "faces", lambda face: face.material_index in slots
    if criteria.attribute is not None:
        yield ("attribute", *_by_attribute(editor, criteria.attribute, f"{at}/attribute"))
    if criteria.vertex_group is not None:
        yield "vertex_group", "vertices", _by_weight(editor, criteria.vertex_group, f"{at}/vertex_group")
    if criteria.face_set is not None:
        layer = editor.bm.faces.layers.int.get(FACE_SETS)
        yield "face_set", "faces", lambda face: layer is not None and face[layer] == criteria.face_set
    if criteria.sides is not None:
        yield "sides", "faces", lambda face: len(face.verts) == criteria.sides
    if criteria.boundary is not None:
        yield "boundary", "edges", lambda edge: edge.is_boundary is criteria.boundary
    if criteria.sharp_deg is not None:
        limit = math.radians(criteria.sharp_deg)
        yield "sharp_deg", "edges", lambda edge: abs(edge.calc_face_angle(0.0)) > limit
    if criteria.marked is not None:
        yield "marked", "edges", _by_mark(editor, criteria.marked)
    if criteria.loose is not None:
        yield "loose", domain, lambda element: _is_loose(element) is criteria.loose


def _looks(normal: Any, direction: Any, most_deg: float) -> bool:
    """Return True if a normal is within `most_deg` degrees of a direction."""
    return normal.length_squared > 0.0 and normal.angle(direction, math.pi) <= math.radians(most_deg) + SLACK


def _position(element: Any, matrix: Any) -> Any:
    """Return the centre of an element, transformed by a matrix unless that is None."""
    if matrix is None:
        return center_of(element)
    return matrix @ center_of(element)


def _is_between(point: Any, low: Any, high: Any) -> bool:
    """Return True if a point is in a box. A limit of None does not restrict that axis."""
    for value, least, most in zip(point, low, high, strict=True):
        if least is not None and value < least - SLACK:
            return False
        if most is not None and value > most + SLACK:
            return False
    return True


def _is_loose(element: Any) -> bool:
    """Return True for an edge or vertex without faces."""
    return not hasattr(element, "loops") and not element.link_faces


def _is_selectable(attribute: Any) -> bool:
    return attribute.domain in SORTS and attribute.data_type in LAYERS


def _by_attribute(editor: "MeshEditor", name: str, at: str) -> tuple[str, Predicate]:
    """Return the domain and a predicate on an attribute. Raise StepError for an unknown one.

    Boolean attributes are read from the mesh, whose elements have the same order. Before Blender 4.5, BMesh has no boolean layers.
    """
    attribute = editor.mesh.attributes.get(name)
    if attribute is None or not _is_selectable(attribute):
        names: list[str] = []
        for key, candidate in editor.mesh.attributes.items():
            if _is_selectable(candidate) and not key.startswith("."):
                names.append(key)
        if names:
            fix = f"It has: {', '.join(sorted(names)[:10])}."
        else:
            fix = "It has none of these."
        message = f"the mesh has no attribute '{name}' of booleans or numbers on vertices, edges or faces"
        raise StepError.of(Fault.TARGET_NOT_FOUND, message, at=at, cure=fix)
    domain = SORTS[attribute.domain]
    if attribute.data_type == "BOOLEAN":
        chosen = {number for number, item in enumerate(attribute.data) if item.value}
        return domain, lambda element: element.index in chosen
    layer = getattr(editor.elements(domain).layers, LAYERS[attribute.data_type])[name]
    return domain, lambda element: element[layer] > HALF


def _by_weight(editor: "MeshEditor", name: str, at: str) -> Predicate:
    """Return a predicate on a vertex group's weight. Raise StepError for an unknown group."""
    group = editor.obj.vertex_groups.get(name)
    if group is None:
        names = editor.obj.vertex_groups.keys()
        if names:
            fix = f"It has: {', '.join(names[:10])}."
        else:
            fix = "It has none."
        raise StepError.of(Fault.TARGET_NOT_FOUND, f"the object has no vertex group '{name}'", at=at, cure=fix)
    layer = editor.bm.verts.layers.deform.active
    return lambda vertex: layer is not None and vertex[layer].get(group.index, 0.0) > HALF


def _by_mark(editor: "MeshEditor", mark: str) -> Predicate:
    """Return a predicate on an edge's mark."""
    if mark == "seam":
        return lambda edge: edge.seam
    if mark == "sharp":
        return lambda edge: not edge.smooth
    layer = editor.bm.edges.layers.float.get("crease_edge")
    return lambda edge: layer is not None and edge[layer] > 0.0
