"""Which elements fit the criteria of a selector."""

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

# Single precision: what a plan calls the edge of a box is inside.
SLACK = 1e-5
# Attributes, weights: from here on an element counts as chosen.
HALF = 0.5
LAYERS = {"BOOLEAN": "bool", "INT": "int", "FLOAT": "float"}
SORTS = {"POINT": "vertices", "EDGE": "edges", "FACE": "faces"}
FACE_SETS = ".sculpt_face_set"


def axis_vector(direction: Any) -> Any:
    """A direction as a unit vector."""
    if isinstance(direction, str):
        values = [0.0, 0.0, 0.0]
        if direction[0] == "-":
            values["XYZ".index(direction[1])] = -1.0
        else:
            values["XYZ".index(direction[1])] = 1.0
        return Vector(values)
    return Vector(direction).normalized()


def select(editor: "MeshEditor", selector: Selector, domain: str, at: str) -> Elements:
    """The elements that a selector selects, in the order of the mesh; a StepError when there are none."""
    found: set[Any] = set()
    told: list[str] = []
    for part, place in selector_parts(selector, at):
        if isinstance(part, str):
            chosen = _by_word(editor, part, domain)
            told.append(f"'{part}' has {len(chosen)}")
        else:
            chosen, counts = _by_criteria(editor, part, domain, place)
            told.append(", ".join(f"{name} fits {count}" for name, count in counts))
        found.update(chosen)
    everything = editor.elements(domain)
    if not found:
        message = f"selects no {domain}: of {counted(len(everything), domain)}, {'; '.join(told)}"
        cure = "Widen the selector: a larger angle or box, fewer criteria, the other space."
        raise StepError.of(Fault.SCENE_CONFLICT, message, at=at, cure=cure)
    return [one for one in everything if one in found]


def _by_word(editor: "MeshEditor", word: str, domain: str) -> Elements:
    if word == ALL:
        return list(editor.elements(domain))
    if word == BOUNDARY:
        return converted([edge for edge in editor.bm.edges if edge.is_boundary], "edges", domain)
    if word == LOOSE:
        return [one for one in editor.elements(domain) if _is_loose(one)]
    return editor.selection(word).as_domain(domain)


def _by_criteria(
    editor: "MeshEditor", criteria: Criteria, domain: str, at: str
) -> tuple[Elements, list[tuple[str, int]]]:
    """What fits all of them, and how many fit each."""
    if criteria.outline:
        wanted = "faces"
    else:
        wanted = domain
    fitting: set[Any] | None = None
    counts: list[tuple[str, int]] = []
    for name, source, predicate in _predicates(editor, criteria, wanted, at):
        chosen = converted([one for one in editor.elements(source) if predicate(one)], source, wanted)
        counts.append((name, len(chosen)))
        if fitting is None:
            fitting = set(chosen)
        else:
            fitting = fitting & set(chosen)
    together = [one for one in editor.elements(wanted) if fitting is None or one in fitting]
    if criteria.outline:
        around = outline(together)
        counts.append(("outline", len(around)))
        return converted(around, "edges", domain), counts
    return together, counts


def _predicates(editor: "MeshEditor", criteria: Criteria, domain: str, at: str) -> Iterator[tuple[str, str, Predicate]]:
    """Each criterion that is given: its name, the sort of element that it is about, and whether one fits."""
    world = criteria.space == "world"
    if criteria.normal is not None:
        direction = axis_vector(criteria.normal)
        if world:
            # Normals go by the inverse transpose, so a direction comes back by the transpose.
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
        yield "box", domain, lambda one: _is_between(_place(one, matrix), low, high)
    for name in ("inside", "outside"):
        earlier = getattr(criteria, name)
        if earlier is not None:
            members = set(editor.selection(earlier).as_domain(domain))
            yield name, domain, lambda one, members=members, wanted=name == "inside": (one in members) is wanted
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
        yield "loose", domain, lambda one: _is_loose(one) is criteria.loose


def _looks(normal: Any, direction: Any, most_deg: float) -> bool:
    return normal.length_squared > 0.0 and normal.angle(direction, math.pi) <= math.radians(most_deg) + SLACK


def _place(element: Any, matrix: Any) -> Any:
    if matrix is None:
        return center_of(element)
    return matrix @ center_of(element)


def _is_between(place: Any, low: Any, high: Any) -> bool:
    return all(
        (least is None or value >= least - SLACK) and (most is None or value <= most + SLACK)
        for value, least, most in zip(place, low, high, strict=True)
    )


def _is_loose(element: Any) -> bool:
    return not hasattr(element, "loops") and not element.link_faces


def _by_attribute(editor: "MeshEditor", name: str, at: str) -> tuple[str, Predicate]:
    """By a layer of numbers, or by the mesh itself, whose elements have the same order: before 4.5 BMesh has no layers of booleans."""
    attribute = editor.mesh.attributes.get(name)
    if attribute is None or attribute.domain not in SORTS or attribute.data_type not in LAYERS:
        attributes = editor.mesh.attributes.items()
        known = sorted(
            key for key, one in attributes if one.domain in SORTS and one.data_type in LAYERS and key[0] != "."
        )
        if known:
            listed = f"It has: {', '.join(known[:10])}."
        else:
            listed = "It has none of these."
        message = f"the mesh has no attribute '{name}' of true or false, or of numbers, on vertices, edges or faces"
        raise StepError.of(Fault.TARGET_NOT_FOUND, message, at=at, cure=listed)
    domain = SORTS[attribute.domain]
    if attribute.data_type == "BOOLEAN":
        chosen = {number for number, one in enumerate(attribute.data) if one.value}
        return domain, lambda one: one.index in chosen
    layer = getattr(editor.elements(domain).layers, LAYERS[attribute.data_type])[name]
    return domain, lambda one: one[layer] > HALF


def _by_weight(editor: "MeshEditor", name: str, at: str) -> Predicate:
    group = editor.obj.vertex_groups.get(name)
    if group is None:
        known = [one.name for one in editor.obj.vertex_groups]
        if known:
            listed = f"It has: {', '.join(known[:10])}."
        else:
            listed = "It has none."
        raise StepError.of(Fault.TARGET_NOT_FOUND, f"the object has no vertex group '{name}'", at=at, cure=listed)
    layer = editor.bm.verts.layers.deform.active
    return lambda vertex: layer is not None and vertex[layer].get(group.index, 0.0) > HALF


def _by_mark(editor: "MeshEditor", mark: str) -> Predicate:
    if mark == "seam":
        return lambda edge: edge.seam
    if mark == "sharp":
        return lambda edge: not edge.smooth
    layer = editor.bm.edges.layers.float.get("crease_edge")
    return lambda edge: layer is not None and edge[layer] > 0.0
