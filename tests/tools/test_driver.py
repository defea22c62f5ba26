"""Drivers: the language of their expressions, and what the tools make of them."""

from __future__ import annotations

import math
import random
from typing import TYPE_CHECKING, Any

import bpy
import pytest

from blendwright.tools.driver.expression import MAX_DEPTH, ExpressionError, written_for_blender
from tools.objects import box, empty, named, place

if TYPE_CHECKING:
    from support.stage.stage import Stage

PLAIN = {"a": "a", "b": "b"}
MATH: dict[str, Any] = {
    "min": min, "max": max, "abs": abs, "sin": math.sin, "cos": math.cos, "tan": math.tan, "sqrt": math.sqrt, "pow": pow,
    "pi": math.pi, "radians": math.radians, "degrees": math.degrees, "floor": math.floor, "ceil": math.ceil,
}  # fmt: skip


def clamp(x: float, low: float, high: float) -> float:
    return min(max(x, low), high)


def lerp(one: float, other: float, factor: float) -> float:
    return one + (other - one) * factor


def smoothstep(low: float, high: float, x: float) -> float:
    part = (x - low) / (high - low)
    return part * part * (3 - 2 * part)


def computed(text: str, **variables: float) -> float:
    """What Python makes of an expression of this file."""
    return eval(
        text, {"__builtins__": {}}, {**MATH, "clamp": clamp, "lerp": lerp, "smoothstep": smoothstep, **variables}
    )


# ---------------------------------------------------------------------- the language


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("a+b*2", "a + b * 2"),
        ("(a+b)*2", "(a + b) * 2"),
        ("a-(b-1)", "a - (b - 1)"),
        ("a/(b*2)", "a / (b * 2)"),
        ("-a**2", "-pow(a, 2)"),
        ("(-a)**2", "pow(-a, 2)"),
        ("a**b**2", "pow(a, pow(b, 2))"),
        ("2**-a", "pow(2, -a)"),
        ("--a", "a"),
        ("- (a + b)", "-(a + b)"),
        ("clamp( a ,0, 1e3)", "clamp(a, 0, 1e3)"),
        (".5*pi", ".5 * pi"),
    ],
)
def test_an_expression_is_written_anew(text: str, written: str) -> None:
    assert written_for_blender(text, PLAIN) == written


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "column 1: a number"),
        ("a +", "column 4: a number"),
        ("a b", "column 3: 'b' is not expected"),
        ("c + 1", "column 1: 'c' is neither"),
        ("(a", "column 3: ')' is missing"),
        ("min(a)", "column 1: min takes 2 to 8"),
        ("sin", "column 4: sin is a function"),
        ("a % 2", "column 3: '%'"),
        ("a.b", "column 2: '.'"),
        ("a < b", "column 3: '<'"),
        ("'x'", "column 1: '''"),
        ("__import__('os')", "column 12: "),
        ("__import__(a)", "column 1: '__import__'"),
        ("a(1)", "column 2: '('"),
        ("[a]", "column 1: '['"),
        ("a if b else 1", "column 3"),
        ("lambda", "column 1"),
        ("²", "column 1"),
        ("(" * 1000 + "a" + ")" * 1000, f"more than {MAX_DEPTH}"),
        ("2**" * 1000 + "a", f"more than {MAX_DEPTH}"),
    ],
)
def test_what_is_not_of_the_language_is_refused_with_its_column(text: str, message: str) -> None:
    with pytest.raises(ExpressionError) as refusal:
        written_for_blender(text, PLAIN)
    assert message in str(refusal.value)


def random_expression(chance: random.Random, depth: int) -> str:
    if depth == 0 or chance.random() < 0.2:
        return chance.choice(["a", "b", "1.5", "2", "pi"])
    one, other = (random_expression(chance, depth - 1) for _ in range(2))
    form = chance.choice(["{0} + {1}", "{0} - {1}", "{0} * {1}", "({0}) - ({1})", "({0}) / (abs({1}) + 1)", "-({0})",
                          "-{0}", "abs({0}) ** 2", "2 ** -abs(sin({0}))", "min({0}, {1})", "({0} - {1}) * {1}"])  # fmt: skip
    return form.format(one, other)


def test_what_is_written_means_what_was_read() -> None:
    chance = random.Random(18)
    for _ in range(500):
        text = random_expression(chance, 4)
        written = written_for_blender(text, PLAIN)
        expected, actual = (computed(one, a=0.75, b=-1.25) for one in (text, written))
        assert actual == pytest.approx(expected), (text, written)


# ---------------------------------------------------------------------- in Blender


def driven(stage: Stage, expression: str, variables: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    args = {"object": "Box", "channel": "location", "axis": "X", **more}
    return stage.do("driver.set", {**args, "expression": expression, "variables": variables or {}})


def prop(key: str = "open", name: str = "Box") -> dict[str, Any]:
    return {"object": name, "channel": "property", "property": key}


def test_blender_computes_every_form_without_python(stage: Stage) -> None:
    box(stage)
    stage.do("object.set_property", {"object": "Box", "key": "open", "value": 0.5})
    for text in (
        "a ** 2 - -a", "clamp(a, 0.1, 0.2) + 1", "lerp(1, 3, a)", "smoothstep(0, 1, a)", "max(a, 1, 2) / min(a, 2)",
        "abs(sin(a)) + cos(a) * tan(a) - sqrt(a)", "floor(a * 3) + ceil(a)", "radians(90 * a) + degrees(pi)", "-(a + 1) * 2",
    ):  # fmt: skip
        result = driven(stage, text, {"a": prop()})
        assert result["value"] == pytest.approx(computed(text, a=0.5), rel=1e-5), text
        assert named("Box").animation_data.drivers[0].driver.is_simple_expression, text


def test_angles_are_in_degrees_on_both_sides(stage: Stage) -> None:
    box(stage)
    empty(stage, "Wheel", rotation_euler_deg=[0, 30, 0])
    wheel = {"object": "Wheel", "channel": "rotation_euler_deg", "axis": "Y"}
    assert driven(stage, "w * 2", {"w": wheel}, channel="rotation_euler_deg", axis="Z")["value"] == pytest.approx(60)
    bpy.context.view_layer.update()
    assert math.degrees(named("Box").rotation_euler.z) == pytest.approx(60)
    assert driven(stage, "w", {"w": wheel})["value"] == pytest.approx(30)


def test_world_is_where_it_stands_and_local_its_own_channel(stage: Stage) -> None:
    box(stage)
    empty(stage, "Base", location=[0, 0, 5])
    empty(stage, "Tip", location=[0, 0, 1], parent="Base")
    tip = {"object": "Tip", "channel": "location", "axis": "Z"}
    assert driven(stage, "z", {"z": tip})["value"] == pytest.approx(1)
    assert driven(stage, "z", {"z": {**tip, "space": "world"}})["value"] == pytest.approx(6)


def test_a_driver_follows_keyframes_of_what_it_reads(stage: Stage) -> None:
    box(stage)
    stage.do("object.set_property", {"object": "Box", "key": "open", "value": 0.0, "number_type": "float"})
    driven(stage, "open * 10", {"open": prop()})
    key = {"channel": "property", "property": "open", "interpolation": "LINEAR"}
    keys = [{**key, "frame": 1, "value": 0}, {**key, "frame": 11, "value": 1}]
    stage.do("animation.set_keyframes", {"object": "Box", "keys": keys})
    bpy.context.scene.frame_set(6)
    assert place("Box").x == pytest.approx(5, abs=1e-4)


def test_the_influence_of_a_constraint_and_a_property_are_driven(stage: Stage) -> None:
    box(stage)
    empty(stage, "Goal", location=[0, 4, 0])
    rule = {"type": "COPY_LOCATION", "target": "Goal"}
    stage.do("constraint.add", {"object": "Box", "name": "Rule", "settings": rule})
    channel = {"object": "Box", "channel": "constraint_influence", "constraint": "Rule"}
    stage.do("driver.set", {**channel, "expression": "0.25"})
    bpy.context.view_layer.update()
    assert place("Box").y == pytest.approx(1)
    stage.do("object.set_property", {"object": "Box", "key": "open", "value": 0.0, "number_type": "float"})
    assert stage.do("driver.set", {**prop(), "expression": "2 ** 3"})["value"] == pytest.approx(8)
    assert stage.refusal("object.set_property", {"object": "Box", "key": "open", "value": 1})[0]["pointer"] == "/key"


def test_a_removed_driver_leaves_its_value(stage: Stage) -> None:
    box(stage, location=[1, 2, 3])
    channel = {"object": "Box", "channel": "rotation_euler_deg", "axis": "Z"}
    stage.do("driver.set", {**channel, "expression": "45"})
    assert stage.do("driver.remove", channel)["value"] == pytest.approx(45)
    assert named("Box").animation_data is None
    assert math.degrees(named("Box").rotation_euler.z) == pytest.approx(45)
    assert stage.refusal("driver.remove", channel)[0]["pointer"] == "/channel"


def test_circles_keyframes_and_missing_things_are_refused(stage: Stage) -> None:
    box(stage)
    empty(stage, "Tip", parent="Box")
    stage.do("object.set_property", {"object": "Box", "key": "note", "value": "text"})
    base: dict[str, Any] = {"object": "Box", "channel": "location", "axis": "X", "expression": "v"}
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"object": "Tip", "channel": "location", "axis": "X", "space": "world"}, "/variables/v"),
        ({"object": "Box", "channel": "location", "axis": "X"}, "/variables/v"),
        ({"object": "Gone", "channel": "location", "axis": "X"}, "/variables/v/object"),
        (prop("nothing"), "/variables/v/property"),
        (prop("note"), "/variables/v/property"),
    ]
    for variable, pointer in wrong:
        assert stage.refusal("driver.set", {**base, "variables": {"v": variable}})[0]["pointer"] == pointer, variable
    stage.do("animation.set_keyframe", {"object": "Box", "channel": "location", "frame": 1, "value": [0, 0, 0]})
    assert stage.refusal("driver.set", {**base, "expression": "1"})[0]["pointer"] == "/channel"


@pytest.mark.parametrize(
    ("args", "pointer"),
    [
        ({"expression": "open"}, "/expression"),
        ({"expression": "1", "variables": {"v": prop()}}, "/expression"),
        ({"expression": "sin + 1", "variables": {"sin": prop()}}, "/variables"),
        # Blender reads it as a word of its own: "not + 1" was 0, whatever the variable.
        *(({"expression": f"{word} + 1", "variables": {word: prop()}}, "/variables") for word in ("not", "if", "True")),
        ({"expression": "1", "axis": None}, ""),
        ({"expression": "1", "channel": "property"}, ""),
        ({"expression": "1", "property": "open"}, ""),
        ({"expression": "__import__('os').system('true')"}, "/expression"),
        ({"expression": "+".join(["v**2"] * 40), "variables": {"v": prop()}}, "/expression"),
    ],
)
def test_wrong_arguments_are_refused_before_blender(stage: Stage, args: dict[str, Any], pointer: str) -> None:
    base = {"object": "Box", "channel": "location", "axis": "X"}
    given = {name: value for name, value in (base | args).items() if value is not None}
    assert stage.invalid("driver.set", given) == [pointer]


def test_zeros_in_front_of_a_number_do_not_make_it_python(stage: Stage) -> None:
    stage.do("mesh.create_primitive", {"kind": "cube", "name": "Box"})
    made = stage.do("driver.set", {"object": "Box", "channel": "location", "axis": "X", "expression": "08 + 0.5 + 00"})
    assert (made["expression"], made["value"]) == ("8 + 0.5 + 0", 8.5)
