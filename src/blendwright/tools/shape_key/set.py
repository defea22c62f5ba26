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
    """Settings of one shape key; what is left out stays as it is."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False, defer_build=True)

    name: InnerName = Field(min_length=1, description="Name of the shape key.")
    value: Slider | None = optional("How much of it shows.")
    minimum: Slider | None = optional("Least value.")
    maximum: Slider | None = optional("Greatest value.")
    mute: bool | None = optional("Leave it out.")
    relative_to: InnerName | None = optional("Shape key that it is the difference to.", min_length=1)
    vertex_group: InnerName | None = optional("Vertex group that it is held to; an empty name means none.")

    @model_validator(mode="after")
    def _range(self) -> ShapeKeySettings:
        refuse_bad_range(self.value, self.minimum, self.maximum)
        return self

    def properties(self) -> dict[str, tuple[str, Any]]:
        """What is given: Blender's name of it -> its name here, and the value; the range before what it bounds."""
        names = {
            "maximum": "slider_max",
            "minimum": "slider_min",
            "value": "value",
            "mute": "mute",
            "vertex_group": "vertex_group",
        }
        return {names[name]: (name, value) for name in names if (value := getattr(self, name)) is not None}


class SetShapeKeysArgs(Args):
    object: ObjectName = Field(description="Name of the mesh object; others that share its mesh change with it.")
    shape_keys: Annotated[list[ShapeKeySettings], Field(max_length=1000)] = Field(
        default=[], description="The shape keys to set."
    )
    to_zero: bool = Field(default=False, description="First put the values of all shape keys to 0.")

    @model_validator(mode="after")
    def _asks_something(self) -> SetShapeKeysArgs:
        if not self.shape_keys and not self.to_zero:
            raise PydanticCustomError("nothing_asked", "give shape_keys, to_zero, or both")
        return self


class SetShapeKeys(Tool[SetShapeKeysArgs, ShapeKeysChanged]):
    """Set value, range, relative key or mute of shape keys; several at once, or all values back to 0."""

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
        first: dict[str, int] = {}
        for number, settings in enumerate(args.shape_keys):
            at = f"/shape_keys/{number}"
            if first.setdefault(settings.name, number) != number:
                message = f"/shape_keys/{first[settings.name]} sets '{settings.name}' already"
                yield invalid(message, f"{at}/name", "Name it once.")
            key = yield from existing_key(obj, settings.name, f"{at}/name")
            if key is not None:
                yield from self._problems(scene, obj, key, settings, at)
        if args.to_zero:
            for key in _others(obj, args):
                yield from held_values(scene, key, "/to_zero")
                if not key.slider_min <= 0.0 <= key.slider_max:
                    message = f"'{key.name}' goes from {key.slider_min:g} to {key.slider_max:g}, which has no 0"
                    yield conflict(message, "/to_zero", "Give it another range, or a value of its own.")

    def _problems(self, scene: Scene, obj: Block, key: Block, settings: ShapeKeySettings, at: str) -> Findings:
        if settings.minimum is not None:
            low = settings.minimum
        else:
            low = key.slider_min
        if settings.maximum is not None:
            high = settings.maximum
        else:
            high = key.slider_max
        if low >= high:
            if settings.minimum is not None:
                field = "minimum"
            else:
                field = "maximum"
            yield conflict(f"the range would go from {low:g} to {high:g}", f"{at}/{field}", "Give both ends.")
        if settings.value is not None:
            yield from held_values(scene, key, f"{at}/value")
        if settings.value is not None:
            value = settings.value
        else:
            value = key.value
        if not low <= value <= high:
            message = f"the value would be {value:g}, outside of {low:g} to {high:g}"
            if settings.value is not None:
                field = "value"
            elif settings.minimum is not None:
                field = "minimum"
            else:
                field = "maximum"
            yield conflict(message, f"{at}/{field}", "Give a value inside, or minimum and maximum around it.")
        if settings.relative_to is not None:
            yield from existing_key(obj, settings.relative_to, f"{at}/relative_to")
            if settings.relative_to == settings.name:
                yield invalid("a shape key is not relative to itself", f"{at}/relative_to", "Name another one.")
        yield from missing_group(obj, settings.vertex_group, f"{at}/vertex_group")

    def apply(self, scene: Scene, args: SetShapeKeysArgs) -> ShapeKeysChanged:
        obj = required_object(scene, args.object, "/object")
        changed = any(self._differences(obj, args))
        if changed:
            scene.edit(obj.data)
            for key in _others(obj, args) if args.to_zero else ():
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
        for key in _others(obj, args) if args.to_zero else ():
            yield from differs(f"the value of '{key.name}'", 0.0, key.value, "/to_zero")
        for number, settings in enumerate(args.shape_keys):
            key: Block = find_key(obj, settings.name)
            at = f"/shape_keys/{number}"
            for attribute, (name, value) in settings.properties().items():
                yield from differs(f"{name} of '{key.name}'", value, getattr(key, attribute), f"{at}/{name}")
            if settings.relative_to is not None:
                actual = key.relative_key.name
                yield from differs(
                    f"what '{key.name}' is relative to", settings.relative_to, actual, f"{at}/relative_to"
                )


def _others(obj: Block, args: SetShapeKeysArgs) -> list[Block]:
    """The keys whose values are only to be 0; the basis has none that counts."""
    given = {settings.name for settings in args.shape_keys if settings.value is not None}
    return [key for key in key_blocks(obj)[1:] if key.name not in given]
