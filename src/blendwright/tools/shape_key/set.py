from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from blendwright.tool_api import Args, Block, Example, Findings, Kind, Scene, Tool
from blendwright.tool_api.arguments import InnerName, optional
from blendwright.tool_api.mentions import ObjectName
from blendwright.tool_api.promises import SAFE_IDEMPOTENT_WRITE
from blendwright.tools.checks import conflict, differs, existing_object, invalid, required_object
from blendwright.tools.shape_key.create import Slider, missing_group, refuse_bad_range
from blendwright.tools.shape_key.shapes import (
    ShapeKeysChanged,
    existing_key,
    find_key,
    held_values,
    key_blocks,
    reports,
)

BOX = ("mesh.create_primitive", {"kind": "cube", "name": "Box"})
WIDE = (
    "shape_key.create",
    {"object": "Box", "name": "Wide", "operations": [{"op": "transform", "select": "all", "scale": [2, 1, 1]}]},
)
TALL = (
    "shape_key.create",
    {
        "object": "Box",
        "name": "Tall",
        "value": 1,
        "operations": [{"op": "transform", "select": "all", "scale": [1, 1, 2]}],
    },
)


class ShapeKeySettings(BaseModel):
    """Settings of one shape key; omitted ones stay unchanged."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False, defer_build=True)

    name: InnerName = Field(min_length=1, description="Name of the shape key.")
    value: Slider | None = optional("Influence of the key.")
    minimum: Slider | None = optional("Smallest value.")
    maximum: Slider | None = optional("Largest value.")
    mute: bool | None = optional("Whether the key has no effect.")
    relative_to: InnerName | None = optional("Shape key that this key is relative to.", min_length=1)
    vertex_group: InnerName | None = optional("Vertex group that limits the key; an empty name means none.")

    @model_validator(mode="after")
    def _check_range(self) -> ShapeKeySettings:
        refuse_bad_range(self.value, self.minimum, self.maximum)
        return self

    def properties(self) -> dict[str, tuple[str, Any]]:
        """Return the requested settings: Blender's name -> the argument's name and the value. The range precedes the value."""
        names = {
            "maximum": "slider_max",
            "minimum": "slider_min",
            "value": "value",
            "mute": "mute",
            "vertex_group": "vertex_group",
        }
        requested: dict[str, tuple[str, Any]] = {}
        for name, attribute in names.items():
            value = getattr(self, name)
            if value is not None:
                requested[attribute] = (name, value)
        return requested


class SetShapeKeysArgs(Args):
    object: ObjectName = Field(description="Name of the mesh object; objects that share its mesh change too.")
    shape_keys: Annotated[list[ShapeKeySettings], Field(max_length=1000)] = Field(
        default=[], description="The shape keys to set."
    )
    to_zero: bool = Field(default=False, description="First set the values of all shape keys to 0.")

    @model_validator(mode="after")
    def _require_a_change(self) -> SetShapeKeysArgs:
        if not self.shape_keys and not self.to_zero:
            raise PydanticCustomError("nothing_asked", "give shape_keys, to_zero, or both")
        return self


class SetShapeKeys(Tool[SetShapeKeysArgs, ShapeKeysChanged]):
    """Set value, range, relative key or mute of shape keys; several in one call, or all values to 0."""

    name = "shape_key.set"
    promises = SAFE_IDEMPOTENT_WRITE.writes_to(Kind.MESH, Kind.SHAPE_KEY).needs("mesh_write")
    examples = (
        Example(
            {
                "object": "Box",
                "shape_keys": [
                    {"name": "Wide", "value": 1.5, "maximum": 2, "relative_to": "Tall"},
                    {"name": "Tall", "mute": True},
                ],
            },
            BOX,
            WIDE,
            TALL,
        ),
        Example({"object": "Box", "to_zero": True, "shape_keys": [{"name": "Wide", "value": 0.5}]}, BOX, WIDE, TALL),
    )

    def check(self, scene: Scene, args: SetShapeKeysArgs) -> Findings:
        obj = yield from existing_object(scene, args.object, "/object", "MESH")
        if obj is None:
            return
        first_numbers: dict[str, int] = {}
        for number, settings in enumerate(args.shape_keys):
            at = f"/shape_keys/{number}"
            first_number = first_numbers.setdefault(settings.name, number)
            if first_number != number:
                message = f"/shape_keys/{first_number} already sets '{settings.name}'"
                yield invalid(message, f"{at}/name", "Name each shape key once.")
            key = yield from existing_key(obj, settings.name, f"{at}/name")
            if key is not None:
                yield from self._problems(scene, obj, key, settings, at)
        if args.to_zero:
            for key in _keys_without_value(obj, args):
                yield from held_values(scene, key, "/to_zero")
                if not key.slider_min <= 0.0 <= key.slider_max:
                    message = (
                        f"the range of '{key.name}' from {key.slider_min:g} to {key.slider_max:g} does not include 0"
                    )
                    yield conflict(message, "/to_zero", "Change its range, or give it a value in shape_keys.")

    def _problems(self, scene: Scene, obj: Block, key: Block, settings: ShapeKeySettings, at: str) -> Findings:
        low, high, value = key.slider_min, key.slider_max, key.value
        range_at = f"{at}/maximum"
        if settings.maximum is not None:
            high = settings.maximum
        if settings.minimum is not None:
            low = settings.minimum
            range_at = f"{at}/minimum"
        value_at = range_at
        if settings.value is not None:
            value = settings.value
            value_at = f"{at}/value"
        if low >= high:
            yield conflict(f"the range would be from {low:g} to {high:g}", range_at, "Give minimum and maximum.")
        if settings.value is not None:
            yield from held_values(scene, key, value_at)
        if not low <= value <= high:
            message = f"the value would be {value:g}, outside the range from {low:g} to {high:g}"
            yield conflict(message, value_at, "Give a value inside the range, or change minimum or maximum.")
        if settings.relative_to is not None:
            yield from existing_key(obj, settings.relative_to, f"{at}/relative_to")
            if settings.relative_to == settings.name:
                message = "a shape key cannot be relative to itself"
                yield invalid(message, f"{at}/relative_to", "Name another shape key.")
        yield from missing_group(obj, settings.vertex_group, f"{at}/vertex_group")

    def apply(self, scene: Scene, args: SetShapeKeysArgs) -> ShapeKeysChanged:
        obj = required_object(scene, args.object, "/object")
        changed = any(self._differences(obj, args))
        if changed:
            scene.edit(obj.data)
            if args.to_zero:
                for key in _keys_without_value(obj, args):
                    key.value = 0.0
            for settings in args.shape_keys:
                key: Block = find_key(obj, settings.name)
                for attribute, (_, value) in settings.properties().items():
                    setattr(key, attribute, value)
                if settings.relative_to is not None:
                    key.relative_key = find_key(obj, settings.relative_to)
            obj.data.update()
        return ShapeKeysChanged(object=args.object, shape_keys=reports(obj), changed=changed)

    def verify(self, scene: Scene, args: SetShapeKeysArgs, result: ShapeKeysChanged) -> Findings:
        yield from self._differences(required_object(scene, args.object, "/object"), args)

    def _differences(self, obj: Block, args: SetShapeKeysArgs) -> Findings:
        if args.to_zero:
            for key in _keys_without_value(obj, args):
                yield from differs(f"the value of '{key.name}'", 0.0, key.value, "/to_zero")
        for number, settings in enumerate(args.shape_keys):
            key: Block = find_key(obj, settings.name)
            at = f"/shape_keys/{number}"
            for attribute, (name, value) in settings.properties().items():
                yield from differs(f"{name} of '{key.name}'", value, getattr(key, attribute), f"{at}/{name}")
            if settings.relative_to is not None:
                what = f"the key that '{key.name}' is relative to"
                yield from differs(what, settings.relative_to, key.relative_key.name, f"{at}/relative_to")


def _keys_without_value(obj: Block, args: SetShapeKeysArgs) -> list[Block]:
    """Return the keys that get no value from the arguments, without the basis, whose value has no effect."""
    with_value = {settings.name for settings in args.shape_keys if settings.value is not None}
    return [key for key in key_blocks(obj)[1:] if key.name not in with_value]
