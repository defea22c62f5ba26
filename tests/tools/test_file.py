"""file.import and file.export: what goes out comes back, no name changes silently, broken files leave no trace."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from support.stage.stage import Stage, needs_undo

FORMATS = ["glb", "obj", "stl", "ply", "usd", "usda", "usdc", "fbx", "abc", "blend"]
SPHERE = {"kind": "uv_sphere", "name": "Ball", "location": [1, 2, 3], "segments": 8, "rings": 4}


class Desk:
    """A stage with files on it."""

    def __init__(self, stage: Stage, folder: Path) -> None:
        self.stage = stage
        self.folder = folder

    def files(self, path: str) -> dict[str, str]:
        return {path: str(self.folder / path)}

    def export(self, path: str, **args: Any) -> dict[str, Any]:
        before = self.stage.state.root()
        result = self.stage.do("file.export", {"path": path, **args}, files=self.files(path))
        assert self.stage.state.full_root() == before
        return result

    def bring(self, path: str, **args: Any) -> dict[str, Any]:
        return self.stage.do("file.import", {"path": path, **args}, files=self.files(path))

    def refused(self, tool: str, path: str, **args: Any) -> dict[str, Any]:
        (finding,) = self.stage.refusal(tool, {"path": path, **args}, files=self.files(path))
        return finding


@pytest.fixture
def desk(stage: Stage, tmp_path: Path) -> Desk:
    folder = tmp_path / "files"
    folder.mkdir()
    return Desk(stage, folder)


def data() -> Any:
    import bpy

    return bpy.data


def scene() -> Any:
    import bpy

    return bpy.context.scene


@pytest.mark.parametrize("extension", FORMATS)
def test_what_is_exported_can_be_imported(desk: Desk, extension: str) -> None:
    desk.stage.do("mesh.create_primitive", SPHERE)
    written = desk.export(f"Ball.{extension}")
    assert (written["objects"], written["left_out_total"]) == (1, 0)
    assert written["bytes"] == (desk.folder / f"Ball.{extension}").stat().st_size
    desk.stage.state.reset()
    brought = desk.bring(f"Ball.{extension}")
    assert brought["objects"] == ["Ball"]
    assert brought["counts"]["meshes"] == 1
    assert len(data().objects["Ball"].data.polygons) in (32, 48)  # STL and glTF have triangles only
    assert [obj.name for obj in scene().collection.objects] == ["Ball"]


@pytest.mark.parametrize("extension", FORMATS)
def test_an_import_is_taken_back_by_memfile_and_gives_the_same_hash_again(desk: Desk, extension: str) -> None:
    needs_undo()
    desk.stage.do("mesh.create_primitive", SPHERE)
    desk.export(f"Ball.{extension}")
    desk.stage.state.reset()
    desk.stage.do("object.create_empty", {"name": "Pivot"})
    path = f"Ball.{extension}"
    rehearsed = desk.stage.call("file.import", {"path": path}, files=desk.files(path), rehearse="memfile")
    assert (rehearsed["ok"], rehearsed["reverted_by"]) == (True, "memfile")
    first = desk.stage.call("file.import", {"path": path}, files=desk.files(path))["after"]
    desk.stage.state.reset()
    desk.stage.do("object.create_empty", {"name": "Pivot"})
    assert desk.stage.call("file.import", {"path": path}, files=desk.files(path))["after"] == first


def test_a_taken_name_is_a_conflict_that_lists_what_collides(desk: Desk) -> None:
    needs_undo()
    desk.stage.do("mesh.create_primitive", SPHERE)
    desk.export("Ball.glb")
    finding = desk.refused("file.import", "Ball.glb")
    assert (finding["code"], finding["pointer"]) == ("SCENE_CONFLICT", "/path")
    assert "mesh 'Ball', object 'Ball'" in finding["message"]
    assert "on_collision" in finding["cure"]


def test_renaming_says_which_name_each_had_in_its_file(desk: Desk) -> None:
    for name in ("Ball", "Ball.001", "Cone"):
        desk.stage.do("mesh.create_primitive", {**SPHERE, "name": name})
    desk.export("three.glb")
    desk.stage.do("object.delete", {"object": "Ball.001"})
    desk.stage.do("object.delete", {"object": "Cone"})
    ball = desk.stage.state.fingerprint.get(("objects", "Ball"))
    brought = desk.bring("three.glb", on_collision="rename")
    renamed = [(entry["old"], entry["new"]) for entry in brought["renamed"] if entry["kind"] == "objects"]
    assert renamed == [("Ball", "Ball.002")]
    assert brought["objects"] == ["Ball.001", "Ball.002", "Cone"]
    assert desk.stage.state.fingerprint.get(("objects", "Ball")) == ball


def test_a_suffix_that_a_file_has_itself_is_no_collision(desk: Desk) -> None:
    desk.stage.do("mesh.create_primitive", {**SPHERE, "name": "Ball.001"})
    desk.export("one.glb")
    desk.stage.do("object.delete", {"object": "Ball.001"})
    desk.stage.do("mesh.create_primitive", SPHERE)
    assert desk.bring("one.glb")["objects"] == ["Ball.001"]


def test_everything_goes_into_the_given_collection(desk: Desk) -> None:
    desk.stage.do("mesh.create_primitive", SPHERE)
    desk.export("Ball.glb")
    desk.stage.do("object.delete", {"object": "Ball"})
    desk.stage.do("collection.create", {"name": "Props"})
    desk.bring("Ball.glb", collection="Props")
    assert [obj.name for obj in data().collections["Props"].objects] == ["Ball"]
    assert not scene().collection.objects
    finding = desk.refused("file.import", "Ball.glb", collection="Prop")
    assert (finding["pointer"], finding["cure"]) == ("/collection", "Did you mean 'Props'?")


def test_appending_nothing_is_invalid(desk: Desk) -> None:
    assert desk.stage.invalid("file.import", {"path": "all.blend", "append": []}) == ["/append"]


def test_a_blend_gives_what_is_named_and_what_that_needs(desk: Desk) -> None:
    desk.stage.do("mesh.create_primitive", SPHERE)
    desk.stage.do("object.create_empty", {"name": "Pivot"})
    desk.stage.do("collection.create", {"name": "Props"})
    desk.stage.do("object.create_empty", {"name": "Inside", "collection": "Props"})
    data().objects["Ball"].data.materials.append(data().materials.new("Red"))
    desk.stage.state.refresh()
    desk.export("all.blend")
    desk.stage.state.reset()
    named = [{"kind": "objects", "name": "Ball"}, {"kind": "collections", "name": "Props"}]
    brought = desk.bring("all.blend", append=named)
    assert brought["objects"] == ["Ball", "Inside"]
    assert brought["counts"] == {"collections": 1, "materials": 1, "meshes": 1, "objects": 2}
    assert [child.name for child in scene().collection.children] == ["Props"]
    assert not data().libraries
    desk.stage.state.reset()
    desk.bring("all.blend", append=[{"kind": "materials", "name": "Red"}])
    assert data().materials["Red"].use_fake_user


def test_what_a_blend_does_not_hold_is_not_found(desk: Desk) -> None:
    desk.stage.do("mesh.create_primitive", SPHERE)
    desk.export("all.blend")
    desk.stage.state.reset()
    finding = desk.refused("file.import", "all.blend", append=[{"kind": "objects", "name": "Bal"}])
    assert (finding["code"], finding["pointer"]) == ("TARGET_NOT_FOUND", "/append/0/name")
    assert finding["cure"] == "Did you mean 'Ball'?"
    finding = desk.refused("file.import", "all.blend", append=[{"kind": "worlds", "name": "Sky"}])
    assert "0 worlds" in finding["cure"]


@pytest.mark.parametrize("extension", ["glb", "gltf", "obj", "stl", "ply", "usda", "usdc", "fbx", "blend"])
@pytest.mark.parametrize("content", [b"", b"no such thing\n" * 20, bytes(range(256)) * 8])
def test_a_broken_file_is_refused_and_leaves_no_trace(desk: Desk, extension: str, content: bytes) -> None:
    desk.stage.do("object.create_empty", {"name": "Pivot"})
    (desk.folder / f"broken.{extension}").write_bytes(content)
    finding = desk.refused("file.import", f"broken.{extension}")
    assert finding["code"] in ("EXECUTION_FAILED", "ARGS_INVALID")
    assert finding["pointer"] == "/path"
    assert finding["cure"]
    assert "Traceback" not in finding["message"]
    assert str(desk.folder) not in finding["message"]
    assert [obj.name for obj in data().objects] == ["Pivot"]


@pytest.mark.parametrize("extension", ["glb", "stl", "ply", "usdc", "blend"])
def test_half_a_file_is_refused(desk: Desk, extension: str) -> None:
    desk.stage.do("mesh.create_primitive", SPHERE)
    desk.export(f"Ball.{extension}")
    desk.stage.state.reset()
    file = desk.folder / f"Ball.{extension}"
    file.write_bytes(file.read_bytes()[: file.stat().st_size * 2 // 3])
    assert desk.refused("file.import", file.name)["pointer"] == "/path"


def test_texts_of_stl_and_ply_are_taken_for_whole_files(desk: Desk) -> None:
    import bpy

    desk.stage.do("mesh.create_primitive", SPHERE)
    ops: Any = bpy.ops.wm
    ops.stl_export(filepath=str(desk.folder / "one.stl"), ascii_format=True)
    ops.ply_export(filepath=str(desk.folder / "two.ply"), ascii_format=True)
    assert desk.bring("one.stl")["objects"] == ["one"]
    assert desk.bring("two.ply")["objects"] == ["two"]


def test_arguments_are_checked_before_blender_is_asked(stage: Stage) -> None:
    assert stage.invalid("file.import", {"path": "x.exe"}) == ["/path"]
    assert stage.invalid("file.import", {"path": "x"}) == ["/path"]
    assert stage.invalid("file.import", {"path": "x.glb", "append": [{"kind": "objects", "name": "A"}]}) == [""]
    assert stage.invalid("file.import", {"path": "x.blend", "append": [{"kind": "scenes", "name": "A"}]})
    assert stage.invalid("file.export", {"path": "x.gltf"}) == ["/path"]
    assert stage.invalid("file.export", {"path": "x.glb", "objects": []})


def test_only_the_named_objects_are_exported_where_they_stand(desk: Desk) -> None:
    desk.stage.do("mesh.create_primitive", SPHERE)
    desk.stage.do("object.create_empty", {"name": "Pivot", "location": [10, 0, 0]})
    data().objects["Ball"].parent = data().objects["Pivot"]
    desk.stage.state.refresh()
    for path in ("Ball.glb", "Ball.obj", "Ball.blend"):
        assert desk.export(path, objects=["Ball"])["objects"] == 1
    desk.stage.state.reset()
    assert desk.bring("Ball.glb")["objects"] == ["Ball"]
    assert tuple(data().objects["Ball"].location) == (11, 2, 3)


def test_hidden_objects_and_those_a_format_lacks_are_left_out_by_name(desk: Desk) -> None:
    desk.stage.do("mesh.create_primitive", SPHERE)
    desk.stage.do("mesh.create_primitive", {**SPHERE, "name": "Hidden"})
    desk.stage.do("object.create_empty", {"name": "Pivot"})
    data().objects["Hidden"].hide_viewport = True
    desk.stage.state.refresh()
    assert desk.export("some.stl")["left_out"] == ["Hidden", "Pivot"]
    assert desk.export("some.glb")["left_out"] == ["Hidden"]
    assert desk.export("all.blend")["left_out"] == []
    finding = desk.refused("file.export", "x.glb", objects=["Ball", "Hidden"])
    assert (finding["code"], finding["pointer"]) == ("SCENE_CONFLICT", "/objects/1")
    finding = desk.refused("file.export", "x.stl", objects=["Pivot"])
    assert "EMPTY" in finding["message"]
    finding = desk.refused("file.export", "x.glb", objects=["Bal"])
    assert (finding["code"], finding["cure"]) == ("TARGET_NOT_FOUND", "Did you mean 'Ball'?")


def test_nothing_to_export_is_a_conflict_but_an_empty_blend_is_fine(desk: Desk) -> None:
    assert desk.refused("file.export", "x.stl")["code"] == "SCENE_CONFLICT"
    assert desk.export("x.blend")["objects"] == 0


def test_an_animated_scene_with_modifiers_is_as_before_after_every_export(desk: Desk) -> None:
    desk.stage.do("mesh.create_primitive", SPHERE)
    ball = data().objects["Ball"]
    ball.modifiers.new("Copies", "ARRAY")
    ball.keyframe_insert("location", frame=1)
    ball.location.x = 9
    ball.keyframe_insert("location", frame=30)
    ball.data.materials.append(data().materials.new("Red"))
    scene().frame_set(7)
    desk.stage.state.refresh()
    for extension in FORMATS:
        desk.export(f"Ball.{extension}")
    assert scene().frame_current == 7


def test_a_blend_carries_nothing_that_was_deleted(desk: Desk) -> None:
    desk.stage.do("mesh.create_primitive", SPHERE)
    desk.stage.do("mesh.create_primitive", {**SPHERE, "name": "Gone"})
    desk.stage.do("object.delete", {"object": "Gone"})
    desk.export("all.blend")
    desk.stage.state.open(desk.folder / "all.blend")
    assert [(len(blocks), blocks[0].name) for blocks in (data().objects, data().meshes)] == [(1, "Ball"), (1, "Ball")]


@pytest.mark.parametrize("way", ["inverse", "memfile"])
def test_an_export_can_be_rehearsed(desk: Desk, way: str) -> None:
    if way == "memfile":
        needs_undo()
    desk.stage.do("mesh.create_primitive", SPHERE)
    answer = desk.stage.call("file.export", {"path": "a.glb"}, files=desk.files("a.glb"), rehearse=way)
    assert (answer["ok"], answer["reverted_by"]) == (True, way)


def test_a_collection_is_exported_with_those_in_it(desk: Desk) -> None:
    desk.stage.do("collection.create", {"name": "Props"})
    desk.stage.do("collection.create", {"name": "Small", "parent": "Props"})
    desk.stage.do("mesh.create_primitive", {**SPHERE, "collection": "Small"})
    desk.stage.do("mesh.create_primitive", {**SPHERE, "name": "Other"})
    for extension in ("glb", "fbx", "abc", "blend"):
        assert desk.export(f"props.{extension}", collection="Props")["objects"] == 1
    desk.stage.state.reset()
    assert desk.bring("props.fbx")["objects"] == ["Ball"]
    finding = desk.refused("file.export", "x.glb", collection="Prop")
    assert finding["pointer"] == "/collection"
    assert desk.stage.invalid("file.export", {"path": "x.glb", "collection": "A", "objects": ["B"]}) == [""]
    desk.stage.do("collection.create", {"name": "Bare"})
    assert "collection 'Bare' contains nothing" in desk.refused("file.export", "x.blend", collection="Bare")["message"]


def test_pictures_without_a_file_of_their_own_are_each_inside_an_fbx(desk: Desk) -> None:
    desk.stage.do("image.create", {"name": "made.png", "size": [8, 4], "type": "COLOR_GRID"})
    desk.stage.do("image.create", {"name": "drawn", "size": [4, 8], "rows": [[[1, 0, 0], [0, 0, 1]]]})
    for number, image in enumerate(("made.png", "drawn")):
        name = f"Paint{number}"
        desk.stage.do("material.ensure_principled", {"name": name, "textures": {"base_color": image}})
        desk.stage.do("mesh.create_primitive", {"kind": "cube", "name": f"Box{number}", "material": name})
    paths = [image.filepath for image in data().images]
    desk.export("two.fbx")
    assert [image.filepath for image in data().images] == paths
    desk.stage.state.reset()
    desk.bring("two.fbx")
    found = {tuple(image.size) for image in data().images if image.packed_file is not None}
    assert found == {(8, 4), (4, 8)}


def test_a_profile_refuses_what_no_file_could_cure(desk: Desk) -> None:
    desk.stage.do("mesh.create_primitive", {"kind": "plane", "name": "Sheet"})
    finding = desk.refused("file.export", "x.stl", profile="print")
    assert finding["pointer"] == "/profile" and "4 edges have fewer than two faces" in finding["message"]
    desk.stage.do("image.create", {"name": "Grid", "size": [8, 8], "type": "COLOR_GRID"})
    desk.stage.do("material.ensure_principled", {"name": "Paint", "textures": {"base_color": "Grid"}})
    desk.stage.do("material.assign", {"object": "Sheet", "material": "Paint"})
    finding = desk.refused("file.export", "x.glb", profile="game")
    assert finding["pointer"] == "/profile" and "uv.unwrap" in finding["cure"]
    for path, profile in (("x.stl", "game"), ("x.glb", "print"), ("x.obj", "film"), ("x.blend", "game")):
        assert desk.stage.invalid("file.export", {"path": path, "profile": profile}) == [""]
    answer = desk.stage.do("file.export", {"path": "x.glb"}, files=desk.files("x.glb"))
    assert (answer["proven"], answer["holds"]) == (False, None)


def test_a_glb_of_what_tracks_move_and_constraints_hold_leaves_it_where_it_was(desk: Desk) -> None:
    stage = desk.stage
    turned = {"kind": "cube", "name": "Goal", "scale": [2, 2, 2], "rotation_euler_deg": [0, 0, 40]}
    stage.do("mesh.create_primitive", turned)
    stage.do("mesh.create_primitive", {"kind": "cube", "name": "Box"})
    keys = [{"channel": "location", "frame": frame, "value": [0, 0, height]} for frame, height in ((1, 0), (20, 2))]
    stage.do("animation.set_keyframes", {"object": "Box", "keys": keys})
    stage.do("animation.add_strip", {"object": "Box", "track": "Moves"})
    held = {"type": "COPY_TRANSFORMS", "target": "Goal", "mix_mode": "AFTER"}
    stage.do("constraint.add", {"object": "Box", "name": "All", "settings": held})
    desk.export("held.glb")
    assert data().objects["Box"].scale[:] == (1, 1, 1)
