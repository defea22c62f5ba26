from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from blendwright.tool_api import Example, Findings, Kind, Point, Scene, Tool
from blendwright.tool_api.arguments import Args, Name, Result, Vector3, optional, renamed
from blendwright.tool_api.mentions import CollectionName, Mention, ObjectName, Role, mentions
from blendwright.tool_api.promises import SAFE_ONE_TIME_WRITE
from blendwright.tools.animation_data import move_conflicts
from blendwright.tools.bounding_boxes import world_bounds
from blendwright.tools.checks import differs, evaluated_object, missing_target_collection, target_collection
from blendwright.tools.place.movement import is_negligible
from blendwright.tools.world_space import world_matrix

CUBE = ("mesh.create_primitive", {"kind": "cube", "name": "Box"})
MAX_COPIES = 2000

Count = Annotated[int, Field(ge=1, le=MAX_COPIES)]


class DuplicateGridArgs(Args):
    object: ObjectName = renamed(
        "object", "name", description="Name of the object to copy. It is the first of the grid and stays in place."
    )
    prefix: Name = Field(description="Start of the copies' names: 'Tile' gives 'Tile 002' and so on.")
    columns: Count = Field(default=3, description="Number of objects along X.")
    rows: Count = Field(default=3, description="Number of objects along Y.")
    layers: Count = Field(default=1, description="Number of objects along Z.")
    gap: Vector3 = Field(
        default=(0.2, 0.2, 0.2), description="Space between their bounding boxes along X, Y and Z, in metres."
    )
    collection: CollectionName | None = optional("Collection to link the copies to. Default: those of the object.")

    @property
    def count(self) -> int:
        return self.columns * self.rows * self.layers

    @model_validator(mode="after")
    def _not_too_many(self) -> DuplicateGridArgs:
        if self.count > MAX_COPIES:
            message = "a grid has at most {most} positions: use fewer columns, rows or layers"
            raise PydanticCustomError("too_many", message, {"most": MAX_COPIES})
        return self

    def names(self) -> list[str]:
        return [f"{self.prefix} {number:03d}" for number in range(2, self.count + 1)]

    def offset(self, number: int, step: Vector3) -> Vector3:
        """Return the offset in metres from the first position to another one, numbered along X, then Y, then Z."""
        line, column = divmod(number, self.columns)
        layer, row = divmod(line, self.rows)
        return (step[0] * column, step[1] * row, step[2] * layer)


class GridMade(Result):
    copies: list[str] = Field(description="Names of the copies, along X, then Y, then Z.")
    step: Point = Field(description="Distance between neighbouring positions along X, Y and Z, in metres.")


class DuplicateGrid(Tool[DuplicateGridArgs, GridMade]):
    """Copy an object into a grid. The copies share its data. The grid grows from the object's position along +X, +Y and +Z."""

    name = "object.duplicate_grid"
    promises = SAFE_ONE_TIME_WRITE.writes_to(Kind.OBJECT, Kind.COLLECTION).needs("object_write")
    examples = (
        Example({"object": "Box", "prefix": "Box", "columns": 4, "rows": 3}, CUBE),
        Example({"object": "Box", "prefix": "Tower", "columns": 1, "rows": 1, "layers": 5, "gap": [0, 0, 0]}, CUBE),
    )

    def mentions_for(self, args: DuplicateGridArgs) -> Iterable[Mention]:
        yield from mentions(args)
        for name in args.names():
            yield Mention(Role.MAKES, Kind.OBJECT.blocks, name, at="/prefix")

    def check(self, scene: Scene, args: DuplicateGridArgs) -> Findings:
        obj = yield from evaluated_object(scene, args.object, "/object")
        if obj is not None:
            # Copies would have the same keyframes, which would move all of them to one position.
            yield from move_conflicts(scene, obj, "/object")
        yield from missing_target_collection(scene, args.collection)
        for name in args.names():
            yield from scene.name_conflicts(Kind.OBJECT, name, "/prefix")

    def apply(self, scene: Scene, args: DuplicateGridArgs) -> GridMade:
        obj = scene.require(Kind.OBJECT, args.object, "/object")
        [bounds] = world_bounds(scene, [obj])
        step = (bounds.size(0) + args.gap[0], bounds.size(1) + args.gap[1], bounds.size(2) + args.gap[2])
        if args.collection:
            homes = [target_collection(scene, args.collection)]
        else:
            homes = scene.collections_of(obj)
        for number, name in enumerate(args.names(), start=1):
            copy = scene.adopt(Kind.OBJECT, obj.copy(), name)
            copy.use_fake_user = False
            frame = (obj.matrix_world @ obj.matrix_basis.inverted_safe()).to_3x3()
            copy.location = obj.location + frame.inverted_safe() @ scene.vector(args.offset(number, step))
            for collection in homes:
                scene.link(collection, copy)
        return GridMade(copies=args.names(), step=step)

    def verify(self, scene: Scene, args: DuplicateGridArgs, result: GridMade) -> Findings:
        obj = scene.require(Kind.OBJECT, args.object, "/object")
        start = world_matrix(scene, obj).translation
        for number, name in enumerate(result.copies, start=1):
            copy = scene.require(Kind.OBJECT, name, "/prefix")
            yield from differs(f"that '{name}' shares its data", True, copy.data == obj.data, "/object")
            expected = start + scene.vector(args.offset(number, result.step))
            deviation = world_matrix(scene, copy).translation - expected
            in_place = is_negligible([part / 16 for part in deviation], expected)
            yield from differs(f"that '{name}' is in place (no constraint moves it)", True, in_place, "/object")
