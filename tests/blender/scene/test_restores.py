"""Side effects of writes: data that Blender drops, flattens or adds automatically, and that a revert must restore."""

from __future__ import annotations

from typing import Any

import bpy
import pytest
from trial import Trial

from blendwright.blender.scene import BpyScene
from blendwright.tool_api.scene import Kind

data: Any = bpy.data
context: Any = bpy.context


def triangle(name: str) -> Any:
    mesh = data.meshes.new(name)
    mesh.from_pydata([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [], [(0, 1, 2)])
    obj = data.objects.new(name, mesh)
    context.scene.collection.objects.link(obj)
    return obj


# ---------------------------------------------------------------------- assets


def mark(block: Any) -> None:
    block.asset_mark()
    asset = block.asset_data
    asset.author, asset.description, asset.copyright, asset.license = "me", "a box", "2020", "CC0"
    asset.catalog_id = "7b1ea6b1-4c4c-4f0a-9f2e-0d6b1e7c1a11"
    for tag in ("wood", "old"):
        asset.tags.new(tag)
    asset["size"] = [1.0, 2.0]
    asset["more"] = {"inner": "text"}


def assets() -> None:
    obj = triangle("Box")
    material = data.materials.new("Wood")
    obj.data.materials.append(material)
    tree = data.node_groups.new("Tree", "GeometryNodeTree")
    tree.interface.new_socket("Geometry", in_out="OUTPUT", socket_type="NodeSocketGeometry")
    tree.nodes.new("NodeGroupOutput")
    obj.modifiers.new("Nodes", "NODES").node_group = tree
    for block in (obj, obj.data, material, tree, data.actions.new("Act"), data.worlds.new("Sky")):
        mark(block)
    context.view_layer.update()


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (Kind.OBJECT, "Box"), (Kind.MESH, "Box"), (Kind.MATERIAL, "Wood"), (Kind.NODE_GROUP, "Tree"), (Kind.ACTION, "Act"),
        (Kind.WORLD, "Sky"),
    ],
)  # fmt: skip
def test_what_is_an_asset_is_one_after_it_was_edited_and_after_that_was_taken_back(
    trial: Trial, kind: Kind, name: str
) -> None:
    def edit(scene: BpyScene) -> None:
        scene.edit(scene.require(kind, name))["edited"] = 1

    trial.given(assets)
    trial.proves(edit)
    assert [tag.name for tag in getattr(data, kind.blocks)[name].asset_data.tags] == ["wood", "old"]


def test_a_redrafted_node_group_stays_the_asset_that_it_was(trial: Trial) -> None:
    def redraft(scene: BpyScene) -> None:
        with scene.redraft(scene.require(Kind.NODE_GROUP, "Tree")) as tree:
            tree.nodes.new("GeometryNodeTransform")

    trial.given(assets)
    trial.proves(redraft)
    asset = data.node_groups["Tree"].asset_data
    assert (asset.author, asset.license, asset.catalog_id[:8]) == ("me", "CC0", "7b1ea6b1")
    assert list(asset["size"]) == [1.0, 2.0] and asset["more"]["inner"] == "text"
    assert [tag.name for tag in asset.tags] == ["wood", "old"] and data.node_groups["Tree"].use_fake_user


def test_what_blender_notes_of_an_asset_when_it_saves_is_in_no_hash(trial: Trial) -> None:
    def grow(scene: BpyScene) -> None:
        scene.set(scene.require(Kind.OBJECT, "Box"), "scale", (2, 3, 4))
        scene.depsgraph()

    trial.given(assets)
    trial.survives_a_save()
    trial.step(grow)
    trial.survives_a_save()
    noted = "outputs" if bpy.app.version < (5, 2, 0) else "properties"
    assert "dimensions" in data.objects["Box"].asset_data and noted in data.node_groups["Tree"].asset_data


# ---------------------------------------------------------------------- parents and curves


def hangers() -> None:
    bones = data.armatures.new("Bones")
    rig = data.objects.new("Rig", bones)
    base, free = triangle("Base"), data.objects.new("Free", None)
    for obj in (rig, free):
        context.scene.collection.objects.link(obj)
    context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    bones.edit_bones.new("Arm").tail = (0, 0, 1)
    bpy.ops.object.mode_set(mode="OBJECT")
    for name, parent, how in (("Hand", rig, "BONE"), ("Point", base, "VERTEX"), ("Face", base, "VERTEX_3")):
        child = triangle(name)
        child.parent, child.parent_type = parent, how
        if how == "BONE":
            child.parent_bone = "Arm"
        else:
            child.parent_vertices = (2, 1, 0)
        child.matrix_parent_inverse[0][3] = 3
    context.view_layer.update()


@pytest.mark.parametrize("name", ["Hand", "Point", "Face"])
@pytest.mark.parametrize("parent", [None, "Free"])
def test_how_an_object_hung_on_its_parent_comes_back(trial: Trial, name: str, parent: str | None) -> None:
    def hang(scene: BpyScene) -> None:
        obj = scene.require(Kind.OBJECT, name)
        scene.set(obj, "parent_type", "OBJECT")
        scene.set(obj, "parent", None if parent is None else scene.require(Kind.OBJECT, parent))

    trial.given(hangers)
    trial.proves(hang)


@pytest.mark.parametrize("parent", ["Rig", "Base"])
def test_how_children_hung_comes_back_with_a_removed_parent(trial: Trial, parent: str) -> None:
    trial.given(hangers)
    trial.proves(lambda scene: scene.remove(scene.require(Kind.OBJECT, parent)))


@pytest.mark.parametrize("form", ["BEZIER", "POLY", "NURBS"])
def test_a_curve_of_two_dimensions_with_depth_is_not_flattened_by_a_revert(trial: Trial, form: str) -> None:
    def build() -> None:
        curve = data.curves.new("Path", "CURVE")
        line = curve.splines.new(form)
        points = line.bezier_points if form == "BEZIER" else line.points
        points.add(2)
        for point in points:
            point.co = (1, 2, 3) if form == "BEZIER" else (1, 2, 3, 1)
        context.scene.collection.objects.link(data.objects.new("Path", curve))
        data.materials.new("Wood").use_fake_user = True

    def edit(scene: BpyScene) -> None:
        scene.edit(scene.require(Kind.CURVE, "Path")).materials.append(scene.require(Kind.MATERIAL, "Wood"))

    trial.given(build)
    trial.proves(edit)


# ---------------------------------------------------------------------- collections


def lit() -> None:
    lamp = data.objects.new("Lamp", data.lights.new("Lamp", "AREA"))
    context.scene.collection.objects.link(lamp)
    group, inner, outer = (data.collections.new(name) for name in ("Lit", "Inner", "Other"))
    context.scene.collection.children.link(group)
    for child in (inner, outer):
        group.children.link(child)
    for name in ("One", "Two", "Three"):
        group.objects.link(triangle(name))
    lamp.light_linking.receiver_collection = group
    group.collection_objects[1].light_linking.link_state = "EXCLUDE"
    group.collection_children[1].light_linking.link_state = "EXCLUDE"


@pytest.mark.parametrize("name", ["One", "Two"])
def test_what_light_linking_says_of_an_object_comes_back(trial: Trial, name: str) -> None:
    def unlink(scene: BpyScene) -> None:
        scene.unlink(scene.require(Kind.COLLECTION, "Lit"), scene.require(Kind.OBJECT, name))

    trial.given(lit)
    trial.proves(unlink)
    trial.proves(lambda scene: scene.remove(scene.require(Kind.OBJECT, "Three")))


@pytest.mark.parametrize("name", ["Inner", "Other", "Lit"])
def test_what_light_linking_says_of_a_collection_comes_back(trial: Trial, name: str) -> None:
    def unlink(scene: BpyScene) -> None:
        home = scene.active.collection if name == "Lit" else scene.require(Kind.COLLECTION, "Lit")
        scene.unlink(home, scene.require(Kind.COLLECTION, name))

    trial.given(lit)
    trial.proves(unlink)
    trial.proves(lambda scene: scene.remove(scene.require(Kind.COLLECTION, name)))


def rigid() -> None:
    for name, add in (("Body", "object_add"), ("Joint", "constraint_add")):
        obj = triangle(name)
        context.view_layer.objects.active = obj
        getattr(bpy.ops.rigidbody, add)()
    triangle("Soft")


@pytest.mark.parametrize("name", ["collection", "constraints"])
def test_an_object_that_blender_made_rigid_by_linking_it_is_so_no_more(trial: Trial, name: str) -> None:
    def link(scene: BpyScene) -> None:
        scene.link(getattr(scene.active.rigidbody_world, name), scene.require(Kind.OBJECT, "Soft"))

    trial.given(rigid)
    trial.proves(link)
    soft = data.objects["Soft"]
    assert (soft.rigid_body is not None, soft.rigid_body_constraint is not None) == (
        name == "collection",
        name == "constraints",
    )


def test_the_copy_of_a_rigid_body_is_in_the_collection_of_its_simulation(trial: Trial) -> None:
    def copy(scene: BpyScene) -> None:
        for name in ("Body", "Joint"):
            obj = scene.require(Kind.OBJECT, name)
            twin = scene.adopt(Kind.OBJECT, obj.copy(), f"{name} too")
            for home in scene.collections_of(obj):
                scene.link(home, twin)

    trial.given(rigid)
    trial.proves(copy)
    assert data.objects["Body too"] in list(context.scene.rigidbody_world.collection.objects)
