"""Peculiar behaviour of the shape key tools; what holds for all tools is in the conformance suite."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy
import pytest

from tools.objects import box, named
from tools.rigs import center

if TYPE_CHECKING:
    from support.stage.stage import Stage

UP = {"op": "transform", "select": {"normal": "+Z"}, "translate": [0, 0, 4]}


def create(stage: Stage, name: str, **args: Any) -> dict[str, Any]:
    return stage.do("shape_key.create", {"object": "Box", "name": name, **args})


def values(name: str = "Box") -> dict[str, float]:
    """Those of all keys but the basis, whose value means nothing."""
    return {key.name: round(key.value, 4) for key in list(named(name).data.shape_keys.key_blocks)[1:]}


def test_selected_vertices_move_as_far_as_the_value_says(stage: Stage) -> None:
    box(stage)
    create(stage, "Up", operations=[UP], value=0.5)
    assert center("Box") == pytest.approx([0, 0, 1])
    stage.do("shape_key.set", {"object": "Box", "shape_keys": [{"name": "Up", "value": 1.5, "maximum": 2}]})
    assert center("Box") == pytest.approx([0, 0, 3])
    stage.do("shape_key.set", {"object": "Box", "to_zero": True})
    assert center("Box") == pytest.approx([0, 0, 0], abs=1e-6)
    assert named("Box").data.shape_keys.name == named("Box").data.name


def test_shapes_come_from_other_meshes_offsets_and_other_keys(stage: Stage) -> None:
    box(stage)
    box(stage, "Big", size=6.0)
    create(stage, "Size", from_object="Big")
    assert max(point.co.z for point in named("Box").data.shape_keys.key_blocks["Size"].data) == 3
    create(stage, "Aside", offsets=[[1, 0, 0]] * 8, relative_to="Size", value=1)
    points = named("Box").data.shape_keys.key_blocks["Aside"].data
    assert (max(p.co.x for p in points), max(p.co.z for p in points)) == (4, 3)
    # Only the difference to the key that it is relative to shows.
    assert center("Box") == pytest.approx([1, 0, 0])
    named_first = [{"op": "select", "select": {"normal": "+X"}, "name": "side"}, UP | {"select": "side"}]
    create(stage, "Side", operations=named_first)
    assert not create(stage, "Side", operations=named_first)["changed"]
    other = {"object": "Box", "name": "Side", "operations": [UP]}
    assert stage.refusal("shape_key.create", other)[0]["pointer"] == "/name"


def test_what_does_not_fit_the_mesh_is_refused(stage: Stage) -> None:
    box(stage)
    stage.do("mesh.create_primitive", {"kind": "uv_sphere", "name": "Ball"})
    wrong: dict[str, dict[str, Any]] = {
        "/offsets": {"offsets": [[0, 0, 1]] * 7},
        "/from_object": {"from_object": "Ball"},
        "/relative_to": {"relative_to": "Wide"},
        "/vertex_group": {"vertex_group": "Pin"},
        "/operations/0/select": {"operations": [UP | {"select": {"box": [[9, 9, 9], [10, 10, 10]]}}]},
    }
    for pointer, args in wrong.items():
        found = stage.refusal("shape_key.create", {"object": "Box", "name": "New", **args})
        assert [one["pointer"] for one in found] == [pointer]
    assert named("Box").data.shape_keys is None
    base = {"object": "Box", "name": "New"}
    assert stage.invalid("shape_key.create", base | {"operations": [UP | {"select": "side"}]}) == [
        "/operations/0/select"
    ]
    assert stage.invalid("shape_key.create", base | {"operations": [UP], "offsets": []}) == [""]
    assert stage.invalid("shape_key.create", base | {"value": 2}) == [""]


def test_ranges_hold_values_and_keyframes_keep_theirs(stage: Stage) -> None:
    box(stage)
    create(stage, "Up", operations=[UP], value=0.5)
    create(stage, "Down", operations=[UP], minimum=0.25, value=0.5)

    def refused(**settings: Any) -> list[str]:
        found = stage.refusal("shape_key.set", {"object": "Box", "shape_keys": [{"name": "Up", **settings}]})
        return [one["pointer"] for one in found]

    assert refused(value=2) == ["/shape_keys/0/value"]
    assert refused(maximum=0.25) == ["/shape_keys/0/maximum"]
    assert refused(minimum=1) == ["/shape_keys/0/minimum", "/shape_keys/0/minimum"]
    assert refused(relative_to="Up") == ["/shape_keys/0/relative_to"]
    zero = {"object": "Box", "to_zero": True}
    assert ["'Down'" in one["message"] for one in stage.refusal("shape_key.set", zero)] == [True]
    keys: Any = named("Box").data.shape_keys
    keys.key_blocks["Up"].keyframe_insert("value", frame=1)
    stage.state.refresh()
    assert refused(value=0.25) == ["/shape_keys/0/value"]
    found = stage.refusal("shape_key.remove", {"object": "Box", "names": ["Up"]})
    assert found[0]["pointer"] == "/names/0"


def test_the_last_shape_key_takes_the_datablock_along_and_a_revert_brings_it_back(stage: Stage) -> None:
    box(stage)
    create(stage, "Up", operations=[UP], value=0.5)
    create(stage, "Twice", operations=[UP | {"select": "all"}], relative_to="Up")
    assert stage.refusal("shape_key.remove", {"object": "Box", "names": ["Basis"]})[0]["pointer"] == "/names/0"
    before = stage.state.full_root()
    every = {"object": "Box", "names": ["Basis", "Up", "Twice"]}
    assert stage.call("shape_key.remove", every, rehearse="inverse")["reverted_by"] == "inverse"
    assert stage.state.full_root() == before
    assert values() == {"Up": 0.5, "Twice": 0}
    assert stage.do("shape_key.remove", every)["shape_keys"] == []
    assert not bpy.data.shape_keys.get(named("Box").data.name)
    create(stage, "Up", operations=[UP])
    assert values() == {"Up": 0}
