"""Selectors of mesh.edit: the vertices, edges or faces that an operation works on, described by properties and never by
indices.

A selector is a word, the name of an earlier selection, criteria that must all match, or a list of these of which one
must match. This module does not access a mesh; `blender/mesh_editing` evaluates selectors.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from blendwright.tool_api.arguments import AttributeName, BoundedFloat, InnerName, Vector3, optional
from blendwright.tool_api.mentions import MaterialName

# Reserved words: everything, edges with one face, elements without a face, and the previous operation's result.
ALL, BOUNDARY, LOOSE, LAST = "all", "boundary", "loose", "last"
WORDS = (ALL, BOUNDARY, LOOSE, LAST)
# Suffix of the selection of faces that an extrusion or inset adds around the moved faces.
SIDES = ".sides"
NAME_PATTERN = r"^[A-Za-z][A-Za-z0-9_ -]{0,62}$"

Axis = Literal["+X", "-X", "+Y", "-Y", "+Z", "-Z"]
Space = Literal["local", "world"]
Corner = Annotated[tuple[BoundedFloat | None, BoundedFloat | None, BoundedFloat | None], Field(strict=False)]
Box = Annotated[tuple[Corner, Corner], Field(strict=False)]
SelectionName = Annotated[str, Field(pattern=NAME_PATTERN)]
EarlierName = Annotated[str, Field(min_length=1, max_length=80)]


class Criteria(BaseModel):
    """Conditions that each element must meet. Criteria for faces also select their edges and vertices, and vice versa."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False, defer_build=True)

    normal: Axis | Vector3 | None = optional("Faces with a normal in this direction.")
    angle_deg: float = Field(default=30.0, ge=0.0, le=180.0, description="Largest deviation from normal, in degrees.")
    box: Box | None = optional("Centers between [x, y, z] and [x, y, z] in metres; null for no limit.")
    space: Space = Field(default="local", description="Space of normal and box.")
    inside: EarlierName | None = optional("Elements of this earlier selection.")
    outside: EarlierName | None = optional("Elements that are not in this earlier selection.")
    outline: bool | None = optional("Boundary edges of the faces that the other criteria select.")
    material: MaterialName | None = optional("Faces with this material.")
    attribute: AttributeName | None = optional("Elements on which this attribute is above 0.5, or true.")
    vertex_group: InnerName | None = optional("Vertices with a weight above 0.5 in this vertex group.")
    face_set: int | None = optional("Faces of this sculpting face set.", ge=0)
    boundary: bool | None = optional("Edges with one face only.")
    sharp_deg: float | None = optional(
        "Edges between faces that meet at more than this angle, in degrees.", ge=0.0, le=180.0
    )
    marked: Literal["seam", "sharp", "crease"] | None = optional("Edges with this mark.")
    loose: bool | None = optional("Elements without a face.")
    sides: int | None = optional("Faces with this number of corners.", ge=3)

    @model_validator(mode="after")
    def _says_something(self) -> Criteria:
        if not any(getattr(self, name) is not None for name in CRITERIA):
            raise PydanticCustomError("empty_selector", "the selector is empty; use 'all' to select everything")
        if isinstance(self.normal, tuple) and not any(self.normal):
            raise PydanticCustomError("no_direction", "a normal of [0, 0, 0] has no direction")
        for low, high in zip(*(self.box or ()), strict=True):
            if low is not None and high is not None and low > high:
                raise PydanticCustomError("empty_box", "the first corner of a box must have the lower numbers")
        return self


CRITERIA = tuple(name for name in Criteria.model_fields if name not in ("angle_deg", "space"))
OneSelector: TypeAlias = EarlierName | Criteria
Selector: TypeAlias = OneSelector | Annotated[list[OneSelector], Field(min_length=1, max_length=50)]


def selector_parts(selector: Selector, at: str) -> Iterator[tuple[OneSelector, str]]:
    """Yield the alternatives of a selector, each with its JSON pointer."""
    if isinstance(selector, list):
        for number, part in enumerate(selector):
            yield part, f"{at}/{number}"
    else:
        yield selector, at


def names_used(selector: Selector, at: str) -> Iterator[tuple[str, str]]:
    """Yield the names of earlier selections in a selector, each with its JSON pointer."""
    for part, pointer in selector_parts(selector, at):
        if isinstance(part, str):
            if part not in WORDS:
                yield part, pointer
            continue
        for field in ("inside", "outside"):
            name = getattr(part, field)
            if name is not None and name not in WORDS:
                yield name, f"{pointer}/{field}"
