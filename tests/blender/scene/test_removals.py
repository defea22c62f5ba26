"""Deletion: all pointers to a deleted datablock are cleared, and a revert restores them."""

from __future__ import annotations

import sys
from typing import Any

import bpy
import numpy as np
import pytest
from trial import Trial
from village import socket

from blendwright.blender.scene import BpyScene
from blendwright.blender.scene.state import is_tombstone
from blendwright.blender.scene.tracking import references
from blendwright.tool_api.scene import Kind
from blendwright.tools.modifier.stored_inputs import value_of

data: Any = bpy.data

VICTIMS = (
    (
        Kind.OBJECT,
        "Pivot",
    ),  # parent, target of modifier, constraint, driver, custom properties, inputs; in two collections
    (Kind.OBJECT, "Eye"),  # the scene's camera
    (Kind.OBJECT, "Plank"),
    (Kind.OBJECT, "Lamp"),
    (Kind.OBJECT, "Instance"),
    (Kind.OBJECT, "Shape"),
    (Kind.MATERIAL, "Wood"),  # two slots, custom properties, an input
    (Kind.MATERIAL, "Paint"),  # an object's own slot
    (Kind.COLLECTION, "Yard"),  # with a child of its own
    (Kind.COLLECTION, "Loft"),  # inside another, instanced, an input
    (Kind.COLLECTION, "Shed"),  # excluded in the view layer, between others
    (Kind.IMAGE, "Rings"),
    (Kind.NODE_GROUP, "Grain"),
    (Kind.NODE_GROUP, "Builder"),
    (Kind.ACTION, "Walk"),
    (Kind.WORLD, "Sky"),
)


@pytest.mark.parametrize(("kind", "name"), VICTIMS, ids=lambda part: str(part))
def test_a_removed_datablock_is_forgotten_and_comes_back(village: Trial, kind: Kind, name: str) -> None:
    village.proves(lambda scene: scene.remove(scene.require(kind, name)))
    assert not [block for block in getattr(data, kind.value) if block.name == name]


def test_every_kind_of_reference_to_an_object_is_cleared(village: Trial) -> None:
    village.step(lambda scene: scene.remove(scene.require(Kind.OBJECT, "Pivot")))
    plank, builder = data.objects["Plank"], data.node_groups["Builder"]
    driver = data.objects["Lamp"].animation_data.drivers[0].driver
    assert data.objects["Child"].parent is None
    assert plank.modifiers["Mirror"].mirror_object is None
    assert data.objects["Eye"].constraints[0].target is None
    assert driver.variables[0].targets[0].id is None
    assert plank["friend"] is None
    assert plank["group"]["inner"]["who"] is None
    assert plank["list"][0]["who"] is None
    assert value_of(plank.modifiers["Builder"], socket(builder, "Object")) is None
    assert builder.nodes["Object Info"].inputs["Object"].default_value is None
    assert bpy.context.scene["first"] is None
    assert data.worlds["Sky"]["sign"] is None
    assert plank["group"]["inner"]["what"] == data.materials["Wood"]


def test_a_removed_material_leaves_its_slots(village: Trial) -> None:
    village.step(lambda scene: scene.remove(scene.require(Kind.MATERIAL, "Wood")))
    assert [material and material.name for material in data.meshes["Plank"].materials] == [None, "Stone", None]
    assert data.meshes["Plank"]["made_of"] is None


def test_all_is_removed_at_once_and_comes_back(village: Trial) -> None:
    def act(scene: BpyScene) -> None:
        scene.remove(*scene.blocks(Kind.OBJECT), *scene.blocks(Kind.MESH), *scene.blocks(Kind.COLLECTION))

    village.proves(act)
    assert not data.objects
    assert not data.collections


def test_data_that_an_object_needs_is_not_removed_from_under_it(village: Trial) -> None:
    message = village.refuses(lambda scene: scene.remove(scene.require(Kind.MESH, "Plank")))
    assert "Plank" in message
    village.refuses(lambda scene: scene.remove(scene.require(Kind.CAMERA, "Eye")))


def test_the_last_user_of_a_datablock_leaves_it_kept(village: Trial) -> None:
    village.proves(lambda scene: scene.remove(scene.require(Kind.OBJECT, "Plank")))
    assert not data.meshes["Plank"].use_fake_user
    village.proves(lambda scene: scene.remove(scene.require(Kind.OBJECT, "Twin")))
    assert data.meshes["Plank"].use_fake_user
    assert data.materials["Paint"].use_fake_user


def test_users_that_are_soft_deleted_do_not_count_in_a_later_step(village: Trial) -> None:
    village.step(lambda scene: scene.remove(scene.require(Kind.OBJECT, "Plank")))
    assert [block for block in data.objects if is_tombstone(block)]
    village.proves(lambda scene: scene.remove(scene.require(Kind.OBJECT, "Twin")))


def test_what_was_made_for_something_removed_in_the_same_step_is_kept(village: Trial) -> None:
    def act(scene: BpyScene) -> None:
        mesh = scene.create(Kind.MESH, "Box")
        scene.remove(scene.create(Kind.OBJECT, "Box", mesh))

    village.proves(act)
    assert data.meshes["Box"].use_fake_user


def test_the_members_of_a_removed_collection_stay(village: Trial) -> None:
    village.proves(lambda scene: scene.remove(scene.require(Kind.COLLECTION, "Yard")))
    assert data.objects["Lamp"].use_fake_user
    assert [obj.name for obj in data.collections["Loft"].objects] == ["Path", "Pivot"]


def test_reading_references_creates_no_settings_of_add_ons(village: Trial) -> None:
    plank = data.objects["Plank"]
    stored = plank.bl_system_properties_get() if bpy.app.version >= (5, 0, 0) else plank
    before = sorted(stored.keys()) if stored else []
    references.pointees(plank)
    stored = plank.bl_system_properties_get() if bpy.app.version >= (5, 0, 0) else plank
    assert (sorted(stored.keys()) if stored else []) == before


def test_references_of_a_large_mesh_are_read_without_its_elements(trial: Trial) -> None:
    mesh = data.meshes.new("Large")
    mesh.vertices.add(300_000)
    mesh.attributes.new("tint", "FLOAT_COLOR", "POINT").data.foreach_set("color", np.zeros(1_200_000, np.float32))
    data.objects.new("Large", mesh).shape_key_add(name="Basis")
    steps = 0

    def count(*_: object) -> Any:
        nonlocal steps
        steps += 1
        return count

    before = sys.gettrace()
    sys.settrace(count)
    try:
        pointees = references.pointees(mesh), references.pointees(mesh.shape_keys)
    finally:
        sys.settrace(before)
    assert pointees == (set(), set())
    assert 0 < steps < 10_000, "one visit of each vertex is 300,000 steps"


def test_removing_one_of_many_objects_visits_no_other(trial: Trial) -> None:
    def many() -> None:
        for number in range(2_000):
            bpy.context.scene.collection.objects.link(data.objects.new(f"Thing{number:04d}", None))

    trial.given(many)
    assert len(references.pointer_sites(bpy.context.scene, set(data.objects))) == 0
    trial.proves(lambda scene: scene.remove(scene.require(Kind.OBJECT, "Thing1000")), saves=False)
