"""Tool driver.set"""

from __future__ import annotations

import keyword
import math
import re
from collections.abc import Mapping
from typing import Annotated

from pydantic import Field, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from blendwright.tool_api.promises import SAFE_IDEMPOTENT_WRITE
from blendwright.tool_api.scene import Block, Kind, Scene
from blendwright.tool_api.tool import Example, Findings, Tool
from blendwright.tools.animation_data import curves
from blendwright.tools.checks import conflict, differs, existing_object, required_object
from blendwright.tools.constraint.dependencies import depends_on
from blendwright.tools.driver import expression
from blendwright.tools.driver.driven_channel import (
    TRANSFORM_TYPES,
    DrivenChannel,
    DriverResult,
    DriverVariable,
    Variables,
    find_driver,
    number_findings,
)

DOOR = ("mesh.create_primitive", {"kind": "cube", "name": "Door"})
OPEN = ("object.set_property", {"object": "Door", "key": "open", "value": 0.5, "number_type": "float"})
KNOB = ("object.create_empty", {"name": "Knob", "location": [1, 2, 3]})

VARIABLE = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,62}")
# Largest length of an expression in bytes: Blender stores no more.
MAX_EXPRESSION_BYTES = 255


class SetDriverArgs(DrivenChannel):
    variables: Variables = Field(default={}, description="The numbers that the names in the expression refer to.")
    expression: Annotated[str, Field(min_length=1, max_length=MAX_EXPRESSION_BYTES)] = Field(
        description="Value of the channel, angles in degrees. Allowed are numbers, variables, + - * / **, parentheses, "
        "pi, frame (the current frame), and the functions abs min max pow sin cos tan (of radians) sqrt floor ceil "
        "clamp(x, low, high) lerp(a, b, factor) smoothstep(low, high, x) radians degrees."
    )

    @field_validator("variables")
    @classmethod
    def _have_valid_names(cls, variables: dict[str, DriverVariable]) -> dict[str, DriverVariable]:
        for name in variables:
            is_reserved = name in expression.FUNCTIONS or name in expression.KNOWN or keyword.iskeyword(name)
            if is_reserved or not VARIABLE.fullmatch(name):
                message = (
                    "'{name}' cannot name a variable: use letters, digits and _, and no function name or Python keyword"
                )
                raise PydanticCustomError("variable_name", message, {"name": name})
        return variables

    @field_validator("expression")
    @classmethod
    def _is_valid(cls, text: str, info: ValidationInfo) -> str:
        if "channel" not in info.data or "variables" not in info.data:
            return text  # their own validators report the error
        variables: dict[str, DriverVariable] = info.data["variables"]
        try:
            written = _written(text, info.data["channel"], variables)
        except expression.ExpressionError as error:
            raise PydanticCustomError(
                "expression", "the expression is invalid at {error}", {"error": str(error)}
            ) from None
        unused = sorted(variables.keys() - expression.names_in(text))
        if unused:
            raise PydanticCustomError("unused_variable", "the expression does not use '{name}'", {"name": unused[0]})
        if len(written) > MAX_EXPRESSION_BYTES:
            context = {"most": MAX_EXPRESSION_BYTES, "length": len(written)}
            raise PydanticCustomError(
                "long_expression", "the expression has {length} characters in Blender's form, more than {most}", context
            )
        return text

    def written(self) -> str:
        """Return the expression in the form that Blender evaluates."""
        return _written(self.expression, self.channel, self.variables)


def _written(text: str, channel: str, variables: Mapping[str, DriverVariable]) -> str:
    """Return the expression in Blender's form, with angles converted from degrees to radians, the unit of Blender's
    channels.
    """
    forms = {name: name for name in variables}
    for name, variable in variables.items():
        if variable.channel == "rotation_euler_deg":
            forms[name] = f"degrees({name})"
    inner = expression.written_for_blender(text, forms)
    if channel == "rotation_euler_deg":
        return f"radians({inner})"
    return inner


class SetDriver(Tool[SetDriverArgs, DriverResult]):
    """Drive a channel or custom property of an object by an expression.

    The expression can use other channels and properties. An existing driver is replaced. The expression uses a small
    language that Blender evaluates itself; it never runs as Python.
    """

    name = "driver.set"
    promises = SAFE_IDEMPOTENT_WRITE.writes_to(Kind.OBJECT).needs("animation_write")
    examples = (
        Example(
            {
                "object": "Door",
                "channel": "rotation_euler_deg",
                "axis": "Z",
                "expression": "clamp(open, 0, 1) * 90",
                "variables": {"open": {"object": "Door", "channel": "property", "property": "open"}},
            },
            DOOR,
            OPEN,
        ),
        Example(
            {
                "object": "Door",
                "channel": "location",
                "axis": "X",
                "expression": "-(height ** 2) / 2 + frame",
                "variables": {"height": {"object": "Knob", "channel": "location", "axis": "Z", "space": "world"}},
            },
            DOOR,
            KNOB,
        ),
    )

    def check(self, scene: Scene, args: SetDriverArgs) -> Findings:
        obj = yield from existing_object(scene, args.object, "/object")
        for name, variable in args.variables.items():
            at = f"/variables/{name}"
            source = yield from existing_object(scene, variable.object, f"{at}/object")
            if source is not None:
                yield from number_findings(source, variable, at)
                if obj is not None and _is_cycle(args, obj, variable, source):
                    message = f"variable '{name}' depends on the driven channel"
                    yield conflict(message, at, "Read a channel that does not depend on this object.")
        if obj is None:
            return
        yield from number_findings(obj, args, "")
        if any(curve.array_index == args.index() for curve in curves(scene, obj, args.path())):
            message = f"{args.path()} of '{args.object}' has keyframes, which a driver would override"
            yield conflict(message, "/channel", "Remove them first with animation.clear.")

    def apply(self, scene: Scene, args: SetDriverArgs) -> DriverResult:
        obj = required_object(scene, args.object, "/object")
        changed = any(_differences(scene, args, obj))
        if changed:
            scene.edit(obj)
            if find_driver(obj, args) is not None:
                _remove(obj, args)
            if args.axis:
                curve = obj.driver_add(args.path(), args.index())
            else:
                curve = obj.driver_add(args.path())
            # The default curve differs between Blender versions; without points and modifiers it passes the value
            # unchanged.
            for modifier in list(curve.modifiers):
                curve.modifiers.remove(modifier)
            curve.keyframe_points.clear()
            curve.driver.type = "SCRIPTED"
            for name, variable in args.variables.items():
                _add_variable(scene, curve.driver, name, variable)
            curve.driver.expression = args.written()
        return DriverResult(
            object=args.object,
            path=args.path(),
            expression=args.written(),
            changed=changed,
            value=channel_value(scene, args, obj),
        )

    def verify(self, scene: Scene, args: SetDriverArgs, result: DriverResult) -> Findings:
        yield from _differences(scene, args, required_object(scene, args.object, "/object"))


def channel_value(scene: Scene, args: DrivenChannel, obj: Block) -> float | None:
    """Return the evaluated value of a channel, angles in degrees; None if Blender does not evaluate it or it is not
    finite.
    """
    evaluated = scene.evaluated(obj)
    if not evaluated.is_evaluated:
        return None
    value = evaluated.path_resolve(args.path())
    if args.axis is not None:
        value = value[args.index()]
    number = float(value)
    if not math.isfinite(number):
        return None
    if args.channel == "rotation_euler_deg":
        number = math.degrees(number)
    return number + 0.0  # turns -0.0 into 0.0


def _remove(obj: Block, args: DrivenChannel) -> None:
    if args.axis:
        obj.driver_remove(args.path(), args.index())
    else:
        obj.driver_remove(args.path())


def _add_variable(scene: Scene, driver: Block, name: str, variable: DriverVariable) -> None:
    new = driver.variables.new()
    new.name = name
    if variable.space == "world":
        new.type = "TRANSFORMS"
    else:
        new.type = "SINGLE_PROP"
    target = new.targets[0]
    target.id = scene.require(Kind.OBJECT, variable.object, f"/variables/{name}/object")
    if variable.space == "world":
        target.transform_type = f"{TRANSFORM_TYPES[variable.channel]}_{variable.axis}"
        target.transform_space = "WORLD_SPACE"
    else:
        target.data_path = variable.path()


def _differences(scene: Scene, args: SetDriverArgs, obj: Block) -> Findings:
    curve = find_driver(obj, args)
    yield from differs("the presence of the driver", True, curve is not None, "/channel")
    if curve is None:
        return
    driver = curve.driver
    yield from differs("that the driver is active", True, not curve.mute and driver.type == "SCRIPTED", "/channel")
    yield from differs(
        "the number of its curve points and modifiers", 0, len(curve.modifiers) + len(curve.keyframe_points), "/channel"
    )
    yield from differs("its expression", args.written(), driver.expression, "/expression")
    yield from differs("that Blender evaluates it without Python", True, driver.is_simple_expression, "/expression")
    names = [item.name for item in driver.variables]
    yield from differs("its variables", list(args.variables), names, "/variables")
    for item in driver.variables:
        variable = args.variables.get(item.name)
        if variable is not None:
            yield from differs(f"variable {item.name}", _expected(variable), _actual(item), f"/variables/{item.name}")


def _expected(variable: DriverVariable) -> list[str]:
    if variable.space == "world":
        kind = f"{TRANSFORM_TYPES[variable.channel]}_{variable.axis}"
        return ["TRANSFORMS", variable.object, kind, "WORLD_SPACE"]
    return ["SINGLE_PROP", variable.object, variable.path()]


def _actual(variable: Block) -> list[str | None]:
    target = variable.targets[0]
    if target.id is None:
        name = None
    else:
        name = target.id.name
    if variable.type == "TRANSFORMS":
        return [variable.type, name, target.transform_type, target.transform_space]
    return [variable.type, name, target.data_path]


def _is_cycle(args: SetDriverArgs, obj: Block, variable: DriverVariable, source: Block) -> bool:
    if variable.space == "world":
        return args.channel != "property" and depends_on(source, obj)
    driven_path = args.path()
    if args.axis is not None:
        driven_path = f"{driven_path}[{args.index()}]"
    return source == obj and variable.path() == driven_path
