"""UV maps: unwrapped, packed, projected, checked and drawn; and nothing else of the scene is touched."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
import pytest

from blendwright.tools.render.rendering import read_picture
from tools.objects import box, named

if TYPE_CHECKING:
    from support.stage.stage import Stage

Document = dict[str, Any]


def checked(stage: Stage, name: str = "Box", **args: Any) -> Document:
    return stage.do("uv.check", {"object": name, **args})


def unwrap(stage: Stage, name: str = "Box", **args: Any) -> Document:
    return stage.do("uv.unwrap", {"object": name, **args})


def test_a_cube_cut_along_its_edges_has_six_square_islands(stage: Stage) -> None:
    box(stage)
    stage.do("mesh.edit", {"object": "Box", "operations": [{"op": "mark", "select": "all", "seam": True}]})
    for method in ("angle", "conformal", "smart"):
        assert unwrap(stage, method=method, pack=True, uv_map=method)["created"] is True
        found = checked(stage, uv_map=method)
        assert (found["islands"], found["overlap"], found["outside_faces"], found["empty_faces"]) == (6, 0, 0, 0)
        assert found["stretch_worst"] == pytest.approx(1.0, abs=0.01) and found["problems"] == []
        assert found["density_most"] == pytest.approx(found["density_least"], rel=0.01)
    assert unwrap(stage, method="smart", pack=True, uv_map="smart")["created"] is False


@pytest.mark.parametrize("method", ["angle", "conformal"])
@pytest.mark.parametrize("pack", [False, True])
def test_what_no_seam_opens_is_refused_and_its_map_stays(stage: Stage, method: str, pack: bool) -> None:
    box(stage)
    unwrap(stage, method="smart")
    before = stage.state.full_root()
    (finding,) = stage.refusal("uv.unwrap", {"object": "Box", "method": method, "pack": pack})
    assert finding["pointer"] == "/method" and "6 of 6 faces" in finding["message"] and "mesh.edit" in finding["cure"]
    assert stage.state.full_root() == before


def test_texel_density_follows_the_texture_and_the_scale_of_the_object(stage: Stage) -> None:
    box(stage)
    unwrap(stage, method="view", view="top")
    # Two metres fill the tile; four of six faces are seen from the side.
    top = checked(stage, texture_size=1024)
    assert top["density_most"] == pytest.approx(1024 / 2 / 3**0.5, rel=0.01) and top["empty_faces"] == 4
    stage.do("object.transform", {"object": "Box", "scale": [2, 2, 2]})
    assert checked(stage, texture_size=2048)["density_most"] == pytest.approx(top["density_most"], rel=0.01)


def test_overlaps_stretch_and_what_is_out_of_the_tile_are_found_and_mended(stage: Stage) -> None:
    box(stage)
    unwrap(stage, method="cube", cube_size=1.0)
    bad = checked(stage)
    assert bad["overlap"] > 0.9 and bad["outside_faces"] > 0
    assert any("overlaps" in line for line in bad["problems"])
    assert any("outside the tile" in line for line in bad["problems"])
    unwrap(stage, method="smart", margin=0.02)
    assert checked(stage)["problems"] == []
    layer = named("Box").data.uv_layers["UVMap"]
    for one in layer.data:
        one.uv = (one.uv[0], one.uv[1] * 0.25)
    stage.state.refresh()
    assert checked(stage)["stretch_mean"] == pytest.approx(4.0, rel=0.05)


def out_of_the_tile(stage: Stage) -> None:
    layer = named("Box").data.uv_layers["UVMap"]
    for one in layer.data:
        one.uv = (one.uv[0] * 3 - 1, one.uv[1] * 3)
    stage.state.refresh()
    assert checked(stage)["outside_faces"] > 0


def packed(stage: Stage, islands: int, **args: Any) -> Document:
    stage.do("uv.pack", {"object": "Box", "margin": 0.02, **args})
    found = checked(stage)
    assert (found["islands"], found["overlap"], found["outside_faces"]) == (islands, 0, 0)
    return found


def test_packing_brings_islands_into_the_tile(stage: Stage) -> None:
    box(stage)
    unwrap(stage, method="smart")
    out_of_the_tile(stage)
    packed(stage, 6)


def test_a_tight_packing_fits_islands_by_their_shapes(stage: Stage) -> None:
    """Two triangles, whose boxes leave more than half of the tile empty. Six squares take Blender forty seconds."""
    stage.do("mesh.create_primitive", {"kind": "plane", "name": "Box"})
    operations = [{"op": "triangulate", "select": "all"}, {"op": "mark", "select": "all", "seam": True}]
    stage.do("mesh.edit", {"object": "Box", "operations": operations})
    unwrap(stage, method="angle")
    out_of_the_tile(stage)
    assert packed(stage, 2, tight=True)["coverage"] > 1.4 * packed(stage, 2)["coverage"]


@pytest.mark.slow
def test_a_tight_packing_of_a_cube_keeps_its_islands_apart(stage: Stage) -> None:
    box(stage)
    unwrap(stage, method="smart")
    out_of_the_tile(stage)
    packed(stage, 6, tight=True)


def test_a_camera_lays_its_picture_over_the_mesh(stage: Stage) -> None:
    stage.do("mesh.create_primitive", {"kind": "plane", "name": "Box", "rotation_euler_deg": [90, 0, 0]})
    # Four metres are as wide as the picture where the plane stands.
    lens = math.degrees(2 * math.atan(2 / 5))
    stage.do(
        "camera.create", {"name": "Eye", "fov_deg": lens, "location": [0, -5, 0], "rotation_euler_deg": [90, 0, 0]}
    )
    unwrap(stage, method="view", camera="Eye")
    render = bpy.context.scene.render
    high = 0.25 * render.resolution_x / render.resolution_y
    uvs = [tuple(one.uv) for one in named("Box").data.uv_layers["UVMap"].data]
    assert sorted({round(u, 3) for u, _ in uvs}) == [0.25, 0.75]
    assert [min(v for _, v in uvs), max(v for _, v in uvs)] == pytest.approx([0.5 - high, 0.5 + high], abs=1e-3)


def test_mode_selection_and_active_object_stay_as_they_were(stage: Stage) -> None:
    box(stage)
    box(stage, "Other", location=[5, 0, 0])
    layer = bpy.context.view_layer
    layer.objects.active = named("Other")
    named("Other").select_set(True)
    named("Box").select_set(False)
    settings = bpy.context.scene.tool_settings
    before = (tuple(settings.mesh_select_mode), settings.use_uv_select_sync)
    unwrap(stage, method="smart", pack=True)
    assert layer.objects.active == named("Other") and named("Other").select_get() and not named("Box").select_get()
    assert named("Other").mode == named("Box").mode == "OBJECT"
    assert (tuple(settings.mesh_select_mode), settings.use_uv_select_sync) == before
    assert len(named("Other").data.uv_layers) == 0, "what is selected is not unwrapped along"
    assert sorted(bpy.data.objects.keys()) == ["Box", "Other"]


def test_the_picture_shows_the_layout(stage: Stage) -> None:
    box(stage)
    unwrap(stage, method="smart")
    answer = stage.call("uv.check", {"object": "Box", "size": 128, "artifact": "layout.png"})
    [artifact] = answer["artifacts"]
    path = next(Path(stage.scratch).rglob("*.png"))
    picture = read_picture(str(path))
    assert picture is not None and picture[:2] == (128, 128), artifact
    unwrap(stage, method="cube", cube_size=1.0)
    stage.call("uv.check", {"object": "Box", "size": 128, "artifact": "layout.png"})
    other = read_picture(str(path))
    assert other is not None and other[2] != picture[2], "another layout is another picture"


def test_what_cannot_be_unwrapped_is_refused(stage: Stage) -> None:
    stage.do("mesh.create", {"name": "Path", "vertices": [[0, 0, 0], [1, 0, 0]], "edges": [[0, 1]]})
    box(stage)
    assert stage.refusal("uv.unwrap", {"object": "Path"})[0]["pointer"] == "/object"
    assert stage.refusal("uv.unwrap", {"object": "Box", "method": "view", "camera": "Box"})[0]["pointer"] == "/camera"
    for tool in ("uv.pack", "uv.check"):
        [finding] = stage.refusal(tool, {"object": "Box"})
        assert (finding["pointer"], finding["cure"]) == ("/uv_map", "Create one with uv.unwrap.")
    for wrong in (
        {"method": "view"},
        {"method": "smart", "view": "top"},
        {"method": "view", "view": "top", "camera": "C"},
    ):
        assert stage.invalid("uv.unwrap", {"object": "Box", **wrong})
    stage.do("mesh.set_attribute", {"object": "Box", "name": "taken", "type": "FLOAT", "value": 1.0})
    assert stage.refusal("uv.unwrap", {"object": "Box", "uv_map": "taken"})[0]["pointer"] == "/uv_map"


def test_unwrapping_is_taken_back_exactly(stage: Stage) -> None:
    box(stage)
    unwrap(stage, method="cube")
    before = stage.state.full_root()
    for tool, args in (("uv.unwrap", {"object": "Box"}), ("uv.pack", {"object": "Box"})):
        assert stage.call(tool, args, rehearse="inverse")["reverted_by"] == "inverse"
        assert stage.state.full_root() == before


def test_other_maps_and_colours_stay_and_what_was_just_removed_is_no_hindrance(stage: Stage) -> None:
    box(stage)
    unwrap(stage, uv_map="First")
    colours = {"name": "Tint", "type": "FLOAT_COLOR", "domain": "CORNER", "value": [0.5, 0.25, 1, 1]}
    stage.do("mesh.set_attribute", {"object": "Box", **colours})
    mesh, data = named("Box").data, bpy.data
    first = [tuple(each.uv) for each in mesh.uv_layers["First"].data]
    gone: Any = data.objects.new("Gone", None)
    bpy.context.scene.collection.objects.link(gone)
    bpy.context.view_layer.update()
    data.objects.remove(gone)  # its layer holds None until Blender looks again
    unwrap(stage, method="cube", uv_map="Second")
    assert [layer.name for layer in mesh.uv_layers] == ["First", "Second"]
    assert [tuple(each.uv) for each in mesh.uv_layers["First"].data] == first
    assert [tuple(each.color) for each in mesh.attributes["Tint"].data] == [(0.5, 0.25, 1.0, 1.0)] * 24
    assert [tuple(each.uv) for each in mesh.uv_layers["Second"].data] != first
