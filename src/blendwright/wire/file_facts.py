"""What can be told of objects and of a file that holds them: the same measures on both sides of an export."""

from typing import TypedDict


class TextureFacts(TypedDict):
    """A picture that reaches an input of a material; its size is 0 where there is no picture behind the name."""

    material: str
    input: str
    image: str
    width: int
    height: int


class FileFacts(TypedDict):
    """Of all that has faces, after modifiers and with instances, in world space.

    `shapes` are the names of objects with faces, an instance once for each time that it appears. `unmapped` are those of them that have a
    picture on them and no UV map. Bounds are [] where there is nothing to bound. `open_edges` have fewer than two faces."""

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
