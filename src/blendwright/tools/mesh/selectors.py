"""Selectors of mesh.edit: which vertices, edges or faces an operation works on, said by what they are like and never by their indices.

A selector is a word, the name of an earlier selection, criteria that must all hold, or a list of these of which one must hold. This
module knows no mesh: `blender/mesh_editing` finds what a selector selects.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from blendwright.tool_api.arguments import AttributeName, BoundedFloat, InnerName, Vector3, optional
from blendwright.tool_api.mentions import MaterialName

# Words that are no names: everything, edges with one face, what no face uses, and what the operation before made.
ALL, BOUNDARY, LOOSE, LAST = "all", "boundary", "loose", "last"
WORDS = (ALL, BOUNDARY, LOOSE, LAST)
# What an extrusion or inset makes beside the faces that it moves.
SIDES = ".sides"
NAME_PATTERN = r"^[A-Za-z][A-Za-z0-9_ -]{0,62}$"

Axis = Literal["+X", "-X", "+Y", "-Y", "+Z", "-Z"]
Space = Literal["local", "world"]
Corner = Annotated[tuple[BoundedFloat | None, BoundedFloat | None, BoundedFloat | None], Field(strict=False)]
Box = Annotated[tuple[Corner, Corner], Field(strict=False)]
SelectionName = Annotated[str, Field(pattern=NAME_PATTERN)]
EarlierName = Annotated[str, Field(min_length=1, max_length=80)]


class Criteria(BaseModel):
    """What must hold of each element. What is said of faces selects their edges and vertices too, and the other way round."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False, defer_build=True)

    normal: Axis | Vector3 | None = optional("Faces that look this way.")
    angle_deg: float = Field(default=30.0, ge=0.0, le=180.0, description="How far normal may be off, in degrees.")
    box: Box | None = optional("Centres between [x, y, z] and [x, y, z]; null is open.")
    space: Space = Field(default="local", description="Space of normal and box.")
    inside: EarlierName | None = optional("Part of an earlier selection.")
    outside: EarlierName | None = optional("No part of an earlier selection.")
    outline: bool | None = optional("Edges around the faces that the other criteria select.")
    material: MaterialName | None = optional("Faces of this material.")
    attribute: AttributeName | None = optional("Attribute over 0.5, or true.")
    vertex_group: InnerName | None = optional("Vertices weighted over 0.5 in this group.")
    face_set: int | None = optional("Faces of this sculpting face set.", ge=0)
    boundary: bool | None = optional("Edges with one face only.")
    sharp_deg: float | None = optional("Edges whose faces meet at more than this angle.", ge=0.0, le=180.0)
    marked: Literal["seam", "sharp", "crease"] | None = optional("Edges with this mark.")
    loose: bool | None = optional("What no face uses.")
    sides: int | None = optional("Faces with so many corners.", ge=3)

    @model_validator(mode="after")
    def _says_something(self) -> Criteria:
        if not any(getattr(self, name) is not None for name in CRITERIA):
            raise PydanticCustomError("empty_selector", "the selector says nothing; 'all' selects everything")
        if isinstance(self.normal, tuple) and not any(self.normal):
            raise PydanticCustomError("no_direction", "a normal of [0, 0, 0] has no direction")
        if self.box is not None and any(
            low is not None and high is not None and low > high for low, high in zip(*self.box, strict=True)
        ):
            raise PydanticCustomError("empty_box", "the first corner of a box has the lower numbers")
        return self


CRITERIA = tuple(name for name in Criteria.model_fields if name not in ("angle_deg", "space"))
OneSelector: TypeAlias = EarlierName | Criteria
Selector: TypeAlias = OneSelector | Annotated[list[OneSelector], Field(min_length=1, max_length=50)]


def selector_parts(selector: Selector, at: str) -> Iterator[tuple[OneSelector, str]]:
    """The alternatives of a selector, each with its place."""
    if isinstance(selector, list):
        yield from ((one, f"{at}/{number}") for number, one in enumerate(selector))
    else:
        yield selector, at


def names_used(selector: Selector, at: str) -> Iterator[tuple[str, str]]:
    """The earlier selections that a selector names, each with its place."""
    for part, place in selector_parts(selector, at):
        if isinstance(part, str):
            if part not in WORDS:
                yield part, place
            continue
        for field in ("inside", "outside"):
            name = getattr(part, field)
            if name is not None and name not in WORDS:
                yield name, f"{place}/{field}"
