"""render.annotations: masks, boxes, depths, normals and keypoints are those of the scene, and nothing of the scene changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
import pytest
from mathutils import Vector

from tools.annotated import EYE, Taken, annotate, category, decoded, extent, projected
from tools.objects import box, empty, named

if TYPE_CHECKING:
    from support.stage.stage import Stage


@pytest.fixture
def eye(stage: Stage) -> Stage:
    stage.do("camera.create", EYE)
    return stage


def consistent(taken: Taken) -> None:
    """What every picture must keep: masks, boxes and counts agree with the picture of instances."""
    numbers, categories = taken.numbers("instances"), taken.numbers("categories")
    wanted = np.zeros_like(numbers)
    assert [each["id"] for each in taken.picture["instances"]] == list(range(1, len(taken.picture["instances"]) + 1))
    for each in taken.picture["instances"]:
        visible = numbers == each["id"]
        full = decoded(each["mask_full"], numbers.shape)
        wanted[visible] = each["category_id"]
        assert (decoded(each["mask_visible"], numbers.shape) == visible).all()
        assert (each["visible_pixels"], each["box_visible"]) == (visible.sum(), extent(visible))
        assert (each["full_pixels"], each["box_full"]) == (full.sum(), extent(full))
        assert (full | ~visible).all(), "what is seen is a part of the whole"
        share = visible.sum() / full.sum() if full.any() else 0.0
        assert each["visibility"] == pytest.approx(share, abs=1e-6)
    assert (categories == wanted).all()
    assert set(np.unique(numbers).tolist()) <= {0, *(each["id"] for each in taken.picture["instances"])}


def test_what_is_hidden_counts_as_a_part_of_the_whole(eye: Stage) -> None:
    box(eye, "Front", size=1.0, location=[0.5, -2, 0])
    box(eye, "Back", size=2.0, location=[0, 2, 0])
    box(eye, "Wall", size=1.0, location=[-4, 0, 0])
    whole = annotate(eye, category("thing", "Back"), artifact="alone").of("Back")
    taken = annotate(eye, category("thing", "Back", "Front"))
    consistent(taken)
    front, back = taken.of("Front"), taken.of("Back")
    assert front["visibility"] == 1.0 and 0.3 < back["visibility"] < 0.9
    # What the box looks like with nothing before it, taken without the other one.
    eye.do("object.delete", {"object": "Front"})
    free = annotate(eye, category("thing", "Back"), artifact="free").of("Back")
    assert free["mask_visible"] == back["mask_full"] == whole["mask_full"] == free["mask_full"]
    assert free["visibility"] == 1.0


def test_an_object_that_nobody_sees_is_told_with_no_pixels(eye: Stage) -> None:
    box(eye, "Hidden", size=1.0, location=[0, 3, 0])
    box(eye, "Cover", size=3.0)
    box(eye, "Aside", location=[40, 0, 0])
    box(eye, "Behind", location=[0, -30, 0])
    box(eye, "Around", location=[0, -10, -0.9], size=2.0, scale=[1, 4, 0.1])
    taken = annotate(eye, category("thing", "Hidden", "Aside", "Behind", "Around"))
    consistent(taken)
    hidden = taken.of("Hidden")
    assert hidden["visible_pixels"] == 0 and hidden["full_pixels"] > 20 and hidden["visibility"] == 0.0
    assert not hidden["truncated"] and hidden["box_3d"]["corners"]
    aside = taken.of("Aside")
    assert (aside["full_pixels"], aside["truncated"], aside["mask_full"]) == (0, True, None)
    assert aside["box_projected"][0] > 96
    behind = taken.of("Behind")
    assert behind["full_pixels"] == 0 and behind["box_projected"] is None and behind["box_3d"]["corners"] is None
    around = taken.of("Around")
    assert around["visible_pixels"] > 0 and around["truncated"] and around["box_projected"] is None
    assert behind["box_3d"]["camera"]["center"] == pytest.approx([0, 0, -20], abs=1e-4)


def test_depths_and_normals_are_those_of_known_planes(eye: Stage) -> None:
    eye.do("mesh.create_primitive", {"kind": "plane", "name": "Wall", "size": 40, "rotation_euler_deg": [90, 0, 0]})
    taken = annotate(eye, category("wall", "Wall"))
    assert np.allclose(taken.depths, 10.0, atol=1e-4), "depth is along the camera's axis, not along the ray"
    assert (taken.numbers("depth") == 10_000).all()
    assert np.allclose(taken.normals, [0, 0, -1], atol=1e-4), "towards the camera, in the camera's frame"
    # A floor two metres below: the depth of a pixel follows from its row alone.
    eye.do(
        "object.transform",
        {"object": "Wall", "location": [0, 0, -2], "rotation_euler_deg": [0, 0, 0], "scale": [9, 9, 9]},
    )
    taken = annotate(eye, category("floor", "Wall"), artifact="floor")
    fy, cy = taken.camera["K"][1][1], taken.camera["K"][1][2]
    row = 60
    assert taken.depths[row] == pytest.approx(2 * fy / (row - cy), rel=1e-4)
    assert np.allclose(taken.normals[row], [0, -1, 0], atol=1e-4), "up is against the picture's Y"
    assert not taken.depths[:30].any() and not taken.numbers("depth")[:30].any(), "the sky is nothing"
    far = taken.depths > 65.535
    assert far.any() and not taken.numbers("depth")[far].any(), "too far for millimetres in 16 bits"


def test_boxes_in_space_stand_as_their_objects_do(eye: Stage) -> None:
    empty(eye, "Pivot", location=[1, 0, 0.5], rotation_euler_deg=[10, 20, 30])
    box(eye, "Turned", size=1.0, location=[-1, 1, 0.5], rotation_euler_deg=[0, 0, 45], scale=[2, 1, -0.5])
    box(eye, "Child", size=1.0, parent="Pivot", scale=[1, 2, 1], rotation_euler_deg=[0, 40, 0])
    taken = annotate(eye, category("thing", "Turned", "Child"))
    consistent(taken)
    turned = taken.of("Turned")["box_3d"]
    assert turned["size"] == pytest.approx([2, 1, 0.5], abs=1e-5)
    assert turned["world"]["center"] == pytest.approx([-1, 1, 0.5], abs=1e-5)
    half = 2**-0.5
    assert np.allclose(np.array(turned["world"]["rotation"]), [[half, -half, 0], [half, half, 0], [0, 0, 1]], atol=1e-5)
    for name in ("Turned", "Child"):
        told, obj = taken.of(name), named(name)
        for frame in ("world", "camera"):
            rotation = np.array(told["box_3d"][frame]["rotation"])
            assert np.allclose(rotation @ rotation.T, np.eye(3), atol=1e-5) and np.linalg.det(rotation) > 0
        # Every corner of the real shape is a corner of the box, in the picture too.
        corners = [tuple(projected(taken.camera, obj.matrix_world @ vertex.co)) for vertex in obj.data.vertices]
        for corner in corners:
            nearest = min(np.abs(np.array(told["box_3d"]["corners"]) - corner).max(axis=1))
            assert nearest < 1e-3
        xs, ys, _ = zip(*corners, strict=True)
        assert told["box_projected"] == pytest.approx(
            [min(xs), min(ys), max(xs) - min(xs), max(ys) - min(ys)], abs=1e-3
        )
        left, top, width, height = told["box_full"]
        assert abs(left - min(xs)) <= 1 and abs(left + width - max(xs)) <= 1
        assert abs(top - min(ys)) <= 1 and abs(top + height - max(ys)) <= 1
        matrix = np.array(taken.camera["world_to_camera"]) @ np.array(obj.matrix_world)
        assert np.allclose(told["object_to_camera"], matrix, atol=1e-4)


def test_keypoints_are_where_their_sources_are_and_say_whether_they_are_seen(eye: Stage) -> None:
    target = box(eye, "Cup", size=2.0, rotation_euler_deg=[0, 0, 20])
    box(eye, "Cover", size=0.6, location=[-0.9, -4, 0.9])
    eye.do("vertex_group.set", {"object": "Cup", "name": "Lid", "weights": [{"select": {"normal": "+Z"}, "weight": 1}]})
    empty(eye, "Handle", parent="Cup", location=[0, -1, 0.5])
    eye.do("object.set_property", {"object": "Handle", "key": "keypoint", "value": "handle"})
    points = [
        {"name": "near", "at": [0.0, -1.0, 0.0]},
        {"name": "middle", "at": [0, 0, 0]},
        {"name": "outside", "at": [0, 0, 40]},
        {"name": "behind", "at": [0, -30, 0]},
        {"name": "lid", "vertex_group": "Lid"},
        {"name": "handle"},
        {"name": "nowhere else"},
    ]
    taken = annotate(eye, category("cup", "Cup", keypoints=points, skeleton=[["near", "handle"]]))
    near, middle, outside, behind, lid, handle, missing = taken.of("Cup")["keypoints"]
    (described,) = taken.document["categories"]
    assert described["keypoints"][0] == "near" and described["skeleton"] == [[1, 6]]
    for told, at, seen in ((near, (0, -1, 0), 2), (middle, (0, 0, 0), 1), (handle, (0, -1, 0.5), 2)):
        x, y, _ = projected(taken.camera, target.matrix_world @ Vector(at))
        assert told == [pytest.approx(x, abs=1e-3), pytest.approx(y, abs=1e-3), seen]
    group = [vertex.co for vertex in target.data.vertices if vertex.co.z > 0]
    x, y, _ = projected(taken.camera, target.matrix_world @ (sum(group, Vector()) / 4))
    assert lid[:2] == [pytest.approx(x, abs=1e-3), pytest.approx(y, abs=1e-3)]
    assert outside == behind == missing == [0, 0, 0]


def test_bones_are_keypoints_of_what_they_move(eye: Stage) -> None:
    bones = [{"name": "Hand", "head": [0, 0, 0], "tail": [0, 0, 1]}]
    eye.do("armature.create", {"name": "Rig", "bones": bones, "location": [1, 0, 0.5]})
    box(eye, "Arm", size=0.5, parent="Rig")
    taken = annotate(eye, category("arm", "Arm", keypoints=[{"name": "hand", "bone": "Hand"}]))
    x, y, _ = projected(taken.camera, (1, 0, 0.5))
    assert taken.of("Arm")["keypoints"][0][:2] == [pytest.approx(x, abs=1e-3), pytest.approx(y, abs=1e-3)]


def instanced(stage: Stage) -> None:
    """Three collection instances of a stone, one over the other in the picture, and the stone itself nowhere."""
    stage.do("collection.create", {"name": "Kit"})
    box(stage, "Stone", size=1.0, collection="Kit")
    for number, place in enumerate(([-1, 0, 0], [-0.4, 3, 0.7], [2, 0, 0])):
        stage.do("object.instance_collection", {"instance_of": "Kit", "name": f"Put{number}", "location": place})


def test_what_is_repeated_is_an_instance_each_time(eye: Stage) -> None:
    instanced(eye)
    taken = annotate(eye, category("stone", "Stone"))
    consistent(taken)
    placed = {each["instancer"]: each for each in taken.all_of("Stone")}
    assert placed.keys() == {None, "Put0", "Put1", "Put2"}, "the collection is in the scene itself too"
    for name, place in (("Put0", [-1, 0, 0]), ("Put1", [-0.4, 3, 0.7]), ("Put2", [2, 0, 0])):
        assert placed[name]["box_3d"]["world"]["center"] == pytest.approx(place, abs=1e-5)
        x, y, _ = projected(taken.camera, [place[0], place[1] - 0.5, place[2]])
        numbers = taken.numbers("instances")
        if name != "Put1":
            assert numbers[int(y), int(x)] == placed[name]["id"]
    assert 0.2 < placed["Put1"]["visibility"] < 1.0
    assert not [layer for layer in bpy.context.scene.view_layers if len(layer.aovs) or layer.material_override]
    assert {obj.pass_index for obj in bpy.data.objects} == {0}


def test_a_category_of_the_instancer_makes_one_thing_of_what_it_repeats(eye: Stage) -> None:
    instanced(eye)
    taken = annotate(eye, category("heap", "Put0", "Put2"))
    consistent(taken)
    assert [(each["object"], each["instancer"]) for each in taken.picture["instances"]] == [
        ("Put0", None),
        ("Put2", None),
    ]
    assert all(each["visible_pixels"] > 50 for each in taken.picture["instances"])


def test_two_that_stand_at_one_place_are_told_apart(eye: Stage) -> None:
    eye.do("collection.create", {"name": "Kit"})
    box(eye, "Stone", size=1.0, collection="Kit", location=[0, 0, 30])
    # Turned about the origin of its instancer, the other one comes to stand at the same place.
    side = -30 * 2**-0.5
    for name, place, turn in (("Flat", [0, 0, -30], 0), ("Steep", [side, 0, side], 45)):
        args = {"instance_of": "Kit", "name": name, "location": place, "rotation_euler_deg": [0, turn, 0]}
        eye.do("object.instance_collection", args)
    taken = annotate(eye, category("stone", "Stone"))
    consistent(taken)
    flat, steep = (
        next(each for each in taken.all_of("Stone") if each["instancer"] == name) for name in ("Flat", "Steep")
    )
    assert flat["object_to_world"][0][3] == pytest.approx(steep["object_to_world"][0][3], abs=1e-3)
    assert flat["visible_pixels"] and steep["visible_pixels"]


def test_300_instances_are_300_numbers(eye: Stage) -> None:
    box(eye, "Stone", size=0.2, location=[-2.8, 0, 1.9])
    eye.do(
        "object.duplicate_grid",
        {"object": "Stone", "prefix": "Stone", "columns": 20, "rows": 1, "layers": 15, "gap": [0.09, 0, 0.07]},
    )
    stones = [obj.name for obj in bpy.data.objects if obj.type == "MESH"]
    taken = annotate(eye, category("stone", *stones), resolution=[160, 120])
    consistent(taken)
    assert len(taken.picture["instances"]) == 300


@pytest.mark.parametrize("name", ["a/b", "../up", "ü ☃ 名", "line\u2028break", "'; drop", "NUL.png"])
def test_names_of_objects_never_become_names_of_files(eye: Stage, name: str) -> None:
    box(eye, name)
    taken = annotate(eye, category("odd/../name", name), layers=["INSTANCES"])
    assert taken.of(name)["visible_pixels"] > 0
    assert {path.name for path in taken.folder.iterdir()} == {
        "annotations.json",
        "0000_instances.png",
        "0000_color.png",
    }
    assert {path.name for path in eye.scratch.iterdir()} == {"annotations"}


def test_without_anything_of_a_category_there_are_no_instances(eye: Stage) -> None:
    box(eye, "Plain")
    taken = annotate(eye, category("rare"), category("rarer", id=7))
    assert taken.picture["instances"] == [] and not taken.numbers("instances").any()
    assert [(each["id"], each["name"]) for each in taken.document["categories"]] == [(1, "rare"), (7, "rarer")]
    assert taken.depths.any(), "what has no category is in the picture all the same"


def test_a_property_names_the_category_and_arguments_come_first(eye: Stage) -> None:
    eye.do("collection.create", {"name": "Toys"})
    for number, name in enumerate(("A", "B", "C")):
        box(eye, name, size=1.0, location=[number * 2 - 2, 0, 0], collection="Toys")
    eye.do("object.set_property", {"object": "B", "key": "category", "value": "cup"})
    eye.do("object.set_property", {"object": "C", "key": "category", "value": "cup"})
    taken = annotate(eye, {"name": "toy", "collections": ["Toys"]}, {"name": "dog", "objects": ["C"]})
    names = {each["id"]: each["name"] for each in taken.document["categories"]}
    assert names == {1: "toy", 2: "dog", 3: "cup"}
    assert {each["object"]: names[each["category_id"]] for each in taken.picture["instances"]} == {
        "A": "toy",
        "B": "cup",
        "C": "dog",
    }


def test_equal_scenes_give_equal_files(eye: Stage) -> None:
    instanced(eye)
    eye.do("light.create", {"name": "Sun", "type": "SUN", "rotation_euler_deg": [60, 0, 20]})
    one = annotate(eye, category("stone", "Stone"), artifact="one", samples=4)
    other = annotate(eye, category("stone", "Stone"), artifact="other", samples=4)
    files = {path.name: path.read_bytes() for path in one.folder.iterdir()}
    assert files == {path.name: path.read_bytes() for path in other.folder.iterdir()} and len(files) == 7
    different = annotate(eye, category("stone", "Stone"), artifact="third", samples=4, seed=1)
    changed = {name for name, data in files.items() if (different.folder / name).read_bytes() != data}
    assert changed == {"0000_color.png"}


def test_blur_and_holes_do_not_smear_masks(eye: Stage) -> None:
    box(eye, "Box", size=2.0)
    sharp = annotate(eye, category("box", "Box"), artifact="sharp")
    eye.do("camera.set", {"object": "Eye", "depth_of_field": True, "focus_distance": 1.0, "fstop": 0.05})
    blurred = annotate(eye, category("box", "Box"), artifact="blurred")
    assert (sharp.numbers("instances") == blurred.numbers("instances")).all()
    assert (sharp.depths == blurred.depths).all()


def test_several_cameras_and_frames_are_several_pictures(eye: Stage) -> None:
    box(eye, "Box", size=2.0)
    eye.do("camera.create", {**EYE, "name": "Other", "location": [2, -10, 0]})
    for frame, x in ((1, 0.0), (10, 1.0)):
        eye.do("animation.set_keyframe", {"object": "Box", "channel": "location", "frame": frame, "value": [x, 0, 0]})
    taken = annotate(eye, category("box", "Box"), cameras=["Eye", "Other"], frames=[1, 10])
    found = [(each["frame"], each["camera"]["name"]) for each in taken.document["pictures"]]
    assert found == [(1, "Eye"), (1, "Other"), (10, "Eye"), (10, "Other")]
    for number in range(4):
        one = Taken(taken.folder, taken.document, number)
        consistent(one)
        center = one.of("Box")["box_3d"]["world"]["center"]
        assert center == pytest.approx([0 if number < 2 else 1, 0, 0], abs=1e-5)
    lefts = [each["instances"][0]["box_visible"][0] for each in taken.document["pictures"]]
    assert lefts[1] < lefts[0] < lefts[2] and lefts[1] < lefts[3]


def test_what_cannot_be_is_told_with_its_place_and_a_cure(eye: Stage) -> None:
    box(eye, "Cup")
    eye.do("camera.create", {"name": "Flat", "projection": "ORTHO"})
    eye.do("camera.create", {"name": "Mirrored", "scale": [-1, 1, 1]})
    args: dict[str, Any] = {"cameras": ["Eye"]}

    def places(**more: Any) -> dict[str, str]:
        found = eye.refusal("render.annotations", {**args, **more})
        return {each["pointer"]: f"{each['message']} {each['cure']}" for each in found}

    assert "category" in places()["/categories"]
    (told,) = places(categories=[category("cup", "Cap")]).values()
    assert "Did you mean 'Cup'" in told
    assert "/categories/0/collections/0" in places(categories=[{"name": "cup", "collections": ["Toys"]}])
    cup = category("cup", "Cup", keypoints=[{"name": "a", "vertex_group": "Lid"}, {"name": "b", "bone": "Hand"}])
    assert places(categories=[cup]).keys() == {
        "/categories/0/keypoints/0/vertex_group",
        "/categories/0/keypoints/1/bone",
    }
    cameras = places(categories=[category("cup", "Cup")], cameras=["Flat", "Mirrored", "Cup", "Ey"])
    assert cameras.keys() == {f"/cameras/{number}" for number in range(4)}
    assert "no intrinsics" in cameras["/cameras/0"] and "mirrored" in cameras["/cameras/1"]
    assert "/samples" in places(categories=[category("cup", "Cup")], engine="WORKBENCH", samples=3)
    eye.do("object.set_visibility", {"object": "Cup", "viewport": False})
    (told,) = places(categories=[category("cup", "Cup")]).values()
    assert "hidden from viewports" in told


def test_categories_that_contradict_each_other_are_refused(stage: Stage) -> None:
    for wrong in (
        [category("a", "X"), category("a")],
        [category("a", id=1), category("b", id=1)],
        [category("a", "X"), category("b", "X")],
    ):
        assert stage.invalid("render.annotations", {"categories": wrong}) == ["/categories"]
    points = [{"name": "a"}, {"name": "a"}]
    assert stage.invalid("render.annotations", {"categories": [category("c", keypoints=points)]})
    joined = category("c", keypoints=[{"name": "a"}], skeleton=[["a", "b"]])
    assert stage.invalid("render.annotations", {"categories": [joined]})
    both = category("c", keypoints=[{"name": "a", "at": [0, 0, 0], "bone": "b"}])
    assert stage.invalid("render.annotations", {"categories": [both]})


SCATTER = {
    "v": 1,
    "target": {"object_name": "Ground", "modifier_name": "GeometryNodes"},
    "ops": [
        {"op": "ensure_target", "allow_create_modifier": True},
        {"op": "ensure_single_group_io"},
        {"op": "add_node", "id": "put", "bl_idname": "GeometryNodeInstanceOnPoints", "x": 100},
        {"op": "add_node", "id": "stone", "bl_idname": "GeometryNodeObjectInfo", "x": 0},
        {"op": "set_input", "node_id": "stone", "socket_name": "Object", "value": "Stone"},
        {"op": "set_input", "node_id": "stone", "socket_name": "As Instance", "value": True},
        {
            "op": "link",
            "from": {"node_id": "group_input", "socket_name": "Geometry"},
            "to": {"node_id": "put", "socket_name": "Points"},
        },
        {
            "op": "link",
            "from": {"node_id": "stone", "socket_name": "Geometry"},
            "to": {"node_id": "put", "socket_name": "Instance"},
        },
        {
            "op": "link",
            "from": {"node_id": "put", "socket_name": "Instances"},
            "to": {"node_id": "group_output", "socket_name": "Geometry"},
        },
    ],
}


def test_what_nodes_scatter_is_told_apart(eye: Stage) -> None:
    box(eye, "Stone", size=0.5, location=[0, 30, 0])
    eye.do("mesh.create_primitive", {"kind": "plane", "name": "Ground", "size": 4, "rotation_euler_deg": [90, 0, 0]})
    eye.do("geonodes.patch", SCATTER)
    taken = annotate(eye, category("stone", "Stone"))
    consistent(taken)
    scattered = [each for each in taken.all_of("Stone") if each["instancer"] == "Ground"]
    assert len(scattered) == 4 and all(each["visible_pixels"] > 4 for each in scattered)
    places = {tuple(round(value, 2) + 0.0 for value in each["box_3d"]["world"]["center"]) for each in scattered}
    assert places == {(x, 0.0, z) for x in (-2.0, 2.0) for z in (-2.0, 2.0)}
    one = annotate(eye, category("ground", "Ground"), artifact="one")
    assert one.of("Ground")["visible_pixels"] == sum(each["visible_pixels"] for each in scattered)
