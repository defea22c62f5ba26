"""mesh.clean and object.join: what is mended, what stays in place, and what is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tools.objects import box, named

if TYPE_CHECKING:
    from support.stage.stage import Stage


def measure(stage: Stage) -> dict[str, Any]:
    return stage.do("mesh.measure", {"object": "Box"})


# ---------------------------------------------------------------------- mesh.clean


def test_cleaning_welds_turns_and_deletes_and_says_what_it_did(stage: Stage) -> None:
    corners = [[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)]
    faces = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]
    # Each face with corners of its own, the first one turned over; one without area; a point and an edge of their own.
    own = [corners[corner] for face in faces for corner in face] + [
        [0, 0, 0],
        [0, 0, 0],
        [1, 0, 0],
        [9, 9, 9],
        [8, 8, 8],
        [8, 8, 9],
    ]
    listed = [list(range(4 * i, 4 * i + 4)) for i in range(6)] + [[24, 25, 26]]
    listed[0].reverse()
    stage.do("mesh.create", {"name": "Box", "vertices": own, "faces": listed, "edges": [[28, 29]]})
    told = stage.do("mesh.clean", {"object": "Box"})
    assert told["after"] == {"vertices": 8, "edges": 12, "faces": 6} and told["open_edges"] == 0
    assert told["turned"] >= 1 and told["welded"] >= 16 and told["loose"] == 3
    assert measure(stage)["volume"] == pytest.approx(1.0) and measure(stage)["outward"] is True
    again = stage.do("mesh.clean", {"object": "Box"})
    assert [again[key] for key in ("welded", "degenerate", "loose", "turned")] == [0, 0, 0, 0]


def test_cleaning_does_what_is_asked_for_only(stage: Stage) -> None:
    stage.do(
        "mesh.create", {"name": "Box", "vertices": [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 0]], "faces": [[0, 1, 2]]}
    )
    kept = stage.do("mesh.clean", {"object": "Box", "weld_distance": 0, "loose": False})
    assert kept["after"]["vertices"] == 4
    assert stage.do("mesh.clean", {"object": "Box", "weld_distance": 0})["after"]["vertices"] == 3


# ---------------------------------------------------------------------- object.join


def test_joined_objects_stay_in_place_with_materials_uvs_and_groups(stage: Stage) -> None:
    for name in ("Red", "Blue"):
        stage.do("material.ensure_principled", {"name": name})
    box(stage, location=[1, 0, 0], scale=[2, 1, 1], material="Red")
    other = box(stage, "Other", location=[5, 0, 0], scale=[-1, 1, 1], material="Blue")
    stage.do("uv.unwrap", {"object": "Other", "uv_map": "Skin"})
    group = other.vertex_groups.new(name="tips")
    group.add([0, 1], 0.5, "REPLACE")
    stage.state.refresh()
    told = stage.do("object.join", {"object": "Box", "objects": ["Other"]})
    assert told["after"] == {"vertices": 16, "edges": 24, "faces": 12} and told["materials"] == ["Red", "Blue"]
    assert sorted(told["removed"]) == ["meshes/Other", "objects/Other"]
    found = measure(stage)
    assert found["bounds_max"] == pytest.approx([6, 1, 1]) and found["volume"] == pytest.approx(16 + 8)
    assert found["outward"] is True and found["flipped_edges"] == 0
    mesh = named("Box").data
    assert [face.material_index for face in mesh.polygons] == [0] * 6 + [1] * 6
    assert [one.name for one in mesh.uv_layers] == ["Skin"]
    weights = [item.weight for vertex in mesh.vertices for item in vertex.groups]
    assert weights == [0.5, 0.5] and [one.name for one in named("Box").vertex_groups] == ["tips"]


def test_what_would_be_lost_by_joining_is_refused(stage: Stage) -> None:
    box(stage)
    box(stage, "Other")
    stage.do("modifier.add", {"object": "Other", "name": "Round", "settings": {"type": "BEVEL", "width": 0.1}})
    [lost] = stage.refusal("object.join", {"object": "Box", "objects": ["Other"]})
    assert lost["pointer"] == "/objects/0" and "modifier.apply" in lost["cure"]
    assert stage.invalid("object.join", {"object": "Box", "objects": ["Box"]}) == ["/objects/0"]
