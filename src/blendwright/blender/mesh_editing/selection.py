"""Selections of mesh elements, and how one sort of element stands for another."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

Elements = list[Any]
DOMAINS = ("vertices", "edges", "faces")


@dataclass
class Selection:
    """Elements of each sort, as BMesh has them, and the sorts that it had from the start."""

    vertices: Elements = field(default_factory=list[Any])
    edges: Elements = field(default_factory=list[Any])
    faces: Elements = field(default_factory=list[Any])
    sorts: frozenset[str] = frozenset(DOMAINS)

    @classmethod
    def of(cls, elements: Iterable[Any]) -> "Selection":
        """Elements of any sorts, with the edges and vertices that they have."""
        listed = list(elements)
        faces = [one for one in listed if hasattr(one, "loops")]
        edges = [one for one in listed if hasattr(one, "other_vert")]
        vertices = [one for one in listed if hasattr(one, "co")]
        edges = distinct([*edges, *(edge for face in faces for edge in face.edges)])
        vertices = distinct([*vertices, *(vertex for one in (*edges, *faces) for vertex in one.verts)])
        parts = dict(zip(DOMAINS, (vertices, edges, faces), strict=True))
        return cls(vertices, edges, faces, frozenset(domain for domain, some in parts.items() if some))

    def living(self) -> "Selection":
        """What is left of it."""
        alive = ([one for one in getattr(self, domain) if one.is_valid] for domain in DOMAINS)
        return Selection(*alive, sorts=self.sorts)

    def as_domain(self, domain: str) -> Elements:
        """Its elements of one sort; where it never had any, those that the others make up."""
        if domain in self.sorts or domain == "vertices":
            return getattr(self, domain)
        if domain == "faces" and "edges" in self.sorts:
            return converted(self.edges, "edges", "faces")
        return converted(self.vertices, "vertices", domain)


def distinct(elements: Iterable[Any]) -> Elements:
    """Each once, in the order of their first appearance: the order of a set is another one in every process."""
    return list(dict.fromkeys(elements))


def converted(elements: Sequence[Any], source: str, target: str) -> Elements:
    """Faces as their edges or vertices, edges as their vertices or the faces at them, vertices as what they make up whole."""
    if source == target:
        return list(elements)
    if source == "faces":
        return distinct(part for face in elements for part in (face.edges if target == "edges" else face.verts))
    if source == "edges":
        return distinct(part for edge in elements for part in (edge.verts if target == "vertices" else edge.link_faces))
    chosen = set(elements)
    touched = distinct(
        one for vertex in elements for one in (vertex.link_edges if target == "edges" else vertex.link_faces)
    )
    return [one for one in touched if all(vertex in chosen for vertex in one.verts)]


def outline(faces: Sequence[Any]) -> Elements:
    """The edges that have exactly one of these faces."""
    chosen = set(faces)
    return [edge for edge in converted(faces, "faces", "edges") if sum(face in chosen for face in edge.link_faces) == 1]


def center_of(element: Any) -> Any:
    """Where an element is: a vertex itself, the middle of an edge, the mean of a face's corners."""
    if hasattr(element, "co"):
        return element.co
    if hasattr(element, "loops"):
        return element.calc_center_median()
    first, second = element.verts
    return (first.co + second.co) / 2.0


Predicate = Callable[[Any], bool]


def counted(number: int, domain: str) -> str:
    """A number with the right word."""
    words = {"vertices": "vertex", "edges": "edge", "faces": "face"}
    return f"{number} {words[domain] if number == 1 else domain}"
