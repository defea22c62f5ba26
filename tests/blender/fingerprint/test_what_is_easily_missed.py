"""Content that Blender names like user interface, keeps in read-only properties or shows in no list moves the hash too."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import bpy
import pytest
import scene_parts as parts
from changes import CUBE, Case, assert_moved_exactly, assign, kept
from scene_parts import context, data, ops

from blendwright.blender import fingerprint

COLLECTION = {("collections", "Linked")}
EMPTY = {("objects", "Empty")}


def light_linked() -> Any:
    made = kept(data.collections.new("Linked"))
    made.objects.link(parts.cube())
    return made


def light_linked_twice() -> Any:
    made = light_linked()
    made.children.link(kept(data.collections.new("Sub")))
    return made


def exclude(members: str) -> Callable[[Any], None]:
    def change(collection: Any) -> None:
        getattr(collection, members)[0].light_linking.link_state = "EXCLUDE"

    return change


def line_set() -> Any:
    return context.view_layer.freestyle_settings.linesets.new("Lines")


def painted() -> Any:
    owner = parts.cube()
    modifier = owner.modifiers.new("Paint", "DYNAMIC_PAINT")
    modifier.ui_type = "CANVAS"
    context.view_layer.objects.active = owner
    ops.dpaint.type_toggle(type="CANVAS")
    return modifier.canvas_settings.canvas_surfaces[0]


def glowing() -> Any:
    return parts.linked("Drawing", parts.grease_pencil()).shader_effects.new("Glow", "FX_GLOW")


def hair_system() -> Any:
    owner = parts.cube()
    owner.modifiers.new("Hair", "PARTICLE_SYSTEM")
    particles = owner.particle_systems[0]
    particles.settings.type = "HAIR"
    particles.use_hair_dynamics = True
    return particles


def keys_in_time() -> Any:
    owner = parts.shape_keys()
    keys = owner.data.shape_keys
    keys.use_relative, keys.eval_time = False, 40
    owner.shape_key_add(name="Late")
    context.view_layer.objects.active = owner
    return owner


def shown_alone() -> Any:
    owner = parts.shape_keys()
    owner.show_only_shape_key = True
    return owner


def custom_property(value: Any) -> Callable[[], Any]:
    def build() -> Any:
        owner = parts.empty()
        owner["x"] = value
        return owner

    return build


def shown(**how: Any) -> Callable[[Any], None]:
    return lambda owner: owner.id_properties_ui("x").update(**how)


def bound(kind: str, operator: str) -> Case:
    def build() -> Any:
        owner, cage = parts.cube(), parts.cube("Cage")
        cage.scale = (2, 2, 2)
        modifier = owner.modifiers.new("M", kind)
        if kind == "SURFACE_DEFORM":
            modifier.target = cage
        elif kind == "MESH_DEFORM":
            modifier.object = cage
            modifier.precision = 2  # with the usual 5, binding takes seconds
        else:
            modifier.rest_source = "BIND"
        context.view_layer.objects.active = owner

    return build, lambda _: getattr(ops.object, operator)(modifier="M"), CUBE


CASES: dict[str, Case] = {
    "object excluded from light linking": (light_linked, exclude("collection_objects"), COLLECTION),
    "collection excluded from light linking": (light_linked_twice, exclude("collection_children"), COLLECTION),
    "drawn silhouettes": (line_set, lambda s: setattr(s, "select_silhouette", False), {("scenes", "Scene")}),
    "drawn by collection": (line_set, lambda s: setattr(s, "select_by_collection", True), {("scenes", "Scene")}),
    "paint surface switched off": (painted, assign("is_active", False), CUBE),
    "colour that glows": (glowing, assign("select_color", (1, 0, 1)), {("objects", "Drawing")}),
    "colour of a selected bone": (
        lambda: parts.armature().data.bones["Tip"],
        assign("color.custom.select", (1, 0, 0)),
        {("armatures", "Rig")},
    ),
    "colour of an active bone": (
        lambda: parts.armature().data.bones["Tip"],
        assign("color.custom.active", (1, 0, 0)),
        {("armatures", "Rig")},
    ),
    "shape key shown alone": (parts.shape_keys, assign("show_only_shape_key", True), CUBE),
    "which shape key is shown alone": (shown_alone, assign("active_shape_key_index", 1), CUBE),
    "time of shape keys": (keys_in_time, lambda _: ops.object.shape_key_retime(), {("shape_keys", "Key")}),
    "stiffness of hair": (hair_system, assign("cloth.settings.bending_stiffness", 33), CUBE),
    "collision of hair": (hair_system, assign("cloth.collision_settings.distance_min", 0.5), CUBE),
    "range of the cache of hair": (hair_system, assign("point_cache.frame_end", 77), CUBE),
    "limit of a custom property": (custom_property(1.0), shown(min=0.0), EMPTY),
    "description of a custom property": (custom_property(1), shown(description="how many"), EMPTY),
    "default of a custom list": (custom_property([1.0, 2.0]), shown(default=[3.0, 4.0]), EMPTY),
    "custom property with an add-on's name": (parts.empty, lambda o: o.__setitem__("cycles", 5), EMPTY),
    "bound to a surface": bound("SURFACE_DEFORM", "surfacedeform_bind"),
    "bound to a cage": bound("MESH_DEFORM", "meshdeform_bind"),
    "bound to its rest": bound("CORRECTIVE_SMOOTH", "correctivesmooth_bind"),
}


@pytest.mark.parametrize("name", CASES)
def test_content_in_an_unlikely_place_moves_the_hash_of_exactly_what_changed(name: str) -> None:
    assert_moved_exactly(CASES[name])


def test_how_points_are_shared_out_among_hairs_counts() -> None:
    found: set[bytes] = set()
    for lengths in ([3, 5], [4, 4]):
        parts.empty_scene()
        kept(data.hair_curves.new("Hair")).add_curves(lengths)
        found.add(parts.hashes()["hair_curves", "Hair"])
    assert len(found) == 2


def test_a_pointer_that_a_save_loses_counts_for_nothing(tmp_path: Path) -> None:
    parts.empty_scene()
    target = parts.driven().animation_data.drivers[0].driver.variables.new().targets[0]
    target.id_type = "NODETREE"
    before = parts.hashes()
    target.id = parts.material().node_tree
    assert parts.changed(before, parts.hashes()) == {("materials", "Mat")}
    path = str(tmp_path / "saved.blend")
    ops.wm.save_as_mainfile(filepath=path, copy=True)
    ops.wm.open_mainfile(filepath=path, use_scripts=False)
    assert data.objects["Empty"].animation_data.drivers[0].driver.variables[0].targets[0].id is None
    assert parts.changed(before, parts.hashes()) == {("materials", "Mat")}


def test_an_excluded_object_and_an_excluded_collection_are_not_the_same() -> None:
    found: set[bytes] = set()
    for members in ("collection_objects", "collection_children"):
        parts.empty_scene()
        collection = light_linked_twice()
        collection.children[0].name = "Cube"  # as the object
        exclude(members)(collection)
        found.add(parts.hashes()["collections", "Linked"])
    assert len(found) == 2


def test_reading_how_custom_properties_are_shown_creates_nothing(tmp_path: Path) -> None:
    parts.empty_scene()
    owner = parts.empty()
    owner["x"], owner["list"], owner["who"], owner["group"] = 1.0, [1, 2], owner, {"a": 1}
    before = parts.hashes()

    def saved() -> int:
        path = tmp_path / "saved.blend"
        ops.wm.save_as_mainfile(filepath=str(path), copy=True, compress=False)
        return path.stat().st_size

    saved()  # the first save itself settles a few values
    size = saved()
    assert parts.hashes() == before
    assert saved() == size
    assert not data.window_managers[0].keys()


def test_inputs_of_a_node_group_are_shown_as_the_group_says() -> None:
    parts.empty_scene()
    modifier = parts.nodes_modifier()
    context.view_layer.update()
    before = parts.hashes()
    modifier.node_group.interface.items_tree["Amount"].min_value = -3
    context.view_layer.update()
    assert parts.changed(before, parts.hashes()) == {("node_groups", "Group")}


@pytest.mark.skipif(bpy.app.version < (5, 2, 0), reason="Blender 5.0 and 5.1 crash when a strip is made")
def test_inputs_of_a_compositor_tree_on_a_strip_move_the_hash_of_the_scene() -> None:
    parts.empty_scene()
    strips = context.scene.sequence_editor_create().strips
    strip = strips.new_effect(name="Strip", type="COLOR", channel=1, frame_start=1, length=10)
    modifier = strip.modifiers.new("Tree", "COMPOSITOR")
    tree = kept(data.node_groups.new("Tree", "CompositorNodeTree"))
    tree.interface.new_socket("Image", in_out="INPUT", socket_type="NodeSocketColor")
    amount = tree.interface.new_socket("Amount", in_out="INPUT", socket_type="NodeSocketFloat")
    modifier.node_group = tree
    before = parts.hashes()
    getattr(modifier.properties.inputs, amount.identifier).value = 4.0
    assert parts.changed(before, parts.hashes()) == {("scenes", "Scene")}


def test_a_setting_that_blender_gives_to_a_node_at_run_time_moves_the_hash() -> None:
    """`operation` of Boolean Math and of a hundred others has the mark of what add-ons define."""
    parts.empty_scene()
    node = parts.group().nodes.new("FunctionNodeBooleanMath")
    before = parts.hashes()
    node.operation = "XOR"
    assert parts.changed(before, parts.hashes()) == {("node_groups", "Group")}


def test_a_name_is_hashed_only_where_it_says_something() -> None:
    parts.empty_scene()
    owner = parts.shape_keys()
    owner.data.materials.append(parts.material())
    owner.modifiers.new("Hair", "PARTICLE_SYSTEM")
    before = parts.hashes()
    owner.data.name, owner.data.materials[0].name = "Renamed", "Other"
    changed = parts.changed(before, parts.hashes())
    assert changed == {
        *CUBE,
        *(("meshes", name) for name in ("Cube", "Renamed")),
        *(("materials", name) for name in ("Mat", "Other")),
    }


def test_no_collection_can_be_taken_for_that_of_a_scene() -> None:
    parts.empty_scene()
    owner = parts.empty()
    before = parts.hashes()
    other = kept(data.collections.new("scene:Scene"))
    other.objects.link(owner)
    assert parts.changed(before, parts.hashes()) == {("collections", "scene:Scene"), ("member", "scene:Scene", "Empty")}


@pytest.mark.skipif(parts.version < (5, 0, 0), reason="packed linked data came with Blender 5.0")
def test_what_is_linked_and_what_is_packed_have_keys_of_their_own(tmp_path: Path) -> None:
    parts.empty_scene()
    parts.cube("Shared")
    library = str(tmp_path / "library.blend")
    ops.wm.save_as_mainfile(filepath=library, copy=True)
    parts.empty_scene()
    for pack in (False, True):
        with data.libraries.load(library, link=True, pack=pack) as (_, wanted):
            wanted.meshes = ["Shared"]
    assert len(data.meshes) == 2
    assert len({fingerprint.key_of(mesh) for mesh in data.meshes}) == 2
    owner = parts.linked("Owner", data.meshes[0])
    before = parts.hashes()
    owner.data = data.meshes[1]
    assert parts.changed(before, parts.hashes()) == {("objects", "Owner")}
    for mesh in data.meshes:
        assert fingerprint.block_of(fingerprint.key_of(mesh)) == mesh
