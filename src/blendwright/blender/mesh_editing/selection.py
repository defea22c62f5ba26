"""Selections of mesh elements, and their conversion between vertices, edges and faces."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from operator import attrgetter
from typing import Any

Elements = list[Any]
DOMAINS = ("vertices", "edges", "faces")
# (domain of an element, wanted domain) -> the element's attribute that lists its neighbours.
_NEIGHBOURS = {
    ("faces", "edges"): "edges",
    ("faces", "vertices"): "verts",
    ("edges", "vertices"): "verts",
    ("edges", "faces"): "link_faces",
    ("vertices", "edges"): "link_edges",
    ("vertices", "faces"): "link_faces",
}


@dataclass
class Selection:
    """Elements of each domain, and the domains that the selection had elements of when it was made."""

    vertices: Elements = field(default_factory=list[Any])
    edges: Elements = field(default_factory=list[Any])
    faces: Elements = field(default_factory=list[Any])
    sorts: frozenset[str] = frozenset(DOMAINS)

    @classmethod
    def of(cls, elements: Iterable[Any]) -> "Selection":
        """Return a selection of these elements with their edges and vertices."""
        faces: Elements = []
        edges: Elements = []
        vertices: Elements = []
        for element in elements:
            if hasattr(element, "loops"):
                faces.append(element)
            elif hasattr(element, "other_vert"):
                edges.append(element)
            elif hasattr(element, "co"):
                vertices.append(element)

        for face in faces:
            edges += face.edges
        edges = distinct(edges)
        for element in (*edges, *faces):
            vertices += element.verts
        vertices = distinct(vertices)

        parts = {"vertices": vertices, "edges": edges, "faces": faces}
        return cls(vertices, edges, faces, frozenset(domain for domain in DOMAINS if parts[domain]))

    def elements(self, domain: str) -> Elements:
        return getattr(self, domain)

    def living(self) -> "Selection":
        """Return the selection without elements that have been removed."""
        return Selection(valid(self.vertices), valid(self.edges), valid(self.faces), sorts=self.sorts)

    def as_domain(self, domain: str) -> Elements:
        """Return the elements of one domain. If the selection was made without that domain, convert from another one."""
        if domain in self.sorts or domain == "vertices":
            return self.elements(domain)
        if domain == "faces" and "edges" in self.sorts:
            return converted(self.edges, "edges", "faces")
        return converted(self.vertices, "vertices", domain)


def valid(elements: Iterable[Any]) -> Elements:
    """Return the elements that still exist in the BMesh."""
    return [element for element in elements if element.is_valid]


def distinct(elements: Iterable[Any]) -> Elements:
    """Return each element once, in the order of first appearance. The order of a set would differ in every process."""
    return list(dict.fromkeys(elements))


def converted(elements: Sequence[Any], source: str, target: str) -> Elements:
    """Return elements as elements of another domain.

    Faces give their edges or vertices. Edges give their vertices or adjacent faces. Vertices give the edges or faces whose
    vertices are all included.
    """
    if source == target:
        return list(elements)
    neighbours = attrgetter(_NEIGHBOURS[source, target])
    touched = distinct(chain.from_iterable(map(neighbours, elements)))
    if source != "vertices":
        return touched
    chosen = set(elements)
    return [element for element in touched if chosen.issuperset(element.verts)]


def outline(faces: Sequence[Any]) -> Elements:
    """Return the edges that belong to exactly one of these faces."""
    chosen = set(faces)
    return [edge for edge in converted(faces, "faces", "edges") if sum(face in chosen for face in edge.link_faces) == 1]


def center_of(element: Any) -> Any:
    """Return the position of an element: a vertex's position, the middle of an edge, the mean of a face's corners."""
    if hasattr(element, "co"):
        return element.co
    if hasattr(element, "loops"):
        return element.calc_center_median()
    first, second = element.verts
    return (first.co + second.co) / 2.0


Predicate = Callable[[Any], bool]


def counted(number: int, domain: str) -> str:
    """Return a number with the singular or plural of a domain, such as `1 edge`."""
    words = {"vertices": "vertex", "edges": "edge", "faces": "face"}
    if number == 1:
        return f"1 {words[domain]}"
    return f"{number} {domain}"
