from __future__ import annotations

from typing import Annotated, Any, Literal, cast

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from blendwright.tool_api import Block, Example, Findings, Kind, Scene, Tool
from blendwright.tool_api.arguments import Args, InnerName, renamed
from blendwright.tool_api.mentions import ObjectName
from blendwright.tool_api.promises import SAFE_IDEMPOTENT_WRITE
from blendwright.tools.animation_data import channel_conflicts, custom_path
from blendwright.tools.checks import conflict, differs, existing_object
from blendwright.tools.settings import ObjectChanged

EMPTY = ("object.create_empty", {"name": "Marker"})
LARGEST = 2**31 - 1

Number = int | float
Numbers = Annotated[list[Number], Field(min_length=1, max_length=10_000)]
Value = bool | Number | Annotated[str, Field(max_length=100_000)] | Numbers | None


class SetPropertyArgs(Args):
    object: ObjectName = renamed("object", "name", description="Name of the object.")
    key: InnerName = Field(min_length=1, description="Name of the custom property, at most 63 bytes.")
    value: Value = Field(description="A boolean, a number, a text or an array of numbers; null removes the property.")
    number_type: Literal["auto", "int", "float"] = Field(
        default="auto", description="How numbers are kept. auto: as int when all are whole (2.0 is), else as float."
    )

    @model_validator(mode="after")
    def _can_be_kept(self) -> SetPropertyArgs:
        numbers = _numbers(self.value)
        if numbers and self.number_type == "int" and not all(_whole(number) for number in numbers):
            raise PydanticCustomError("not_whole", "number_type int takes whole numbers only")
        if numbers and _as_int(self.number_type, numbers) and any(not -LARGEST - 1 <= n <= LARGEST for n in numbers):
            raise PydanticCustomError(
                "too_large", "Blender keeps whole numbers of 32 bits; set number_type to float for larger ones"
            )
        return self

    def stored_value(self) -> Any:
        """The value as Blender is to keep it. JSON does not tell 2 from 2.0, so neither may the outcome."""
        numbers = _numbers(self.value)
        if not numbers:
            return self.value
        kind = int if _as_int(self.number_type, numbers) else float
        return [kind(number) for number in numbers] if isinstance(self.value, list) else kind(numbers[0])


class SetProperty(Tool[SetPropertyArgs, ObjectChanged]):
    """Set or remove a custom property of an object."""

    name = "object.set_property"
    promises = SAFE_IDEMPOTENT_WRITE.writes_to(Kind.OBJECT).needs("object_write")
    examples = (
        Example({"object": "Marker", "key": "mass", "value": 2.5}, EMPTY),
        Example({"object": "Marker", "key": "part", "value": "hull"}, EMPTY),
        Example({"object": "Marker", "key": "size", "value": [1, 2, 3], "number_type": "float"}, EMPTY),
        Example(
            {"object": "Marker", "key": "mass", "value": None},
            EMPTY,
            ("object.set_property", {"object": "Marker", "key": "mass", "value": 1}),
        ),
    )

    def check(self, scene: Scene, args: SetPropertyArgs) -> Findings:
        obj = yield from existing_object(scene, args.object, "/object")
        if obj is None:
            return
        registered = obj.bl_rna.properties.get(args.key)
        if registered is not None and registered.is_runtime:
            # Before Blender 5.0 add-ons keep their settings in the same place.
            yield conflict(f"'{args.key}' is the name of an add-on's settings", "/key", "Choose another key.")
        yield from channel_conflicts(scene, obj, custom_path(args.key), "/key")

    def apply(self, scene: Scene, args: SetPropertyArgs) -> ObjectChanged:
        obj = scene.require(Kind.OBJECT, args.object, "/object")
        value = args.stored_value()
        if _identical(value, _current_value(obj, args.key)):
            return ObjectChanged(object=args.object, changed=False)
        if value is None:
            scene.drop_item(obj, args.key)
        else:
            scene.set_item(obj, args.key, value)
        return ObjectChanged(object=args.object, changed=True)

    def verify(self, scene: Scene, args: SetPropertyArgs, result: ObjectChanged) -> Findings:
        actual = _current_value(scene.require(Kind.OBJECT, args.object, "/object"), args.key)
        if not _identical(args.stored_value(), actual):
            yield from differs(f"the property '{args.key}'", args.stored_value(), actual, "/value")
            yield from differs(f"the type of '{args.key}'", _type(args.stored_value()), _type(actual), "/value")


def _current_value(obj: Block, key: str) -> Any:
    """A custom property as plain data; None when there is none."""
    value = obj.get(key)
    if hasattr(value, "to_dict"):
        return value.to_dict()
    return value.to_list() if hasattr(value, "to_list") else value


def _identical(requested: Any, actual: Any) -> bool:
    # Saving a file turns booleans into integers.
    return requested == actual and (_type(requested) == _type(actual) or isinstance(requested, bool))


def _type(value: Any) -> str:
    if not isinstance(value, list):
        return type(value).__name__
    inner = cast("list[Any]", value)
    return f"list of {_type(inner[0])}" if inner else "empty list"


def _numbers(value: Value) -> list[Number]:
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return []
    return value if isinstance(value, list) else [value]


def _whole(number: Number) -> bool:
    return number == int(number)


def _as_int(number_type: str, numbers: list[Number]) -> bool:
    return number_type == "int" or (number_type == "auto" and all(_whole(number) for number in numbers))
