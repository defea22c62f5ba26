from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from blendwright.tool_api import Args, Block, Example, Findings, Kind, Scene, Tool
from blendwright.tool_api.arguments import InnerName, Vector3, optional
from blendwright.tool_api.mentions import ObjectName
from blendwright.tool_api.promises import SAFE_IDEMPOTENT_WRITE
from blendwright.tools.checks import conflict, differs, existing_object, invalid, required_object
from blendwright.tools.mesh.edit_operations import Select, TransformSelection
from blendwright.tools.mesh.selectors import LAST, WORDS, names_used
from blendwright.tools.mesh.vertex_selectors import missing_materials, selector_problems
from blendwright.tools.shape_key.shapes import (
    ShapeKeysChanged,
    existing_key,
    find_key,
    points_of,
    reports,
    same_points,
    vertices_of,
)
from blendwright.tools.world_space import world_matrix
from blendwright.values.findings import did_you_mean

BOX = ("mesh.create_primitive", {"kind": "cube", "name": "Box"})
TALL = ("mesh.create_primitive", {"kind": "cube", "name": "Tall", "size": 3})
WIDE = (
    "shape_key.create",
    {"object": "Box", "name": "Wide", "operations": [{"op": "transform", "select": "all", "scale": [2, 1, 1]}]},
)
Moving = Annotated[TransformSelection | Select, Field(discriminator="op")]
# Blender's own limits.
Slider = Annotated[float, Field(ge=-10.0, le=10.0)]


class CreateShapeKeyArgs(Args):
    object: ObjectName = Field(description="Name of the mesh object; objects that share its mesh get the key too.")
    name: InnerName = Field(min_length=1, description="Name of the new shape key; must be free on the mesh.")
    operations: Annotated[list[Moving], Field(min_length=1, max_length=200)] | None = optional(
        "How vertices move from relative_to: operations transform and select of mesh.edit, with its selectors."
    )
    from_object: ObjectName | None = optional(
        "Instead: a mesh object with as many vertices in the same order, whose shape is copied."
    )
    offsets: Annotated[list[Vector3], Field(max_length=100_000)] | None = optional(
        "Instead: the movement of each vertex from relative_to, in metres, by index."
    )
    value: Slider = Field(default=0.0, description="Influence of the key.")
    minimum: Slider = Field(default=0.0, description="Smallest value.")
    maximum: Slider = Field(default=1.0, description="Largest value.")
    relative_to: InnerName | None = optional("Shape key that this key is relative to. Default: the basis.")
    vertex_group: InnerName = Field(default="", description="Vertex group that limits the key. Default: none.")

    @model_validator(mode="after")
    def _check_source_and_range(self) -> CreateShapeKeyArgs:
        sources = [source for source in (self.operations, self.from_object, self.offsets) if source is not None]
        if len(sources) > 1:
            raise PydanticCustomError("two_shapes", "give only one of operations, from_object and offsets")
        refuse_bad_range(self.value, self.minimum, self.maximum)
        return self


def refuse_bad_range(value: float | None, minimum: float | None, maximum: float | None) -> None:
    """Raise PydanticCustomError if the range is empty or the value is outside it. None is not checked."""
    if minimum is not None and maximum is not None and minimum >= maximum:
        raise PydanticCustomError("crossed_range", "minimum must be below maximum")
    if value is not None and ((minimum is not None and value < minimum) or (maximum is not None and value > maximum)):
        raise PydanticCustomError("out_of_range", "value is outside the range from minimum to maximum")


class CreateShapeKey(Tool[CreateShapeKeyArgs, ShapeKeysChanged]):
    """Add a shape key (morph target, blend shape): by moving selected vertices, by offsets, or from another mesh.

    The first shape key of a mesh also creates the basis. shape_key.set sets the influence of each.
    """

    name = "shape_key.create"
    promises = SAFE_IDEMPOTENT_WRITE.writes_to(Kind.MESH, Kind.SHAPE_KEY).needs("mesh_write")
    examples = (
        Example(
            {
                "object": "Box",
                "name": "Pointed",
                "operations": [
                    {"op": "transform", "select": {"normal": "+Z"}, "scale": [0.2, 0.2, 1], "translate": [0, 0, 0.5]}
                ],
                "value": 0.5,
            },
            BOX,
        ),
        Example({"object": "Box", "name": "Big", "from_object": "Tall", "maximum": 2}, BOX, TALL),
        Example(
            {
                "object": "Box",
                "name": "Lifted",
                "offsets": [[0, 0, 1]] * 8,
                "relative_to": "Wide",
                "minimum": -1,
                "vertex_group": "Pin",
            },
            BOX,
            WIDE,
            ("vertex_group.set", {"object": "Box", "name": "Pin", "weights": [{"select": {"normal": "+Z"}}]}),
        ),
    )

    def examine(self, args: CreateShapeKeyArgs, blender: tuple[int, int, int] | None) -> Findings:
        known_names: list[str] = []
        for number, edit in enumerate(args.operations or ()):
            at = f"/operations/{number}/select"
            if number == 0:
                yield from selector_problems(edit.select, at)
            else:
                for name, name_at in names_used(edit.select, at):
                    if name not in known_names:
                        otherwise = "Give an earlier operation that name."
                        cure = did_you_mean(name, [*WORDS, *known_names], otherwise=otherwise)
                        yield invalid(f"no earlier operation has named a selection '{name}'", name_at, cure)
            known_names.append(LAST)
            if edit.name is not None:
                known_names.append(edit.name)

    def check(self, scene: Scene, args: CreateShapeKeyArgs) -> Findings:
        source = None
        if args.from_object is not None:
            source = yield from existing_object(scene, args.from_object, "/from_object", "MESH")
        obj = yield from existing_object(scene, args.object, "/object", "MESH")
        if obj is None:
            return
        problems = list(self._problems(obj, source, args))
        yield from problems
        existing = find_key(obj, args.name)
        if existing is not None and (problems or any(self._differences(scene, args, obj, existing))):
            message = f"'{args.object}' already has a shape key named '{args.name}'"
            yield conflict(message, "/name", "Choose another name, or use shape_key.set or shape_key.remove.")

    def _problems(self, obj: Block, source: Block | None, args: CreateShapeKeyArgs) -> Findings:
        count = len(obj.data.vertices)
        if not count:
            yield conflict(f"'{args.object}' has no vertices", "/object", "Name a mesh with vertices.")
        if args.offsets is not None and len(args.offsets) != count:
            message = f"offsets has {len(args.offsets)} entries for {count} vertices"
            yield invalid(message, "/offsets", "Give one entry for each vertex, or use operations.")
        if source is not None and len(source.data.vertices) != count:
            message = f"'{source.name}' has {len(source.data.vertices)} vertices, '{args.object}' has {count}"
            yield conflict(message, "/from_object", "Name a mesh with the same vertices in the same order.")
        if args.relative_to is not None:
            yield from existing_key(obj, args.relative_to, "/relative_to")
        if args.relative_to == args.name:
            yield invalid("a shape key cannot be relative to itself", "/relative_to", "Name another shape key.")
        yield from missing_group(obj, args.vertex_group, "/vertex_group")
        for number, edit in enumerate(args.operations or ()):
            yield from missing_materials(obj, edit.select, f"/operations/{number}/select")

    def apply(self, scene: Scene, args: CreateShapeKeyArgs) -> ShapeKeysChanged:
        obj = required_object(scene, args.object, "/object")
        existing = find_key(obj, args.name)
        if existing is None:
            points = self._points(scene, args, obj)
            key = scene.add_shape_key(obj, args.name)
            key.data.foreach_set("co", points)
            for name, value in self._settings(args).items():
                setattr(key, name, value)
            if args.relative_to is not None:
                key.relative_key = find_key(obj, args.relative_to)
            obj.data.update()
        return ShapeKeysChanged(object=args.object, shape_keys=reports(obj), changed=existing is None)

    def verify(self, scene: Scene, args: CreateShapeKeyArgs, result: ShapeKeysChanged) -> Findings:
        obj = required_object(scene, args.object, "/object")
        key = find_key(obj, args.name)
        yield from differs("the presence of the shape key", True, key is not None, "/name")
        if key is not None:
            yield from self._differences(scene, args, obj, key)

    def _settings(self, args: CreateShapeKeyArgs) -> dict[str, Any]:
        """Return the settings by Blender's names, the range before the value."""
        return {
            "slider_max": args.maximum,
            "slider_min": args.minimum,
            "value": args.value,
            "vertex_group": args.vertex_group,
        }

    def _points(self, scene: Scene, args: CreateShapeKeyArgs, obj: Block) -> Sequence[float]:
        """Return the requested coordinates of the vertices as one flat sequence."""
        keys: Block = obj.data.shape_keys
        if args.from_object is not None:
            return vertices_of(required_object(scene, args.from_object, "/from_object").data)
        if keys is None:
            start = vertices_of(obj.data)
        elif args.relative_to is None:
            start = points_of(keys.reference_key)
        else:
            start = points_of(keys.key_blocks[args.relative_to])
        if args.offsets is not None:
            moves: list[float] = []
            for offset in args.offsets:
                moves += offset
            return [value + move for value, move in zip(start, moves, strict=True)]
        if args.operations is not None:
            return scene.moved_vertices(obj, start, args.operations, world_matrix(scene, obj))
        return start

    def _differences(self, scene: Scene, args: CreateShapeKeyArgs, obj: Block, key: Block) -> Findings:
        words = {"slider_max": "maximum", "slider_min": "minimum"}
        for name, value in self._settings(args).items():
            word = words.get(name, name)
            yield from differs(f"its {word.replace('_', ' ')}", value, getattr(key, name), f"/{word}")
        basis: Block = obj.data.shape_keys.reference_key
        actual = key.relative_key.name
        yield from differs("the key that it is relative to", args.relative_to or basis.name, actual, "/name")
        if not same_points(self._points(scene, args, obj), points_of(key)):
            yield from differs("that it has the requested shape", True, False, "/name")


def missing_group(obj: Block, name: str | None, at: str) -> Findings:
    """Yield a finding if an object has no such vertex group. An empty name or None means no group."""
    if name and name not in obj.vertex_groups:
        names = [group.name for group in obj.vertex_groups]
        cure = did_you_mean(name, names, otherwise="Create it first with vertex_group.set.")
        yield conflict(f"'{obj.name}' has no vertex group '{name}'", at, cure)
