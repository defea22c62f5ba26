"""scene.snapshot: complete, bounded, and equal for equal scenes."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from blendwright.util.canonical import stable_json
from support.stage.stage import Stage

ROOT = Path(__file__).parent.parent.parent
SCHEMA = ROOT / "src" / "blendwright" / "schemas" / "scene_snapshot.v1.json"


def cube(stage: Stage, name: str, **more: Any) -> None:
    stage.do("mesh.create_primitive", {"kind": "cube", "name": name, **more})


def data() -> Any:
    import bpy

    return bpy.data


def furnish(stage: Stage) -> None:
    """A bit of everything, in an order that does not show."""
    import bpy

    blocks: Any = bpy.data
    scene: Any = bpy.context.scene
    cube(stage, "Box", location=[1, 2, 3])
    cube(stage, "Lid", location=[-0.0, 0, 1])
    inner = blocks.collections.new("Inner")
    outer = blocks.collections.new("Outer")
    scene.collection.children.link(outer)
    outer.children.link(inner)
    scene.collection.children.link(inner)
    box, lid = blocks.objects["Box"], blocks.objects["Lid"]
    inner.objects.link(lid)
    lid.parent = box
    material: Any = blocks.materials.new("Red")
    if not material.node_tree:  # before Blender 5.0
        material.use_nodes = True
    material.node_tree.nodes["Principled BSDF"].inputs["Base Color"].default_value = (1, 0, 0, 1)
    box.data.materials.append(material)
    box.data.materials.append(None)
    box.modifiers.new("Copies", "ARRAY")
    group = blocks.node_groups.new("Growth", "GeometryNodeTree")
    group.interface.new_socket("Geometry", in_out="INPUT", socket_type="NodeSocketGeometry")
    box.modifiers.new("Nodes", "NODES").node_group = group
    box["note"] = "hello"
    box["many"] = [1.5, 2.5]
    scene.world = blocks.worlds.new("Sky")
    camera = blocks.objects.new("Eye", blocks.cameras.new("Eye"))
    scene.collection.objects.link(camera)
    scene.camera = camera
    scene.collection.objects.link(blocks.objects.new("Sun", blocks.lights.new("Sun", "SUN")))
    stage.state.refresh()


def test_every_section_says_what_is_there(stage: Stage) -> None:
    furnish(stage)
    seen = stage.do("scene.snapshot", {}, verify=True)
    assert (seen["snapshot_version"], seen["scene"]) == (1, {"id": "scenes/Scene", "name": "Scene"})
    assert seen["fingerprint"] == stage.state.full_root()
    assert [entry["name"] for entry in seen["objects"]["items"]] == ["Box", "Eye", "Lid", "Sun"]
    box, _, lid, _ = seen["objects"]["items"]
    assert box["transform"]["location"] == [1.0, 2.0, 3.0]
    assert box["materials"] == ["Red", None]
    assert [(entry["type"], entry["node_group"]) for entry in box["modifiers"]] == [
        ("ARRAY", None),
        ("NODES", "Growth"),
    ]
    assert [(entry["name"], entry["type"], entry["value"]) for entry in box["custom_properties"]] == [
        ("many", "list", [1.5, 2.5]),
        ("note", "string", "hello"),
    ]
    assert lid["parent"] == {"object": "Box", "type": "OBJECT", "bone": None}
    assert lid["collections"] == ["Inner", "Scene Collection"]
    assert [row[3] for row in lid["transform"]["matrix_world"]] == [1.0, 2.0, 4.0, 1.0]
    assert seen["materials"]["items"][0]["principled"]["base_color"] == [1.0, 0.0, 0.0, 1.0]
    assert seen["materials"]["items"][0]["nodes"]["types"]["ShaderNodeBsdfPrincipled"] == 1
    assert seen["node_groups"]["items"][0]["interface"][0]["type"] == "NodeSocketGeometry"
    assert (seen["world"]["name"], seen["render"]["camera"]) == ("Sky", "Eye")
    assert (seen["cameras"]["items"][0]["name"], seen["lights"]["items"][0]["type"]) == ("Eye", "SUN")
    assert seen["indices"]["by_name"] == {"Box": 0, "Eye": 1, "Lid": 2, "Sun": 3}
    assert seen["indices"]["by_collection"]["Inner"] == ["Lid"]
    assert seen["indices"]["by_material"] == {"Red": ["Box"]}
    assert seen["next_offset"] is None


def test_collections_are_a_tree_in_which_each_stands_once(stage: Stage) -> None:
    furnish(stage)
    (root,) = stage.do("scene.snapshot", {"include": ["collections"]})["collections"]["items"]
    assert (root["name"], root["objects"]) == ("Scene Collection", 4)
    (outer,) = root["children"]
    (inner,) = outer["children"]
    assert (inner["name"], inner["parent"], inner["also_in"]) == ("Inner", "Outer", ["Scene Collection"])


def test_deeply_nested_collections_are_cut_into_trees_that_name_their_parents(stage: Stage) -> None:
    import bpy

    scene: Any = bpy.context.scene
    parent = scene.collection
    for number in range(100):
        child = data().collections.new(f"Level{number:03d}")
        parent.children.link(child)
        parent = child
    stage.state.refresh()
    section = stage.do("scene.snapshot", {"include": ["collections"]})["collections"]
    assert section["total"] == 101
    assert section["items"][1]["parent"] == "Level031"

    def count(node: dict[str, Any]) -> int:
        return 1 + sum(count(child) for child in node["children"])

    assert sum(count(node) for node in section["items"]) == 101


def test_equal_scenes_give_equal_bytes_whatever_the_order_of_creation(stage: Stage) -> None:
    cube(stage, "A", location=[1, 0, 0])
    cube(stage, "B", scale=[-1, 1, 1])
    first = stable_json(stage.do("scene.snapshot", {}))
    stage.state.reset()
    cube(stage, "B", scale=[-1, 1, 1])
    cube(stage, "A", location=[1, -0.0, 0])
    assert stable_json(stage.do("scene.snapshot", {})) == first


def test_a_saved_and_opened_scene_gives_equal_bytes(stage: Stage, tmp_path: Path) -> None:
    furnish(stage)
    data().objects["Box"]["flag"] = True
    stage.state.refresh()
    first = stable_json(stage.do("scene.snapshot", {}))
    stage.state.save(tmp_path / "scene.blend")
    stage.state.open(tmp_path / "scene.blend")
    assert stable_json(stage.do("scene.snapshot", {})) == first


def test_pages_follow_each_other_without_gap_or_overlap(stage: Stage) -> None:
    for number in range(7):
        cube(stage, f"C{number}")
    seen: list[str] = []
    offset: int | None = 0
    while offset is not None:
        page = stage.do("scene.snapshot", {"offset": offset, "limit": 3, "include": ["objects", "indices"]})
        assert page["objects"]["total"] == 7
        assert page["objects"]["truncated"] is (page["next_offset"] is not None)
        for name, position in page["indices"]["by_name"].items():
            assert page["objects"]["items"][position - offset]["name"] == name
        seen += [entry["name"] for entry in page["objects"]["items"]]
        offset = page["next_offset"]
    assert seen == [f"C{number}" for number in range(7)]
    beyond = stage.do("scene.snapshot", {"offset": 100})
    assert (beyond["objects"]["items"], beyond["next_offset"]) == ([], None)


def test_sections_other_than_objects_are_paged_too(stage: Stage) -> None:
    for number in range(5):
        data().materials.new(f"M{number}").use_fake_user = True
    stage.state.refresh()
    page = stage.do("scene.snapshot", {"include": ["materials"], "offset": 2, "limit": 2})
    assert [entry["name"] for entry in page["materials"]["items"]] == ["M2", "M3"]
    assert (page["materials"]["total"], page["next_offset"], page["objects"]) == (5, 4, None)


def test_filters_choose_objects(stage: Stage) -> None:
    furnish(stage)

    def names(**filters: Any) -> list[str]:
        return [
            entry["name"]
            for entry in stage.do("scene.snapshot", {"include": ["objects"], **filters})["objects"]["items"]
        ]

    assert names(name="?o*") == ["Box"]
    assert names(name="box") == []
    assert names(type="MESH") == ["Box", "Lid"]
    assert names(collection="Outer") == ["Lid"]
    (finding,) = stage.refusal("scene.snapshot", {"collection": "Iner"})
    assert (finding["pointer"], finding["cure"]) == ("/collection", "Did you mean 'Inner'?")
    assert stage.invalid("scene.snapshot", {"limit": 1001}) == ["/limit"]
    assert stage.invalid("scene.snapshot", {"include": ["everything"]}) == ["/include/0"]


def test_long_values_are_cut_and_say_so(stage: Stage) -> None:
    cube(stage, "Box")
    box = data().objects["Box"]
    box["essay"] = "x" * 5000
    box["short"] = "y" * 1000
    box["rows"] = list(range(500))
    box["deep"] = {"a": {"b": {"c": 1}, "d": 2}}
    for number in range(100):
        box[f"z{number:03d}"] = number
    stage.state.refresh()
    (entry,) = stage.do("scene.snapshot", {"include": ["objects"]})["objects"]["items"]
    values = {item["name"]: item for item in entry["custom_properties"]}
    assert values["essay"]["value"] == "x" * 1000 + "…"
    assert values["essay"]["truncated"]
    assert not values["short"]["truncated"]
    assert values["rows"]["value"] == list(range(64))
    assert values["rows"]["truncated"]
    assert (values["deep"]["value"], values["deep"]["truncated"]) == ({"a": {"b": None, "d": 2}}, True)
    assert (len(values), entry["cut"]) == (64, ["custom_properties"])


def test_what_is_no_finite_number_is_null(stage: Stage) -> None:
    cube(stage, "Box")
    data().objects["Box"].location = (math.nan, 0.0, -0.0)
    stage.state.refresh()
    (entry,) = stage.do("scene.snapshot", {"include": ["objects"]})["objects"]["items"]
    assert entry["transform"]["location"] == [None, 0.0, 0.0]
    assert math.copysign(1, entry["transform"]["location"][2]) == 1


def objects_by_name(stage: Stage) -> dict[str, Any]:
    return {one["name"]: one for one in stage.do("scene.snapshot", {"include": ["objects"]})["objects"]["items"]}


def test_an_object_says_how_large_it_is_and_who_refers_to_it(stage: Stage) -> None:
    for name in ("Top", "Cutter", "Arm", "Follower"):
        cube(stage, name, location=[0, 0, 0])
    stage.do("object.transform", {"object": "Top", "scale": [2, 1, 0.5]})
    stage.do("modifier.add", {"object": "Top", "name": "Hole", "settings": {"type": "BOOLEAN", "object": "Cutter"}})
    stage.do(
        "constraint.add",
        {"object": "Follower", "name": "Go", "settings": {"type": "COPY_LOCATION", "target": "Cutter"}},
    )
    stage.do("object.set_parent", {"object": "Arm", "parent": "Cutter"})
    stage.do("object.create_empty", {"name": "Point"})
    found = objects_by_name(stage)
    assert found["Top"]["modifiers"][0]["targets"] == ["Cutter"]
    assert (found["Cutter"]["used_by"], found["Cutter"]["children"]) == (["objects/Follower", "objects/Top"], 1)
    assert (found["Top"]["used_by"], found["Top"]["children"]) == ([], 0)
    assert found["Arm"]["dimensions"] == [2, 2, 2] and found["Point"]["dimensions"] is None
    stage.do("modifier.remove", {"object": "Top", "modifier": "Hole"})
    again = objects_by_name(stage)
    assert again["Top"]["dimensions"] == [4, 2, 1] and again["Cutter"]["used_by"] == ["objects/Follower"]


def test_an_object_says_what_its_keyframes_move(stage: Stage) -> None:
    stage.do("object.create_empty", {"name": "Door"})
    stage.do("object.create_empty", {"name": "Wall"})
    keys = [
        {"channel": "rotation_euler_deg", "frame": 5, "value": [0, 0, 0]},
        {"channel": "rotation_euler_deg", "frame": 40, "value": [0, 0, 90]},
        {"channel": "location", "frame": 60, "value": [1, 0, 0]},
    ]
    stage.do("animation.set_keyframes", {"object": "Door", "keys": keys})
    told = {one["name"]: one["animation"] for one in stage.do("scene.snapshot", {})["objects"]["items"]}
    assert told == {
        "Door": {"channels": ["location", "rotation_euler"], "first_frame": 5.0, "last_frame": 60.0},
        "Wall": None,
    }


def test_users_that_are_too_many_are_cut_and_say_so(stage: Stage) -> None:
    cube(stage, "Target")
    for number in range(70):
        data().objects.new(f"Copy{number:02}", None).constraints.new("COPY_LOCATION").target = data().objects["Target"]
    stage.state.refresh()
    used_by = objects_by_name(stage)["Target"]["used_by"]
    assert len(used_by) == 64 and used_by[0] == "objects/Copy00" and used_by[-1] == "…"


def test_a_material_that_differs_in_its_name_alone_is_equal_to_the_first(stage: Stage) -> None:
    for name, roughness in (("Wood", 0.4), ("Wood.001", 0.4), ("Wood.002", 0.41)):
        stage.do("material.ensure_principled", {"name": name, "base_color": [0.4, 0.2, 0.1], "roughness": roughness})
    cube(stage, "Box", material="Wood.001")
    listed = stage.do("scene.snapshot", {"include": ["materials"]})["materials"]["items"]
    assert {one["name"]: one["equal_to"] for one in listed} == {"Wood": None, "Wood.001": "Wood", "Wood.002": None}


def test_hidden_objects_have_no_world_matrix(stage: Stage) -> None:
    cube(stage, "Box")
    data().objects["Box"].hide_viewport = True
    stage.state.refresh()
    (entry,) = stage.do("scene.snapshot", {"include": ["objects"]})["objects"]["items"]
    assert (entry["transform"]["matrix_world"], entry["visible_viewport"]) == (None, False)


@pytest.mark.proves("EXEC-SNAP-02")
def test_a_snapshot_meets_its_published_schema_and_nonsense_does_not(stage: Stage) -> None:
    furnish(stage)
    validator = jsonschema_rs.validator_for(json.loads(SCHEMA.read_text(encoding="utf-8")))
    seen = stage.do("scene.snapshot", {})
    validator.validate(seen)
    seen["objects"]["items"][0]["transform"]["scale"].pop()
    with pytest.raises(jsonschema_rs.ValidationError):
        validator.validate(seen)


def test_the_published_schema_is_current() -> None:
    script = ROOT / "scripts" / "generate_schemas.py"
    done = subprocess.run([sys.executable, str(script), "--check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
