"""mesh.boolean: what comes out, how it is proven, and what is refused; and operations of mesh.edit that Blender has as modifiers only."""

from __future__ import annotations

import json
import math
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
import pytest

from blendwright.blender.mesh_editing import booleans
from tools.objects import box, named

if TYPE_CHECKING:
    from support.stage.stage import Stage

Document = dict[str, Any]
TESTS = Path(__file__).parents[1]


def rod(stage: Stage, name: str = "Rod", **args: Any) -> None:
    stage.do(
        "mesh.create_primitive", {"kind": "cylinder", "name": name, "segments": 16, "radius": 0.5, "depth": 3} | args
    )


def combine(stage: Stage, operation: str, *cutters: str, **args: Any) -> Document:
    return stage.do("mesh.boolean", {"object": "Box", "operation": operation, "cutters": list(cutters), **args})


def refused(stage: Stage, operation: str, *cutters: str, **args: Any) -> Document:
    [finding, *_] = stage.refusal(
        "mesh.boolean", {"object": "Box", "operation": operation, "cutters": list(cutters), **args}
    )
    return finding


def prism(radius: float, height: float) -> float:
    return 16 / 2 * radius**2 * math.sin(2 * math.pi / 16) * height


SOLVERS = ("EXACT", "MANIFOLD") if bpy.app.version >= (4, 5, 0) else ("EXACT",)


@pytest.mark.parametrize("solver", SOLVERS)
def test_holes_have_the_volume_of_what_goes_and_the_material_of_their_cutter(stage: Stage, solver: str) -> None:
    box(stage)
    rod(stage)
    rod(stage, "Slot", radius=0.2, rotation_euler_deg=[90, 0, 0], location=[0.7, 0, 0])
    stage.do("material.ensure_principled", {"name": "Blue"})
    stage.do("material.assign", {"object": "Slot", "material": "Blue"})
    told = combine(stage, "difference", "Rod", "Slot", solver=solver)
    assert told["proven"] and told["open_edges"] == 0
    assert told["overlaps"] == pytest.approx([prism(0.5, 2), prism(0.2, 2)], rel=1e-3)
    assert told["volume"] == pytest.approx(8 - prism(0.5, 2) - prism(0.2, 2), rel=1e-3)
    found = stage.do("mesh.measure", {"object": "Box"})
    assert found["volume"] == pytest.approx(told["volume"]) and found["outward"]
    mesh = named("Box").data
    assert [one and one.name for one in mesh.materials] == [None, "Blue"]
    # Only the wall of the second hole, whose sixteen faces look away from its axis.
    blue = [face for face in mesh.polygons if face.material_index == 1]
    assert len(blue) == 16 and all(abs(face.normal.y) < 1e-6 for face in blue)
    assert [(named(name).hide_render, named(name).hide_viewport) for name in ("Rod", "Slot")] == [(True, True)] * 2
    assert not [one.name for one in mesh.attributes if one.name.startswith("~bw~")]


def test_a_union_in_the_world_of_a_scaled_and_mirrored_object_takes_the_others_away(stage: Stage) -> None:
    box(stage, scale=[-2, 1, 1], rotation_euler_deg=[0, 0, 30])
    box(stage, "Lid", size=1.0, location=[0, 0, 1.25])
    stage.do("modifier.add", {"object": "Box", "name": "Round", "settings": {"type": "BEVEL", "width": 0.01}})
    told = combine(stage, "union", "Lid", delete_cutters=True)
    assert told["volume"] == pytest.approx(16 + 1 - 0.25, rel=1e-4)
    assert told["overlaps"] == pytest.approx([0.25], rel=1e-4)
    assert told["removed"] == ["objects/Lid", "meshes/Lid"]
    assert [one.name for one in named("Box").modifiers] == ["Round"]
    assert stage.do("mesh.measure", {"object": "Box", "evaluated": False})["outward"]


def test_what_is_in_common_is_left_and_others_can_stay_in_sight(stage: Stage) -> None:
    box(stage)
    rod(stage)
    told = combine(stage, "intersect", "Rod", hide_cutters=False)
    assert told["volume"] == told["overlaps"][0] == pytest.approx(prism(0.5, 2), rel=1e-3)
    assert not named("Rod").hide_render


def test_what_cannot_be_right_is_refused_at_the_cutter(stage: Stage) -> None:
    box(stage)
    box(stage, "Far", location=[5, 0, 0])
    box(stage, "Around", size=3.0)
    box(stage, "Beside", location=[2, 0, 0])
    for operation, cutter, words in (
        ("difference", "Far", "does not reach into"),
        ("difference", "Beside", "does not reach into"),
        ("difference", "Around", "takes all of 'Box' away"),
        ("intersect", "Far", "nothing in common"),
    ):
        finding = refused(stage, operation, cutter)
        assert (finding["pointer"], finding["code"]) == ("/cutters/0", "SCENE_CONFLICT")
        assert words in finding["message"]
    rod(stage)
    stage.do("mesh.edit", {"object": "Rod", "operations": [{"op": "normals", "look": "inward"}]})
    assert "look inward" in refused(stage, "difference", "Rod")["message"]
    assert refused(stage, "difference", "Nobody")["pointer"] == "/cutters/0"
    stage.do("object.duplicate", {"object": "Box", "new_name": "Twin"})
    assert "share the mesh" in refused(stage, "difference", "Around")["message"]
    assert stage.invalid("mesh.boolean", {"object": "Box", "operation": "union", "cutters": ["A", "A"]}) == [
        "/cutters/1"
    ]


def test_open_surfaces_cut_but_prove_nothing(stage: Stage) -> None:
    box(stage)
    stage.do("mesh.create_primitive", {"kind": "plane", "name": "Sheet", "size": 4})
    told = combine(stage, "difference", "Sheet", hide_cutters=False)
    assert not told["proven"] and told["overlaps"] == [None]
    if "MANIFOLD" in SOLVERS:
        assert "not closed" in refused(stage, "difference", "Sheet", solver="MANIFOLD")["message"]


def test_a_volume_that_does_not_add_up_changes_nothing(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    box(stage)
    rod(stage)
    right: Any = booleans.BooleanMaker._result  # pyright: ignore[reportPrivateUsage]

    def lazy(self: Any, cutter: Any, operation: str, holes: bool) -> Any:
        """A solver that cuts nothing away and says nothing."""
        return right(self, cutter, "UNION" if operation == "difference" else operation, holes)

    monkeypatch.setattr(booleans.BooleanMaker, "_result", lazy)
    finding = refused(stage, "difference", "Rod")
    assert finding["code"] == "EXECUTION_FAILED" and "is expected" in finding["message"]


def test_a_cutter_that_touches_an_edge_of_a_hole_is_proven_too(stage: Stage) -> None:
    box(stage)
    rod(stage, rotation_euler_deg=[90, 0, 0])
    # As wide as the hole, and up to its middle: what both have in common is two parts that meet in edges.
    stage.do(
        "mesh.create_primitive", {"kind": "cube", "name": "Door", "dimensions": [1, 3, 1.2], "location": [0, 0, -0.6]}
    )
    told = combine(stage, "difference", "Rod", "Door")
    assert told["proven"] and told["volume"] == pytest.approx(8 - prism(0.5, 2) / 2 - 2, rel=1e-3)


def test_parts_that_go_through_each_other_are_cut_when_that_is_said(stage: Stage) -> None:
    box(stage)
    box(stage, "Part", location=[1, 0, 0.2], size=1.5)
    stage.do("object.join", {"object": "Box", "objects": ["Part"]})
    rod(stage)
    told = combine(stage, "difference", "Rod", overlapping=True)
    assert not told["proven"] and told["open_edges"] == 0
    assert told["volume"] == pytest.approx(8 + 1.5**3 - 1.5 * 1.5 * 0.75 - prism(0.5, 2), rel=1e-3)


# ---------------------------------------------------------------------- remesh and decimate, operations of mesh.edit


def edit(stage: Stage, name: str, *operations: Document) -> Document:
    return stage.do("mesh.edit", {"object": name, "operations": list(operations)})


def test_remeshing_keeps_the_shape_and_makes_even_faces(stage: Stage) -> None:
    for mode in ("voxel", "smooth", "sharp", "blocks"):
        box(stage, mode)
        stage.do("modifier.add", {"object": mode, "name": "Row", "settings": {"type": "ARRAY", "count": 2}})
        measure: Document = {"size": 0.1} if mode == "voxel" else {"depth": 4}
        told = edit(
            stage,
            mode,
            {"op": "remesh", "mode": mode, **measure, "name": "all of it"},
            {"op": "shade", "select": "all of it"},
        )
        found = stage.do("mesh.measure", {"object": mode, "evaluated": False})
        assert told["open_edges"] == 0 and found["faces"] > 500
        assert found["volume"] == pytest.approx(8, rel=0.35 if mode == "blocks" else 0.06), mode
        assert [one.name for one in named(mode).modifiers] == ["Row"]
    [finding] = stage.refusal("mesh.edit", {"object": "voxel", "operations": [{"op": "remesh", "size": 0.0001}]})
    assert (finding["code"], finding["pointer"]) == ("LIMIT_EXCEEDED", "/operations/0")
    stage.do("mesh.create_primitive", {"kind": "circle", "name": "Ring", "fill": False})
    [finding] = stage.refusal("mesh.edit", {"object": "Ring", "operations": [{"op": "remesh", "size": 0.1}]})
    assert "no face" in finding["message"]


def test_decimating_leaves_as_much_as_was_asked_for(stage: Stage) -> None:
    ball = {"kind": "uv_sphere", "name": "Ball"}
    stage.do("mesh.create_primitive", ball)
    edit(stage, "Ball", {"op": "decimate", "faces": 200})
    assert 190 <= len(named("Ball").data.polygons) <= 200
    stage.do("mesh.create_primitive", {**ball, "name": "Half"})
    edit(stage, "Half", {"op": "decimate", "ratio": 0.5, "triangles": True})
    assert len(named("Half").data.polygons) == pytest.approx(960 / 2, rel=0.02)
    box(stage, "Grid")
    edit(stage, "Grid", {"op": "subdivide", "cuts": 3}, {"op": "decimate", "unsubdivide": 2})
    assert len(named("Grid").data.polygons) == 6


@pytest.mark.parametrize(
    "operation",
    [{"op": "remesh"}, {"op": "remesh", "mode": "sharp", "size": 1}, {"op": "decimate"},
     {"op": "decimate", "ratio": 0.5, "faces": 9}],
)  # fmt: skip
def test_measures_that_do_not_fit_are_refused_before_blender(stage: Stage, operation: Document) -> None:
    [pointer] = stage.invalid("mesh.edit", {"object": "Box", "operations": [operation]})
    assert pointer.startswith("/operations/0")


# ---------------------------------------------------------------------- the same in every process


def outcomes(stage: Stage, seeds: range) -> dict[str, str]:
    """Hashes after random booleans, remeshes and decimations."""
    hashes: dict[str, str] = {}
    for seed in seeds:
        dice = random.Random(seed)
        stage.state.reset()
        stage.do("mesh.create_primitive", {"kind": "cube", "name": "Box", "rotation_euler_deg": [10, 20, seed]})
        cutters = [f"C{number}" for number in range(dice.randint(1, 3))]
        for name in cutters:
            kind = dice.choice(["uv_sphere", "ico_sphere", "torus", "cylinder", "cone", "cube"])
            place = [dice.uniform(-1, 1) for _ in range(3)]
            turn = [dice.uniform(0, 90) for _ in range(3)]
            args = {
                "kind": kind,
                "name": name,
                "location": place,
                "rotation_euler_deg": turn,
                "radius": 0.6,
                "size": 1.1,
            }
            stage.do("mesh.create_primitive", args)
        solver = SOLVERS[seed % len(SOLVERS)]
        operation = ["difference", "union"][seed // 2 % 2]
        combine(stage, operation, *cutters, solver=solver)
        last: Document = [{"op": "remesh", "size": 0.2}, {"op": "decimate", "ratio": 0.6}][seed // 4 % 2]
        edit(stage, "Box", last)
        hashes[str(seed)] = stage.state.full_root()
    return hashes


def main(file: str, count: int) -> None:
    from support.stage.stage import Stage

    scratch = Path(file).with_suffix("")
    scratch.mkdir()
    Path(file).write_text(json.dumps(outcomes(Stage(scratch), range(count))))


@pytest.mark.slow
def test_two_processes_give_the_same_meshes(stage: Stage, tmp_path: Path) -> None:
    path = os.pathsep.join([str(TESTS), *filter(None, [os.environ.get("PYTHONPATH")])])
    file, count = tmp_path / "other.json", 8
    subprocess.run(
        [sys.executable, "-c", f"from tools.test_mesh_boolean import main; main({str(file)!r}, {count})"],
        env={**os.environ, "PYTHONHASHSEED": "7", "PYTHONPATH": path},
        check=True,
    )
    assert json.loads(file.read_text()) == outcomes(stage, range(count))
