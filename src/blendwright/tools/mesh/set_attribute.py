from __future__ import annotations

from array import array
from collections.abc import Sequence
from itertools import chain, islice
from typing import Annotated, Any, Literal, TypeAlias, cast

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from blendwright.tool_api import Block, Example, Findings, Kind, Scene, Tool
from blendwright.tool_api.arguments import Args, AttributeName, Result, optional
from blendwright.tool_api.mentions import ObjectName
from blendwright.tool_api.promises import SAFE_IDEMPOTENT_WRITE
from blendwright.tools.checks import conflict, differs, existing_object, invalid, required_object

CUBE = ("mesh.create_primitive", {"kind": "cube", "name": "Box"})
# Largest number of values in one call.
MAX_VALUES = 1_000_000
# Largest number of findings that one check reports.
MAX_FINDINGS = 50
# Largest single-precision float: larger values would become infinite.
MAX_FLOAT = 3.4028234e38

DataType = Literal["FLOAT", "INT", "BOOLEAN", "FLOAT2", "FLOAT_VECTOR", "FLOAT_COLOR"]
Domain = Literal["POINT", "EDGE", "FACE", "CORNER"]
# Values are data and not positions, so the whole range of single precision is allowed.
Pair: TypeAlias = Annotated[tuple[float, float], Field(strict=False)]
Vector: TypeAlias = Annotated[tuple[float, float, float], Field(strict=False)]
Color: TypeAlias = Annotated[tuple[float, float, float, float], Field(strict=False)]
Value: TypeAlias = bool | int | float | Pair | Vector | Color

# Data type -> type code of the array, numbers per element, Blender's property name, and a description of one value.
LAYOUT: dict[str, tuple[str, int, str, str]] = {
    "FLOAT": ("f", 1, "value", "a number"),
    "INT": ("i", 1, "value", "a whole number of 32 bits"),
    "BOOLEAN": ("b", 1, "value", "true or false"),
    "FLOAT2": ("f", 2, "vector", "two numbers"),
    "FLOAT_VECTOR": ("f", 3, "vector", "three numbers"),
    "FLOAT_COLOR": ("f", 4, "color", "four numbers"),
}
# Names with a special meaning: the first ones are geometry and must not be set, the others have a fixed type and
# domain.
RESERVED = frozenset({"position", "custom_normal", "normal", "velocity"})
FIXED: dict[str, tuple[DataType, Domain]] = {
    "material_index": ("INT", "FACE"),
    "sharp_face": ("BOOLEAN", "FACE"),
    "sharp_edge": ("BOOLEAN", "EDGE"),
    "crease_vert": ("FLOAT", "POINT"),
    "crease_edge": ("FLOAT", "EDGE"),
    "bevel_weight_vert": ("FLOAT", "POINT"),
    "bevel_weight_edge": ("FLOAT", "EDGE"),
}


class SetAttributeArgs(Args):
    object: ObjectName = Field(description="Name of the mesh object. Objects that share its mesh change too.")
    name: AttributeName = Field(
        min_length=1, description="Name of the attribute, at most 67 bytes; it is created if it does not exist."
    )
    type: DataType = Field(description="Type of its values; FLOAT2 with domain CORNER is a UV map.")
    domain: Domain = Field(
        default="POINT", description="Elements that have a value: vertices, edges, faces or face corners."
    )
    value: Value | None = optional("One value for all elements; colours are linear RGBA.")
    values: list[Value] | None = optional(
        "One value for each element, in the order of their indices.", max_length=MAX_VALUES
    )

    @model_validator(mode="after")
    def one_of_two(self) -> SetAttributeArgs:
        if (self.value is None) == (self.values is None):
            raise PydanticCustomError("one_of", "give either 'value' or 'values', not both")
        return self


class AttributeSet(Result):
    """The attribute after the call."""

    object: str = Field(description="Name of the object.")
    name: str = Field(description="Name of the attribute.")
    count: int = Field(description="Number of elements that have a value.")
    created: bool = Field(description="Whether the attribute was new.")


class SetAttribute(Tool[SetAttributeArgs, AttributeSet]):
    """Write a named attribute of a mesh: one value for all elements or one per element, for geometry nodes and shaders."""

    name = "mesh.set_attribute"
    promises = SAFE_IDEMPOTENT_WRITE.writes_to(Kind.MESH).needs("mesh_write")
    examples = (
        Example({"object": "Box", "name": "heat", "type": "FLOAT", "value": 0.5}, CUBE),
        Example(
            {"object": "Box", "name": "tint", "type": "FLOAT_COLOR", "domain": "FACE", "values": [[1, 0, 0, 1]] * 6},
            CUBE,
        ),
    )

    def check(self, scene: Scene, args: SetAttributeArgs) -> Findings:
        yield from _bad_name(args)
        yield from islice(_bad_values(args), MAX_FINDINGS)
        obj = yield from existing_object(scene, args.object, "/object", "MESH")
        if obj is None:
            return
        yield from _collision(obj, args)
        count = len(_elements(obj.data, args.domain))
        if args.values is not None and len(args.values) != count:
            message = f"values has {len(args.values)} entries for {count} elements of domain {args.domain}"
            yield invalid(message, "/values", f"Give {count} values, or a single 'value'.")

    def apply(self, scene: Scene, args: SetAttributeArgs) -> AttributeSet:
        mesh = required_object(scene, args.object, "/object").data
        requested = _requested_values(mesh, args)
        existing = mesh.attributes.get(args.name)
        created = existing is None
        if existing is None or _stored_values(existing, args) != requested:
            scene.edit(mesh)
            attribute = mesh.attributes.get(args.name) or mesh.attributes.new(args.name, args.type, args.domain)
            attribute.data.foreach_set(LAYOUT[args.type][2], requested)
            mesh.update()
        count = len(_elements(mesh, args.domain))
        return AttributeSet(object=args.object, name=args.name, count=count, created=created)

    def verify(self, scene: Scene, args: SetAttributeArgs, result: AttributeSet) -> Findings:
        mesh = required_object(scene, args.object, "/object").data
        attribute = mesh.attributes.get(args.name)
        yield from differs("the presence of the attribute", True, attribute is not None, "/name")
        if attribute is not None:
            equal = _stored_values(attribute, args) == _requested_values(mesh, args)
            at = "/value"
            if args.values:
                at = "/values"
            yield from differs("that its values are as requested", True, equal, at)


def _bad_name(args: SetAttributeArgs) -> Findings:
    if args.name in RESERVED or args.name.startswith("."):
        message = f"the name '{args.name}' is reserved by Blender"
        yield invalid(message, "/name", "Choose another name, without a leading dot.")
    fixed = FIXED.get(args.name)
    if fixed and fixed != (args.type, args.domain):
        message = f"Blender supports '{args.name}' only with type {fixed[0]} and domain {fixed[1]}"
        yield invalid(message, "/name", f"Use type {fixed[0]} and domain {fixed[1]}, or another name.")


def _bad_values(args: SetAttributeArgs) -> Findings:
    entries = [("/value", args.value)]
    if args.values is not None:
        entries = [(f"/values/{index}", value) for index, value in enumerate(args.values)]
    for at, value in entries:
        if not _fits(value, args.type):
            message = f"{value!r} is not a value of type {args.type}"
            yield invalid(message, at, f"Give {LAYOUT[args.type][3]}, or change 'type'.")


def _fits(value: Any, kind: DataType) -> bool:
    if isinstance(value, bool) or kind == "BOOLEAN":
        return isinstance(value, bool) and kind == "BOOLEAN"
    if kind == "INT":
        return isinstance(value, int) and -(2**31) <= value < 2**31
    numbers: tuple[float, ...] = (value,)
    if isinstance(value, tuple):
        numbers = cast("tuple[float, ...]", value)
    return len(numbers) == LAYOUT[kind][1] and all(abs(number) <= MAX_FLOAT for number in numbers)


def _collision(obj: Block, args: SetAttributeArgs) -> Findings:
    existing = obj.data.attributes.get(args.name)
    if existing is not None and (existing.data_type, existing.domain) != (args.type, args.domain):
        message = f"attribute '{args.name}' already exists with type {existing.data_type} and domain {existing.domain}"
        fix = f"Use type {existing.data_type} and domain {existing.domain}, or another name."
        yield conflict(message, "/name", fix)
    elif existing is None and obj.vertex_groups.get(args.name) is not None:
        message = f"'{args.name}' is a vertex group of the object; groups and attributes must have different names"
        yield conflict(message, "/name", "Use another name.")


def _elements(mesh: Block, domain: Domain) -> Sequence[Any]:
    return {"POINT": mesh.vertices, "EDGE": mesh.edges, "FACE": mesh.polygons, "CORNER": mesh.loops}[domain]


def _requested_values(mesh: Block, args: SetAttributeArgs) -> array[Any]:
    """Return the requested values as Blender stores them: flat and in single precision."""
    code, width, *_ = LAYOUT[args.type]
    values: Any = args.values
    if values is None:
        values = [args.value]
    if width > 1:
        values = chain.from_iterable(values)
    flat = array(code, values)
    if args.values is None:
        return flat * len(_elements(mesh, args.domain))
    return flat


def _stored_values(attribute: Block, args: SetAttributeArgs) -> array[Any]:
    code, width, name, _ = LAYOUT[args.type]
    stored = array(code, bytes(array(code).itemsize * width * len(attribute.data)))
    attribute.data.foreach_get(name, stored)
    return stored
