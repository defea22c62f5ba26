"""Objects brought into line: aligned by their bounds, distributed by centres or gaps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy
import pytest

from tools.objects import bounds, box, place

if TYPE_CHECKING:
    from support.stage.stage import Stage


# ---------------------------------------------------------------------- place.align


def test_objects_are_aligned_by_their_bounds(stage: Stage) -> None:
    box(stage, "Box", 2, location=[1, 2, 3])
    box(stage, "Turned", 1, location=[9, 9, 9], rotation_euler_deg=[0, 0, 45])
    args = {"objects": ["Turned"], "axis": "X", "edge": "min", "reference": "Box", "reference_edge": "max"}
    assert stage.do("place.align", args)["moved"] == ["Turned"]
    assert bounds(stage, "Turned")[0][0] == pytest.approx(2, abs=1e-5)
    assert (place("Turned").y, place("Turned").z) == (9, 9)
    assert stage.do("place.align", args)["moved"] == []
    stage.do("place.align", {"objects": ["Turned"], "axis": "Y", "reference": "Box"})
    assert place("Turned").y == pytest.approx(2, abs=1e-5)
    both = {"objects": ["Box", "Turned"], "axis": "Z", "edge": "max", "value": 0.5}
    assert stage.do("place.align", both)["moved"] == ["Box", "Turned"]
    assert [bounds(stage, name)[1][2] for name in ("Box", "Turned")] == pytest.approx([0.5, 0.5])


def test_alignment_sees_what_modifiers_make(stage: Stage) -> None:
    box(stage, "Box", 2)
    settings = {"type": "ARRAY", "count": 3, "constant_offset": [0, 0, 2]}
    stage.do("modifier.add", {"object": "Box", "name": "Up", "settings": settings})
    stage.do("place.align", {"objects": ["Box"], "axis": "Z", "edge": "max", "value": 0})
    assert place("Box").z == pytest.approx(-5)


def test_alignment_that_contradicts_itself_is_refused(stage: Stage) -> None:
    box(stage, "Box")
    box(stage, "Lid")
    bpy.data.objects["Lid"].parent = bpy.data.objects["Box"]
    stage.state.refresh()
    base: dict[str, Any] = {"axis": "X", "value": 0}
    for args, code, pointer in (
        ({**base, "objects": ["Box", "Lid"]}, "SCENE_CONFLICT", "/objects/1"),
        ({**base, "objects": ["Box", "Box"]}, "ARGS_INVALID", "/objects/1"),
        ({**base, "objects": ["Box", "Bix"]}, "TARGET_NOT_FOUND", "/objects/1"),
        ({"axis": "X", "objects": ["Box"], "reference": "Lid"}, "SCENE_CONFLICT", "/objects/0"),
        ({"axis": "X", "objects": ["Box"], "reference": "Lit"}, "TARGET_NOT_FOUND", "/reference"),
    ):
        (finding,) = stage.refusal("place.align", args)
        assert (finding["code"], finding["pointer"]) == (code, pointer)
    assert stage.invalid("place.align", {"axis": "X", "objects": ["Box"]})
    assert stage.invalid("place.align", {**base, "objects": ["Box"], "reference": "Lid"})
    assert stage.invalid("place.align", {**base, "objects": ["Box"], "reference_edge": "max"})
    assert stage.invalid("place.align", {**base, "objects": []}) == ["/objects"]


# ---------------------------------------------------------------------- place.distribute


@pytest.fixture
def row(stage: Stage) -> Stage:
    """Cubes of 1, 2 and 3 metres at 0, 9 and 4 along X."""
    for name, size, x in (("One", 1, 0), ("Two", 2, 9), ("Three", 3, 4)):
        box(stage, name, size, location=[x, 0, 0])
    return stage


NAMES = ["One", "Two", "Three"]


def xs() -> list[float]:
    return [place(name).x for name in NAMES]


def test_centres_are_spaced_evenly_between_the_outermost(row: Stage) -> None:
    result = row.do("place.distribute", {"objects": NAMES, "axis": "X"})
    assert result == {"objects": ["One", "Three", "Two"], "moved": ["Three"]}
    assert xs() == pytest.approx([0, 9, 4.5])


def test_the_listed_order_can_be_kept(row: Stage) -> None:
    row.do("place.distribute", {"objects": NAMES, "axis": "X", "order": "given"})
    assert xs() == pytest.approx([0, 2, 4])


def test_gaps_are_spaced_evenly_or_fixed(row: Stage) -> None:
    # From -0.5 to 10 are 10.5 metres, of which the cubes take 6.
    args = {"objects": NAMES, "axis": "X", "spacing": "gaps"}
    row.do("place.distribute", args)
    assert xs() == pytest.approx([0, 9, 0.5 + 2.25 + 1.5])
    assert row.do("place.distribute", args)["moved"] == []
    row.do("place.distribute", {**args, "gap": 0.5})
    assert xs() == pytest.approx([0, 0.5 + 0.5 + 3 + 0.5 + 1, 0.5 + 0.5 + 1.5])


def test_objects_are_spread_between_two_points(row: Stage) -> None:
    row.do("place.distribute", {"objects": NAMES, "start": [0, 0, 0], "end": [4, 4, 8], "order": "given"})
    assert [tuple(place(name)) for name in NAMES] == [
        pytest.approx((0, 0, 0)),
        pytest.approx((2, 2, 4)),
        pytest.approx((4, 4, 8)),
    ]


def test_objects_that_do_not_fit_are_refused(row: Stage) -> None:
    row.do("object.transform", {"object": "Two", "location": [4.4, 0, 0]})
    (finding,) = row.refusal("place.distribute", {"objects": NAMES, "axis": "X", "spacing": "gaps"})
    assert (finding["code"], finding["pointer"]) == ("SCENE_CONFLICT", "/spacing")
    (finding,) = row.refusal("place.distribute", {"objects": ["One", "Tow"], "axis": "X"})
    assert (finding["code"], finding["pointer"]) == ("TARGET_NOT_FOUND", "/objects/1")


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"axis": "X", "start": [0, 0, 0], "end": [1, 1, 1]},
        {"start": [0, 0, 0]},
        {"start": [0, 0, 0], "end": [1, 1, 1], "spacing": "gaps"},
        {"axis": "X", "gap": 1},
    ],
)
def test_one_way_of_distributing_is_asked_for(stage: Stage, wrong: dict[str, Any]) -> None:
    assert stage.invalid("place.distribute", {"objects": NAMES, **wrong})
