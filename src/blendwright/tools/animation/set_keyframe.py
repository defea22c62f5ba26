"""animation.set_keyframe"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from blendwright.tool_api.arguments import LARGEST, Args, InnerName, Name, Result, optional
from blendwright.tool_api.mentions import ObjectName
from blendwright.tool_api.promises import SAFE_IDEMPOTENT_WRITE
from blendwright.tool_api.scene import Block, Kind, Scene
from blendwright.tool_api.tool import Example, Findings, Tool
from blendwright.tools.animation import channels
from blendwright.tools.animation_data import LAYERED, action_of, action_sharers, curve_list, curves, is_driven
from blendwright.tools.checks import close, conflict, differs, existing_object, required_object

BOX = ("mesh.create_primitive", {"kind": "cube", "name": "Box"})
MASS = ("object.set_property", {"object": "Box", "key": "mass", "value": 2.5})
START = ("animation.set_keyframe", {"object": "Box", "channel": "location", "frame": 1, "value": [0, 0, 0]})
LAMP = ("light.create", {"name": "Lamp", "type": "POINT"})
GOAL = ("object.create_empty", {"name": "Goal", "location": [0, 3, 2]})
FOLLOW = (
    "constraint.add",
    {"object": "Box", "name": "Follow", "settings": {"type": "COPY_LOCATION", "target": "Goal"}},
)
LATEST = 1_048_574
ROTATIONS = ("rotation_euler", "rotation_quaternion", "rotation_axis_angle")

Number = int | float
Numbers = Annotated[list[Number], Field(min_length=1, max_length=64)]
Easing = Literal["SINE", "QUAD", "CUBIC", "QUART", "QUINT", "EXPO", "CIRC", "BACK", "BOUNCE", "ELASTIC"]
Interpolation = Literal["CONSTANT", "LINEAR", "BEZIER", Easing]


def _example(channel: str, frame: int, value: Any, *given: Any, **more: Any) -> Example:
    """A key of a box; `given` is what else is there."""
    return Example({"object": "Box", "channel": channel, "frame": frame, "value": value, **more}, BOX, *given)


class AnimatedObject(Args):
    object: ObjectName = Field(description="Name of the object.")


class Keyframe(Args):
    """The value of one channel at one frame."""

    channel: channels.Channel = Field(
        description="What is animated; property is the custom property named by the argument property."
    )
    property: Name | None = optional("Key of the custom property, for channel property only.")
    constraint: InnerName | None = optional("Name of the constraint, for channels of a constraint only.", min_length=1)
    frame: Annotated[int, Field(ge=-LATEST, le=LATEST)] = Field(description="Frame of the key.")
    value: bool | Number | Numbers = Field(
        description="Value at that frame: X, Y, Z in metres for location, in degrees for rotation_euler_deg, factors for scale; "
        "W, X, Y, Z for rotation_quaternion; true (hidden) or false for hide_render; a number, boolean or array for property; a "
        "number for channels of a constraint (influence from 0 to 1; factor along the curve of a FOLLOW_PATH); watts (of a "
        "sun: strength) and linear RGB for lights; millimetres for camera_lens, metres for camera_focus_distance."
    )
    interpolation: Interpolation | None = optional(
        "How the value runs to the next key; when left out BEZIER, and CONSTANT for what has no values in between."
    )

    @model_validator(mode="after")
    def _value_fits_the_channel(self) -> Keyframe:
        channels.refuse_stray_property(self.channel, self.property)
        channels.refuse_stray_constraint(self.channel, self.constraint)
        if self.channel == "hide_render":
            if not isinstance(self.value, bool):
                raise PydanticCustomError("value_not_boolean", "hide_render takes true or false")
        elif self.constraint is not None:
            if isinstance(self.value, bool | list) or abs(self.value) > LARGEST:
                raise PydanticCustomError("value_no_number", "a channel of a constraint takes one number")
        elif self.channel != "property":
            count = channels.PATHS[self.channel][1]
            fits = not isinstance(self.value, bool | list) if count == 1 else isinstance(self.value, list)
            if not fits or len(channels.elements(self.value)) != count:
                context = {"channel": self.channel, "count": count}
                raise PydanticCustomError("value_count", "{channel} takes {count} numbers", context)
            if any(abs(number) > LARGEST for number in channels.elements(self.value)):
                context = {"channel": self.channel, "most": LARGEST}
                raise PydanticCustomError("value_too_large", "{channel} takes numbers up to {most}", context)
        if self.channel in channels.OF_DATA:
            channels.refuse_small_value(self.channel, self.value)
        if self.channel == "rotation_quaternion" and math.hypot(*self.numbers()) < 1e-6:
            raise PydanticCustomError("zero_quaternion", "a quaternion must not be zero: no rotation is [1, 0, 0, 0]")
        return self

    def path(self) -> str:
        return channels.path_of(self.channel, self.property, self.constraint)

    def numbers(self) -> tuple[float, ...]:
        return channels.stored(self.channel, self.value)


class SetKeyframeArgs(Keyframe, AnimatedObject):
    pass


class KeyframeSet(Result):
    object: str = Field(description="Name of the object.")
    action: str = Field(description="Name of the action that holds the key.")
    channel_keys: int = Field(description="Number of frames at which the channel has keys now.")
    changed: bool = Field(description="False when just this key was there already.")


class SetKeyframe(Tool[SetKeyframeArgs, KeyframeSet]):
    """Set a keyframe of an object, its light or its camera: one channel at one frame, replacing a key that is there.

    The first key creates an action named after the object ("BoxAction" for "Box"), or after the light or camera
    ("LampDataAction"). Keys of a rotation switch the object to the rotation mode in which they count."""

    name = "animation.set_keyframe"
    promises = SAFE_IDEMPOTENT_WRITE.writes_to(Kind.OBJECT, Kind.LIGHT, Kind.CAMERA, Kind.ACTION).needs(
        "animation_write"
    )
    examples = (
        _example("location", 1, [0, 0, 0]),
        _example("location", 24, [0, 0, 2], START, interpolation="LINEAR"),
        _example("rotation_euler_deg", 1, [0, 0, 90], START),
        _example("hide_render", 10, True),
        Example({"object": "Box", "channel": "property", "property": "mass", "frame": 5, "value": 4}, BOX, MASS),
        Example({"object": "Lamp", "channel": "light_energy", "frame": 5, "value": 80}, LAMP),
        _example("constraint_influence", 5, 0.5, GOAL, FOLLOW, constraint="Follow"),
    )

    def check(self, scene: Scene, args: SetKeyframeArgs) -> Findings:
        obj = yield from existing_object(scene, args.object, "/object")
        if obj is None:
            return
        if args.property is not None:
            yield from channels.property_findings(obj, args.property, args.value)
        if args.constraint is not None:
            problems = list(channels.constraint_findings(obj, args.channel, args.constraint, args.value))
            yield from problems
            if problems:
                return
        problems = list(channels.holder_findings(obj, args.channel))
        yield from problems
        if problems:
            return
        holder = channels.holder_of(obj, args.channel)
        if is_driven(holder, args.path()):
            message = f"{args.path()} of '{args.object}' is driven, which overrides keyframes"
            yield conflict(message, "/channel", "Choose another channel.")
        yield from _rotation_conflict(scene, args, obj)
        if action_of(holder) is None:
            yield from scene.name_conflicts(Kind.ACTION, _action_name(scene, holder), "/object")
        others = action_sharers(scene, holder)
        if others:
            message = f"the animation of '{args.object}' is shared with '{others[0]}', which would move as well"
            cure = "Use animation.clear on one of them, which leaves the other's."
            yield conflict(message, "/object", cure)

    def apply(self, scene: Scene, args: SetKeyframeArgs) -> KeyframeSet:
        obj = required_object(scene, args.object, "/object")
        interpolation = args.interpolation or _default_interpolation(obj, args)
        if _has_this_key(scene, args, obj, interpolation):
            return self._result(scene, args, obj, changed=False)
        holder = scene.edit(channels.holder_of(obj, args.channel))
        if holder == obj and (mode := _rotation_mode(args.channel, obj)) != obj.rotation_mode:
            obj.rotation_mode = mode
        all_curves = _curves_for_writing(scene, holder)
        for index, number in enumerate(args.numbers()):
            curve = all_curves.find(args.path(), index=index) or all_curves.new(args.path(), index=index)
            _set_key(curve, args.frame, number, interpolation)
        # Blender shows the curves from the next evaluation on; whoever reads the channels before must see the same.
        now = scene.active.frame_current_final
        channels.write_values(
            holder,
            args.path(),
            {curve.array_index: curve.evaluate(now) for curve in curves(scene, holder, args.path())},
        )
        return self._result(scene, args, obj, changed=True)

    def verify(self, scene: Scene, args: SetKeyframeArgs, result: KeyframeSet) -> Findings:
        yield from key_differs(scene, args)

    def _result(self, scene: Scene, args: SetKeyframeArgs, obj: Block, *, changed: bool) -> KeyframeSet:
        holder = channels.holder_of(obj, args.channel)
        frames = {key.co[0] for curve in curves(scene, holder, args.path()) for key in curve.keyframe_points}
        return KeyframeSet(
            object=args.object, action=holder.animation_data.action.name, channel_keys=len(frames), changed=changed
        )


def key_differs(scene: Scene, args: SetKeyframeArgs) -> Findings:
    """A finding when the channel has not just this key."""
    obj = required_object(scene, args.object, "/object")
    has_key = _has_this_key(scene, args, obj, args.interpolation or _default_interpolation(obj, args))
    yield from differs(f"that frame {args.frame} has the key", True, has_key, "/value")


def _rotation_conflict(scene: Scene, args: SetKeyframeArgs, obj: Block) -> Findings:
    """Only the keys of one kind of rotation count."""
    if args.path() in ROTATIONS:
        for other in ROTATIONS:
            if other != args.path() and curves(scene, obj, other):
                message = f"'{args.object}' has keyframes of {other}, which would not count any more"
                cure = "Keep to one kind of rotation, or clear the other's keys."
                yield conflict(message, "/channel", cure)


def _rotation_mode(channel: str, obj: Block) -> str:
    """The rotation mode in which keys of a channel count."""
    if channel == "rotation_quaternion":
        return "QUATERNION"
    euler_is_off = obj.rotation_mode in ("QUATERNION", "AXIS_ANGLE")
    return "XYZ" if channel == "rotation_euler_deg" and euler_is_off else obj.rotation_mode


def _default_interpolation(obj: Block, args: SetKeyframeArgs) -> str:
    return "CONSTANT" if channels.is_discrete(obj, args.channel, args.property) else "BEZIER"


def _has_this_key(scene: Scene, args: SetKeyframeArgs, obj: Block, interpolation: str) -> bool:
    """Whether the channel has just this key."""
    if obj.rotation_mode != _rotation_mode(args.channel, obj):
        return False
    own = curves(scene, channels.holder_of(obj, args.channel), args.path())
    by_index = {curve.array_index: curve for curve in own}
    return all(
        index in by_index and _has_key(by_index[index], args.frame, number, interpolation)
        for index, number in enumerate(args.numbers())
    )


def _has_key(curve: Block, frame: int, number: float, interpolation: str) -> bool:
    keys: Sequence[Block] = [key for key in curve.keyframe_points if key.co[0] == frame]
    return any(close(number, key.co[1]) and key.interpolation == interpolation for key in keys)


def _action_name(scene: Scene, holder: Block) -> str:
    """The name of a new action; that of data is told apart from the one of an object of the same name."""
    return f"{holder.name}Action" if scene.kind_of(holder) is Kind.OBJECT else f"{holder.name}DataAction"


def _curves_for_writing(scene: Scene, holder: Block) -> Block:
    """The datablock's list of curves, free to be written; an action with all it takes is made where there is none."""
    action = action_of(holder)
    data = holder.animation_data or holder.animation_data_create()
    if action is None:
        action = scene.create(Kind.ACTION, _action_name(scene, holder))
        data.action = action
    else:
        scene.edit(action)
    if scene.version >= LAYERED:
        if data.action_slot is None:
            data.action_slot = action.slots.new(id_type=holder.id_type, name=holder.name)
        layer = action.layers[0] if action.layers else action.layers.new("Layer")
        strip = layer.strips[0] if layer.strips else layer.strips.new(type="KEYFRAME")
        strip.channelbag(data.action_slot, ensure=True)
    return curve_list(scene, holder)


def _set_key(curve: Block, frame: int, number: float, interpolation: str) -> None:
    key = curve.keyframe_points.insert(frame, number)
    # What new keys are like depends on the user's preferences: all of it is said here.
    key.interpolation = interpolation
    key.easing = "AUTO"
    key.type = "KEYFRAME"
    key.handle_left_type = key.handle_right_type = "AUTO_CLAMPED"
    curve.update()
