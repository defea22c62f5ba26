"""Measures of objects and of a file that contains them, which both sides of an export compute."""

from typing import TypedDict


class TextureFacts(TypedDict):
    """A picture at an input of a material. Its size is 0 if the picture is missing."""

    material: str
    input: str
    image: str
    width: int
    height: int


class FileFacts(TypedDict):
    """Measures of everything with faces, after modifiers and with instances, in world space.

    `shapes` has the names of objects with faces, once for each instance. `unmapped` has the names of objects with a
    picture and without a UV map. Bounds are [] without geometry. `open_edges` have fewer than two faces.
    """

    shapes: list[str]
    triangles: int
    open_edges: int
    low: list[float]
    high: list[float]
    uv_maps: int
    uv_low: list[float]
    uv_high: list[float]
    unmapped: list[str]
    materials: list[str]
    textures: list[TextureFacts]
