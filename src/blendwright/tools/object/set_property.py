from __future__ import annotations

from typing import Annotated, Any, Literal, cast

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from blendwright.tool_api import Block, Example, Findings, Kind, Scene, Tool
from blendwright.tool_api.arguments import Args, BoundedFloat, InnerName, optional, renamed
from blendwright.tool_api.mentions import ObjectName
from blendwright.tool_api.promises import SAFE_IDEMPOTENT_WRITE
from blendwright.tools.animation_data import channel_conflicts, custom_path
from blendwright.tools.bones import existing_bone, pose_bone
from blendwright.tools.checks import conflict, differs, existing_object
from blendwright.tools.settings import ObjectChanged

EMPTY = ("object.create_empty", {"name": "Marker"})
RIG = ("armature.create", {"name": "Rig", "bones": [{"name": "Hand", "head": [0, 0, 0], "tail": [0, 0, 1]}]})
# Largest whole number that Blender stores in a custom property.
MAX_INT = 2**31 - 1

Number = int | float
Numbers = Annotated[list[Number], Field(min_length=1, max_length=10_000)]
Value = bool | Number | Annotated[str, Field(max_length=100_000)] | Numbers | None


class SetPropertyArgs(Args):
    object: ObjectName = renamed("object", "name", description="Name of the object.")
    bone: InnerName | None = optional(
        "Bone of an armature that has the property. Default: the object itself.", min_length=1
    )
    key: InnerName = Field(min_length=1, description="Name of the custom property, at most 63 bytes.")
    value: Value = Field(description="A boolean, a number, a string or an array of numbers; null removes the property.")
    number_type: Literal["auto", "int", "float"] = Field(
        default="auto", description="How numbers are stored. auto: as int if all are whole (2.0 is), else as float."
    )
    minimum: BoundedFloat | None = optional("Smallest number that its slider allows.")
    maximum: BoundedFloat | None = optional("Largest number that its slider allows.")
    description: Annotated[str, Field(max_length=1000)] | None = optional(
        "Purpose of the property, shown as its tooltip."
    )

    @model_validator(mode="after")
    def _check_value(self) -> SetPropertyArgs:
        numbers = _numbers(self.value)
        if numbers and self.number_type == "int" and not all(_whole(number) for number in numbers):
            raise PydanticCustomError("not_whole", "number_type int accepts only whole numbers")
        if numbers and _as_int(self.number_type, numbers) and not all(_is_32_bit(number) for number in numbers):
            raise PydanticCustomError(
                "too_large", "Blender stores whole numbers of 32 bits; set number_type to float for larger ones"
            )
        if self.value is None and self.hints():
            raise PydanticCustomError("hints_of_nothing", "a property that is removed has no range and no description")
        if (self.minimum, self.maximum) != (None, None):
            _refuse_bad_range(numbers, self.minimum, self.maximum, whole=_as_int(self.number_type, numbers))
        return self

    def hints(self) -> dict[str, Any]:
        """Return the range and the description of the property, by Blender's names. Omitted ones stay unchanged."""
        whole = _as_int(self.number_type, _numbers(self.value))
        hints: dict[str, Any] = {}
        for name, limit in (("min", self.minimum), ("max", self.maximum)):
            if limit is None:
                continue
            if whole:
                limit = int(limit)
            else:
                limit = float(limit)
            hints[name] = limit
            hints[f"soft_{name}"] = limit
        if self.description is not None:
            hints["description"] = self.description
        return hints

    def stored_value(self) -> Any:
        """Return the value in the type that Blender stores. JSON clients may send 2 as 2.0, so both give the same type."""
        numbers = _numbers(self.value)
        if not numbers:
            return self.value
        if _as_int(self.number_type, numbers):
            kind = int
        else:
            kind = float
        if isinstance(self.value, list):
            return [kind(number) for number in numbers]
        return kind(numbers[0])


class SetProperty(Tool[SetPropertyArgs, ObjectChanged]):
    """Set or remove a custom property of an object or a bone, with its range and description."""

    name = "object.set_property"
    promises = SAFE_IDEMPOTENT_WRITE.writes_to(Kind.OBJECT).needs("object_write")
    examples = (
        Example({"object": "Marker", "key": "mass", "value": 2.5}, EMPTY),
        Example({"object": "Marker", "key": "part", "value": "hull"}, EMPTY),
        Example(
            {"object": "Marker", "key": "open", "value": 0.5, "minimum": 0, "maximum": 1, "description": "How far"},
            EMPTY,
        ),
        Example({"object": "Marker", "key": "size", "value": [1, 2, 3], "number_type": "float"}, EMPTY),
        Example(
            {"object": "Marker", "key": "mass", "value": None},
            EMPTY,
            ("object.set_property", {"object": "Marker", "key": "mass", "value": 1}),
        ),
        Example({"object": "Rig", "bone": "Hand", "key": "grip", "value": 0.5, "minimum": 0, "maximum": 1}, RIG),
    )

    def check(self, scene: Scene, args: SetPropertyArgs) -> Findings:
        obj = yield from existing_object(scene, args.object, "/object")
        if obj is None:
            return
        path = custom_path(args.key)
        if args.bone is not None:
            holder = yield from existing_bone(scene, obj, args.bone, "/bone")
            if holder is None:
                return
            path = holder.path_from_id() + path
        else:
            holder = obj
        registered = holder.bl_rna.properties.get(args.key)
        if registered is not None and registered.is_runtime:
            # Before Blender 5.0 add-ons store their settings among the custom properties.
            yield conflict(f"'{args.key}' is the name of an add-on's settings", "/key", "Choose another key.")
        yield from channel_conflicts(scene, obj, path, "/key")

    def apply(self, scene: Scene, args: SetPropertyArgs) -> ObjectChanged:
        obj = _holder(scene, args)
        value = args.stored_value()
        if _identical(value, _current_value(obj, args.key)) and not any(_hints_differ(obj, args)):
            return ObjectChanged(object=args.object, changed=False)
        if value is None:
            scene.drop_item(obj, args.key)
        else:
            scene.set_item(obj, args.key, value)
            hints = args.hints()
            if hints:
                # The journal records the whole item with its hints, so that undo restores them too.
                obj.id_properties_ui(args.key).update(**hints)
        return ObjectChanged(object=args.object, changed=True)

    def verify(self, scene: Scene, args: SetPropertyArgs, result: ObjectChanged) -> Findings:
        holder = _holder(scene, args)
        actual = _current_value(holder, args.key)
        if not _identical(args.stored_value(), actual):
            yield from differs(f"the property '{args.key}'", args.stored_value(), actual, "/value")
            yield from differs(f"the type of '{args.key}'", _type(args.stored_value()), _type(actual), "/value")
        yield from _hints_differ(holder, args)


def _holder(scene: Scene, args: SetPropertyArgs) -> Block:
    """Return the owner of the property: the object, or the pose bone."""
    obj = scene.require(Kind.OBJECT, args.object, "/object")
    if args.bone is None:
        return obj
    return pose_bone(scene, obj, args.bone)


def _hints_differ(obj: Block, args: SetPropertyArgs) -> Findings:
    """Yield the differences between the requested hints of a property and its present ones."""
    hints = args.hints()
    actual: dict[str, Any] = {}
    if hints and args.key in obj:
        actual = obj.id_properties_ui(args.key).as_dict()
    for name, value in hints.items():
        at = {"min": "/minimum", "max": "/maximum", "description": "/description"}.get(name.removeprefix("soft_"), "")
        yield from differs(f"the {name.replace('_', ' ')} of '{args.key}'", value, actual.get(name), at)


def _refuse_bad_range(numbers: list[Number], low: float | None, high: float | None, *, whole: bool) -> None:
    if not numbers:
        raise PydanticCustomError("range_of_no_number", "only numbers have a minimum and a maximum")
    if low is not None and high is not None and low > high:
        raise PydanticCustomError("crossed_range", "minimum is above maximum")
    if any((low is not None and number < low) or (high is not None and number > high) for number in numbers):
        raise PydanticCustomError("out_of_range", "value is outside the range from minimum to maximum")
    if whole and any(limit is not None and not _fits_int(limit) for limit in (low, high)):
        raise PydanticCustomError(
            "range_not_whole",
            "minimum and maximum of a whole number must be whole and have 32 bits; set number_type to float for others",
        )


def _fits_int(number: Number) -> bool:
    return _whole(number) and _is_32_bit(number)


def _is_32_bit(number: Number) -> bool:
    return -MAX_INT - 1 <= number <= MAX_INT


def _current_value(obj: Block, key: str) -> Any:
    """Return a custom property as plain data, or None if it does not exist."""
    value = obj.get(key)
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if hasattr(value, "to_list"):
        return value.to_list()
    return value


def _identical(requested: Any, actual: Any) -> bool:
    # Saving a file converts booleans to integers.
    return requested == actual and (_type(requested) == _type(actual) or isinstance(requested, bool))


def _type(value: Any) -> str:
    if not isinstance(value, list):
        return type(value).__name__
    inner = cast("list[Any]", value)
    if inner:
        return f"list of {_type(inner[0])}"
    return "empty list"


def _numbers(value: Value) -> list[Number]:
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return []
    if isinstance(value, list):
        return value
    return [value]


def _whole(number: Number) -> bool:
    return number == int(number)


def _as_int(number_type: str, numbers: list[Number]) -> bool:
    return number_type == "int" or (number_type == "auto" and all(_whole(number) for number in numbers))
