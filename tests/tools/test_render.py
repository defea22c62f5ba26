"""Peculiar behaviour of the render tools; what holds for all tools is in the conformance suite."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
import pytest
from numpy.typing import NDArray

if TYPE_CHECKING:
    from pathlib import Path

    from support.stage.stage import Stage

SMALL = {"width": 64, "height": 48}
STILL_SIZE = {"resolution": [32, 24]}
STILL = {"samples": 1, **STILL_SIZE}


def pixels(path: Path) -> NDArray[np.float32]:
    """Rows from the bottom, of red, green, blue and alpha."""
    image: Any = bpy.data.images.load(str(path))
    found = np.empty(len(image.pixels), dtype=np.float32)
    image.pixels.foreach_get(found)
    shape = (image.size[1], image.size[0], 4)
    images: Any = bpy.data.images
    images.remove(image)
    return found.reshape(shape)


def red_box(stage: Stage) -> None:
    stage.do("mesh.create_primitive", {"kind": "cube", "name": "Box"})
    stage.do("material.ensure_principled", {"name": "Red", "base_color": [0.9, 0.02, 0.02]})
    stage.do("material.assign", {"object": "Box", "material": "Red"})


def names() -> list[str]:
    return [block.name for kind in (bpy.data.objects, bpy.data.cameras) for block in kind]


def test_a_view_shows_all_objects_through_a_camera_that_does_not_stay(stage: Stage) -> None:
    red_box(stage)
    before = names()
    answer = stage.call("render.preview", {"view": "FRONT", **SMALL})
    assert answer["ok"], answer["message"]
    assert (answer["after"], answer["changes"], answer["artifacts"]) == (answer["before"], [], ["preview.png"])
    assert names() == before
    assert bpy.context.scene.camera is None
    picture = pixels(stage.scratch / "preview.png")
    reddish = (picture[:, :, 0] > 2 * picture[:, :, 1]) & (picture[:, :, 0] > 0.1)
    rows, columns = np.nonzero(reddish)
    # The cube fills the height but for the margins, and stands in the middle of the width.
    assert (rows.min(), rows.max()) == (pytest.approx(2, abs=1), pytest.approx(45, abs=1))
    assert columns.min() + columns.max() == pytest.approx(63, abs=1)


def test_settings_of_the_scene_are_as_before(stage: Stage) -> None:
    red_box(stage)
    stage.do(
        "scene.set_render", {"engine": "CYCLES", "samples": 77, "seed": 3, "resolution": [333, 222], "percentage": 50}
    )
    render: Any = bpy.context.scene.render
    render.filepath, render.image_settings.file_format = "//somewhere", "JPEG"
    stage.state.refresh()
    before = stage.state.root()
    for engine in ("WORKBENCH", "CYCLES"):
        stage.do("render.preview", {"view": "ISO", "engine": engine, "samples": 1, **SMALL})
        assert stage.state.full_root() == before
    assert (render.filepath, render.image_settings.file_format) == ("//somewhere", "JPEG")


def test_equal_scenes_and_seeds_give_equal_pixels_and_another_seed_other_noise(stage: Stage) -> None:
    red_box(stage)
    stage.do("light.create", {"name": "Lamp", "type": "POINT", "location": [2, -3, 3], "radius": 1, "energy": 500})
    args = {"view": "ISO", "engine": "CYCLES", "samples": 1, **SMALL}
    one, again, other = (stage.do("render.preview", {**args, "seed": seed})["pixels_sha256"] for seed in (1, 1, 2))
    assert one == again != other
    plain = [stage.do("render.preview", {"view": "ISO", **SMALL})["pixels_sha256"] for _ in range(2)]
    assert plain[0] == plain[1] != one


def test_cycles_sees_the_light(stage: Stage) -> None:
    red_box(stage)
    args = {"view": "ISO", "engine": "CYCLES", "samples": 4, **SMALL}
    stage.do("light.create", {"name": "Sun", "type": "SUN", "energy": 0.3, "rotation_euler_deg": [40, 20, 0]})
    assert stage.do("render.preview", {**args, "artifact": "dim.png"})["notes"] == []
    stage.do("light.set", {"object": "Sun", "energy": 3})
    stage.do("render.preview", {**args, "artifact": "lit.png"})
    dim, lit = (pixels(stage.scratch / name)[:, :, 0].mean() for name in ("dim.png", "lit.png"))
    assert lit > dim + 0.05


def test_a_look_at_a_scene_without_light_is_lit_and_says_so(stage: Stage) -> None:
    """Of a render it would be no use, but who looks wants to see what is there."""
    red_box(stage)
    before = stage.state.full_root()
    [note] = stage.do("render.preview", {"view": "ISO", "engine": "CYCLES", "samples": 4, **SMALL})["notes"]
    assert note.startswith("This preview is lit by a grey sky that the scene does not have. The scene has no light")
    seen = pixels(stage.scratch / "preview.png")
    middle, corner = seen[seen.shape[0] // 2, seen.shape[1] // 2], seen[1, 1]
    assert middle[0] > 2 * middle[1] > 0.1 and corner[1] > 0.4, "a red box before grey"
    assert stage.state.full_root() == before and bpy.context.scene.world is None and not len(bpy.data.worlds)
    black: Any = bpy.data.worlds.new("Black")
    if black.node_tree is not None:
        black.node_tree.nodes["Background"].inputs["Color"].default_value = (0, 0, 0, 1)
    black.color, bpy.context.scene.world = (0, 0, 0), black
    stage.state.refresh()
    [note] = stage.do("render.preview", {"view": "ISO", "engine": "CYCLES", "samples": 4, **SMALL})["notes"]
    assert "its world is black" in note and pixels(stage.scratch / "preview.png")[1, 1][1] > 0.4
    assert bpy.context.scene.world == black


def test_a_view_shows_some_objects_closely(stage: Stage) -> None:
    """With their children: a hand is looked at with its fingers."""
    for x in (-20, 30):
        stage.do("mesh.create_primitive", {"kind": "cube", "name": f"Far {x}", "location": [x, 0, 3]})
    stage.do("object.create_empty", {"name": "Hand", "location": [9, 9, 0]})
    for side in (-1, 1):
        finger = {
            "kind": "cube",
            "name": f"Finger {side}",
            "size": 0.2,
            "location": [0.3 * side, 0, 0],
            "parent": "Hand",
        }
        stage.do("mesh.create_primitive", finger)
    look = {"view": "FRONT", "show": "MASK", **SMALL}

    def share(**args: Any) -> float:
        seen = stage.do("render.preview", {**look, **args})["seen"]
        return sum(one["share"] for one in seen if one["object"].startswith("Finger"))

    before = stage.state.full_root()
    assert share() < 0.01 < 0.1 < share(around=["Hand"]) < share(around=["Finger 1"])
    assert stage.state.full_root() == before
    assert stage.refusal("render.preview", {**look, "around": ["Hond"]})[0]["pointer"] == "/around/0"
    stage.do("object.create_empty", {"name": "Nothing"})
    stage.do("object.set_visibility", {"object": "Finger 1", "render": False})
    unseen = stage.refusal("render.preview", {**look, "around": ["Hand", "Nothing", "Finger 1"]})
    assert [one["pointer"] for one in unseen] == ["/around/1", "/around/2"], "a finger of the hand is shown"
    assert stage.invalid("render.preview", {"around": ["Hand"], **SMALL}) == ["/around"]


def test_what_stands_before_them_is_not_cut_in_two(stage: Stage) -> None:
    stage.do("mesh.create_primitive", {"kind": "cube", "name": "Small", "size": 0.1})
    stage.do("mesh.create_primitive", {"kind": "cube", "name": "Beside", "size": 0.1, "location": [0.11, -1.5, 0]})
    stage.do("mesh.create_primitive", {"kind": "cube", "name": "Far", "size": 0.1, "location": [4, 0, 0]})
    looked = stage.do("render.preview", {"view": "FRONT", "around": ["Small"], "show": "DEPTH", **SMALL})
    assert {one["object"] for one in looked["seen"]} >= {"Small", "Beside"}, (
        "which is nearer by more than the size of what is looked at"
    )


def test_a_preview_needs_an_eye_and_something_to_see(stage: Stage) -> None:
    assert stage.refusal("render.preview", {"view": "ISO"})[0]["pointer"] == "/view"
    red_box(stage)
    (finding,) = stage.refusal("render.preview", {})
    assert (finding["code"], finding["pointer"]) == ("SCENE_CONFLICT", "/camera")
    assert stage.refusal("render.preview", {"camera": "Box"})[0]["code"] == "SCENE_CONFLICT"
    assert stage.refusal("render.preview", {"camera": "Bux"})[0]["code"] == "TARGET_NOT_FOUND"
    assert stage.invalid("render.preview", {"view": "ISO", "camera": "Camera"}) == ["/camera"]
    assert stage.invalid("render.preview", {"view": "ISO", "width": 2049}) == ["/width"]
    for name in ("../up.png", "a/b.png", ".png", "x.jpg"):
        assert stage.invalid("render.preview", {"view": "ISO", "artifact": name}) == ["/artifact"]


def with_camera(stage: Stage) -> None:
    red_box(stage)
    stage.do("camera.create", {"name": "Camera"})
    stage.do("camera.frame_objects", {"object": "Camera", "objects": ["Box"], "view": "ISO"})
    stage.do("scene.set_render", {"engine": "CYCLES", "samples": 1, "resolution": [60, 40]})


def test_a_still_has_the_scenes_own_size_and_goes_where_it_is_sent(stage: Stage) -> None:
    with_camera(stage)
    stage.do("camera.set_active", {"object": "Camera"})
    result = stage.do("render.still", {})
    assert (result["artifact"], result["width"], result["height"], result["engine"]) == ("still.png", 60, 40, "CYCLES")
    target = stage.scratch / "elsewhere.png"
    result = stage.do("render.still", {"path": "out/p.png", "samples": 2}, files={"out/p.png": str(target)})
    assert (result["artifact"], result["path"]) == (None, "out/p.png")
    assert pixels(target).shape == (40, 60, 4)


def test_a_transparent_film_has_an_empty_background(stage: Stage) -> None:
    with_camera(stage)
    stage.do("scene.set_render", {"engine": "WORKBENCH", "film_transparent": True, "percentage": 50})
    stage.do("render.still", {"camera": "Camera"})
    picture = pixels(stage.scratch / "still.png")
    assert picture.shape == (20, 30, 4)
    assert (picture[0, 0, 3], picture[10, 15, 3]) == pytest.approx((0.0, 1.0), abs=0.01)


def test_a_still_is_refused_without_a_camera_too_large_or_with_settings_of_another_engine(stage: Stage) -> None:
    with_camera(stage)
    assert stage.refusal("render.still", {})[0]["pointer"] == "/camera"
    stage.do("scene.set_render", {"engine": "WORKBENCH", "resolution": [65536, 65536]})
    findings = stage.refusal("render.still", {"camera": "Camera", "samples": 1, "time_limit_s": 1})
    assert [finding["code"] for finding in findings] == ["LIMIT_EXCEEDED", "ARGS_INVALID", "ARGS_INVALID"]
    assert stage.invalid("render.still", {"path": "picture.mp4"}) == ["/path"]


def middle_color(stage: Stage, **args: Any) -> NDArray[np.float32]:
    """The colour in the middle of a quick picture from the front."""
    stage.do("render.preview", {"view": "FRONT", **SMALL, **args})
    return pixels(stage.scratch / "preview.png")[24, 32, :3]


def node_material(name: str) -> Any:
    """A material whose nodes say one colour, and whose colour for viewports is another."""
    material: Any = bpy.data.materials.new(name)
    if bpy.app.version < (5, 0, 0):
        material.use_nodes = True
    material.diffuse_color = (0.8, 0.8, 0.8, 1.0)
    bpy.data.objects["Box"].data.materials.clear()
    bpy.data.objects["Box"].data.materials.append(material)
    return material


def checked(tree: Any, principled: Any) -> None:
    checker = tree.nodes.new("ShaderNodeTexChecker")
    checker.inputs["Color1"].default_value = checker.inputs["Color2"].default_value = (0.9, 0.0, 0.0, 1.0)
    tree.links.new(checker.outputs["Color"], principled.inputs["Base Color"])


def ramped(tree: Any, principled: Any) -> None:
    ramp = tree.nodes.new("ShaderNodeValToRGB")
    for element in ramp.color_ramp.elements:
        element.color = (0.9, 0.0, 0.0, 1.0)
    tree.links.new(tree.nodes.new("ShaderNodeTexNoise").outputs[0], ramp.inputs[0])
    tree.links.new(ramp.outputs[0], principled.inputs["Base Color"])


def grouped(tree: Any, principled: Any) -> None:
    group: Any = bpy.data.node_groups.new("Paint", "ShaderNodeTree")
    group.interface.new_socket("Paint", in_out="INPUT", socket_type="NodeSocketColor")
    group.interface.new_socket("Paint", in_out="OUTPUT", socket_type="NodeSocketColor")
    entry, leave = group.nodes.new("NodeGroupInput"), group.nodes.new("NodeGroupOutput")
    group.links.new(entry.outputs[0], leave.inputs[0])
    node = tree.nodes.new("ShaderNodeGroup")
    node.node_tree = group
    node.inputs[0].default_value = (0.9, 0.0, 0.0, 1.0)
    tree.links.new(node.outputs[0], principled.inputs["Base Color"])


def glowing(tree: Any, principled: Any) -> None:
    principled.inputs["Base Color"].default_value = (0.0, 0.0, 0.0, 1.0)
    principled.inputs["Emission Color"].default_value = (0.9, 0.0, 0.0, 1.0)
    principled.inputs["Emission Strength"].default_value = 5.0


def mixed(tree: Any, principled: Any) -> None:
    diffuse, mix = tree.nodes.new("ShaderNodeBsdfDiffuse"), tree.nodes.new("ShaderNodeMixShader")
    diffuse.inputs["Color"].default_value = (0.9, 0.0, 0.0, 1.0)
    mix.inputs[0].default_value = 1.0
    tree.links.new(principled.outputs[0], mix.inputs[1])
    tree.links.new(diffuse.outputs[0], mix.inputs[2])
    tree.links.new(mix.outputs[0], tree.get_output_node("ALL").inputs["Surface"])


def painted(tree: Any, principled: Any) -> None:
    image: Any = bpy.data.images.new("Paint", 8, 8)
    image.pixels.foreach_set(np.tile(np.array([0.9, 0.0, 0.0, 1.0], dtype=np.float32), 64))
    texture = tree.nodes.new("ShaderNodeTexImage")
    texture.image = image
    tree.links.new(texture.outputs["Color"], principled.inputs["Base Color"])


@pytest.mark.parametrize("build", [checked, ramped, grouped, glowing, mixed, painted], ids=lambda build: build.__name__)
def test_a_material_made_of_nodes_has_its_colour_in_a_quick_picture(stage: Stage, build: Any) -> None:
    stage.do("mesh.create_primitive", {"kind": "cube", "name": "Box"})
    material = node_material("Nodes")
    build(material.node_tree, next(node for node in material.node_tree.nodes if node.type == "BSDF_PRINCIPLED"))
    stage.state.refresh()
    before = stage.state.root()
    red, green, blue = middle_color(stage)
    assert red > 0.3 and red > 3 * max(green, blue), (red, green, blue)
    assert tuple(material.diffuse_color) == pytest.approx((0.8, 0.8, 0.8, 1.0))
    assert stage.state.full_root() == before


def test_a_view_is_framed_by_what_can_be_seen_and_not_by_lamps_cameras_and_empties(stage: Stage) -> None:
    red_box(stage)
    alone = stage.do("render.preview", {"view": "SIDE", **SMALL})["pixels_sha256"]
    assert alone == stage.do("render.preview", {"view": "RIGHT", **SMALL})["pixels_sha256"]
    stage.do("light.create", {"name": "Sun", "type": "SUN", "location": [40, -60, 90]})
    stage.do("camera.create", {"name": "Far", "location": [0, -200, 30]})
    stage.do("object.create_empty", {"name": "Aim", "location": [0, 80, 0]})
    stage.do("mesh.create_primitive", {"kind": "cube", "name": "Cutter", "location": [30, 0, 0]})
    stage.do("object.set_visibility", {"name": "Cutter", "render": False})
    assert stage.do("render.preview", {"view": "SIDE", **SMALL})["pixels_sha256"] == alone


def test_floors_and_walls_that_dwarf_the_rest_do_not_make_a_dot_of_it(stage: Stage) -> None:
    red_box(stage)
    alone = red_pixels(stage, "FRONT")
    stage.do("mesh.create_primitive", {"kind": "plane", "name": "Floor", "size": 60, "location": [0, 0, -1]})
    wall = {"kind": "plane", "name": "Wall", "size": 60, "location": [0, 4, 0], "rotation_euler_deg": [90, 0, 0]}
    stage.do("mesh.create_primitive", wall)
    assert red_pixels(stage, "FRONT") == pytest.approx(alone, rel=0.02)
    assert red_pixels(stage, "BACK") == pytest.approx(alone, rel=0.02), "the wall is not in the way"


def red_pixels(stage: Stage, view: str) -> int:
    stage.do("render.preview", {"view": view, "smooth": False, **SMALL})
    picture = pixels(stage.scratch / "preview.png")
    return int(((picture[:, :, 0] > 2 * picture[:, :, 1]) & (picture[:, :, 0] > 0.1)).sum())


def test_a_frame_is_shown_and_the_scene_stays_at_its_own(stage: Stage) -> None:
    red_box(stage)
    camera = {"name": "Camera", "location": [0, -10, 0], "rotation_euler_deg": [90, 0, 0]}
    stage.do("camera.create", camera)
    stage.do("scene.set_render", {"engine": "WORKBENCH"})
    for frame, place in ((1, 0.0), (20, 3.0)):
        key = {"object": "Box", "channel": "location", "frame": frame, "value": [place, 0, 0]}
        stage.do("animation.set_keyframe", key)
    before = stage.state.full_root()
    args = {"camera": "Camera", "smooth": False, **SMALL}
    shown = [stage.do("render.preview", {**args, "frame": frame})["pixels_sha256"] for frame in (1, 20, 1)]
    assert shown[0] == shown[2] != shown[1]
    assert (bpy.context.scene.frame_current, stage.state.full_root()) == (1, before)
    stills = [
        stage.do("render.still", {"camera": "Camera", "frame": frame, **STILL_SIZE})["pixels_sha256"]
        for frame in (1, 20)
    ]
    assert stills[0] != stills[1] and stage.state.full_root() == before


@pytest.mark.parametrize(
    ("resolution", "size"), [([1920, 1080], (185, 104)), ([1080, 1920], (104, 185)), ([8192, 16], (392, 49))]
)
def test_a_preview_may_have_the_shape_of_the_scenes_render(
    stage: Stage, resolution: list[int], size: tuple[int, int]
) -> None:
    stage.do("mesh.create_primitive", {"kind": "cube", "name": "Box"})
    stage.do("scene.set_render", {"resolution": resolution})
    args = {"view": "ISO", "width": 160, "height": 120}
    shaped = stage.do("render.preview", {**args, "render_shape": True})
    assert (shaped["width"], shaped["height"]) == size, "as many pixels as 160 x 120"
    plain = stage.do("render.preview", args)
    assert (plain["width"], plain["height"]) == (160, 120)


def test_denoising_is_on_by_itself_and_can_be_left_out(stage: Stage) -> None:
    with_camera(stage)
    stage.do("light.create", {"name": "Lamp", "type": "POINT", "location": [2, -3, 3], "radius": 1, "energy": 500})
    stage.do("mesh.create_primitive", {"kind": "plane", "name": "Floor", "size": 8, "location": [0, 0, -1]})
    for tool, args in (("render.still", STILL), ("render.preview", {"engine": "CYCLES", "samples": 1, **SMALL})):
        rough: list[float] = []
        for denoise in (True, False):
            name = f"{tool}.{denoise}.png"
            stage.do(tool, {"camera": "Camera", **args, "denoise": denoise, "artifact": name})
            picture = pixels(stage.scratch / name)[:, :, :3]
            rough.append(float(np.abs(np.diff(picture, axis=1)).mean()))
        assert rough[0] < 0.8 * rough[1], (tool, rough)


def test_a_still_can_have_another_size_and_a_named_side(stage: Stage) -> None:
    with_camera(stage)
    result = stage.do("render.still", {"view": "THREE_QUARTER", **STILL})
    assert (result["width"], result["height"]) == (32, 24)
    assert (bpy.context.scene.render.resolution_x, bpy.context.scene.camera) == (60, None)
    assert stage.invalid("render.still", {"view": "ISO", "camera": "Camera"}) == ["/view"]
    assert (
        stage.refusal("render.still", {"camera": "Camera", "resolution": [65536, 65536]})[0]["code"] == "LIMIT_EXCEEDED"
    )


def test_a_picture_without_light_says_so(stage: Stage) -> None:
    red_box(stage)
    preview = {"view": "ISO", "engine": "CYCLES", "samples": 1, "width": 32, "height": 24}

    def notes(**args: Any) -> str:
        return " ".join(stage.do("render.preview", {**preview, **args})["notes"])

    assert "the scene has no world" in notes() and "light.create" in notes()
    assert not notes(engine="WORKBENCH")
    stage.do("scene.set_world", {"color": [0, 0, 0]})
    assert "world is black" in notes()
    stage.do("material.ensure_principled", {"name": "Red", "emission_color": [1, 0, 0], "emission_strength": 2})
    assert not notes()
    stage.do("material.ensure_principled", {"name": "Red", "emission_strength": 0})
    stage.do("light.create", {"name": "Sun", "type": "SUN"})
    assert not notes()
    stage.do("object.set_visibility", {"object": "Sun", "render": False})
    assert "renders show no light object" in notes()
    stage.do("scene.set_world", {"color": [0.5, 0.5, 0.5]})
    assert not notes()


def test_a_picture_that_no_light_reaches_says_so(stage: Stage) -> None:
    """What is seen counts: a lamp that is too weak is no light, and a world of other nodes is one."""
    red_box(stage)
    preview = {"view": "ISO", "engine": "CYCLES", "samples": 1, "width": 32, "height": 24}

    def notes(**args: Any) -> str:
        return " ".join(stage.do("render.preview", {**preview, **args})["notes"])

    stage.do("light.create", {"name": "Lamp", "type": "POINT", "energy": 0.01, "location": [3, -3, 4]})
    assert "although the scene has light" in notes() and "WORKBENCH" in notes()
    assert not notes(engine="WORKBENCH")
    stage.do("light.set", {"object": "Lamp", "energy": 2000})
    assert not notes()
    stage.do("object.delete", {"object": "Lamp"})
    assert "The scene has no light" in notes()
    world: Any = bpy.data.worlds.new("Odd")
    bpy.context.scene.world = world
    if world.node_tree is None:
        world.use_nodes = True
    tree: Any = world.node_tree
    tree.nodes.clear()
    emission, output = tree.nodes.new("ShaderNodeEmission"), tree.nodes.new("ShaderNodeOutputWorld")
    tree.links.new(emission.outputs[0], output.inputs["Surface"])
    stage.state.refresh()
    assert not notes()


def test_what_can_be_seen_through_is_not_black(stage: Stage) -> None:
    with_camera(stage)
    stage.do("light.create", {"name": "Sun", "type": "SUN", "energy": 3, "rotation_euler_deg": [40, 20, 0]})
    bpy.context.scene.render.engine, bpy.context.scene.render.film_transparent = "CYCLES", True
    stage.state.refresh()
    assert stage.do("render.still", {"camera": "Camera", "samples": 1, "resolution": [32, 24]})["notes"] == []
    stage.do("object.set_visibility", {"object": "Sun", "render": False})
    [note] = stage.do("render.still", {"camera": "Camera", "samples": 1, "resolution": [32, 24]})["notes"]
    assert "The scene has no light" in note


def test_a_film_without_light_says_so(stage: Stage) -> None:
    with_camera(stage)
    bpy.context.scene.render.engine = "CYCLES"
    film = {"camera": "Camera", "start": 1, "end": 3, "samples": 1, "resolution": [32, 24]}
    assert "The scene has no light" in stage.do("render.animation", film)["notes"][0]
