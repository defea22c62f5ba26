"""Names, collections, and several writes in one step."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import bpy
import pytest
from trial import Trial

from blendwright.blender.scene import BpyScene, SceneState
from blendwright.tool_api.scene import Kind

Act = Callable[[BpyScene], object]
data: Any = bpy.data


def obj(scene: BpyScene, name: str) -> Any:
    return scene.require(Kind.OBJECT, name)


def group(scene: BpyScene, name: str) -> Any:
    return scene.require(Kind.COLLECTION, name)


# ---------------------------------------------------------------------- names

NAMED = (
    (Kind.OBJECT, "Pivot"), (Kind.OBJECT, "Plank"), (Kind.MESH, "Plank"), (Kind.MATERIAL, "Wood"), (Kind.COLLECTION, "Yard"),
    (Kind.COLLECTION, "Loft"), (Kind.COLLECTION, "Shed"), (Kind.SCENE, "Scene"), (Kind.ACTION, "Walk"), (Kind.WORLD, "Sky"),
    (Kind.NODE_GROUP, "Grain"), (Kind.NODE_GROUP, "Builder"), (Kind.IMAGE, "Rings"), (Kind.SHAPE_KEY, "Bends"), (Kind.LIGHT, "Lamp"),
)  # fmt: skip


@pytest.mark.parametrize(("kind", "name"), NAMED, ids=str)
def test_a_new_name_is_exact_and_hashed_wherever_it_is_named(village: Trial, kind: Kind, name: str) -> None:
    village.proves(lambda scene: scene.rename(scene.require(kind, name), "Other"))
    assert "Other" in getattr(data, kind.value)


def test_a_taken_name_is_refused(village: Trial) -> None:
    village.refuses(lambda scene: scene.rename(obj(scene, "Plank"), "Twin"))
    village.refuses(lambda scene: scene.create(Kind.OBJECT, "Twin", None))
    village.refuses(lambda scene: scene.adopt(Kind.MESH, scene.require(Kind.MESH, "Plank").copy(), "Shaped"))
    village.refuses(lambda scene: scene.rename(obj(scene, "Plank"), "x" * 300))


def test_kinds_that_this_blender_lacks_are_empty(trial: Trial) -> None:
    scene = trial.begin()
    for kind in Kind:
        assert scene.find(kind, "Nothing") is None
        assert scene.missing(kind, "Nothing", "/name")
        assert not scene.name_conflicts(kind, "Nothing", "/name")
        assert "Nothing" not in scene.names(kind)
        list(scene.blocks(kind))
    lacking = [kind for kind in Kind if not hasattr(data, kind.value)]
    assert lacking
    trial.refuses(lambda scene: scene.create(lacking[0], "Nothing"))


# ---------------------------------------------------------------------- collections


def link_and_unlink_objects(scene: BpyScene) -> None:
    scene.unlink(scene.active.collection, obj(scene, "Plank"))
    scene.link(group(scene, "Loft"), obj(scene, "Plank"))
    scene.link(group(scene, "Loft"), obj(scene, "Plank"))
    scene.unlink(group(scene, "Spare"), obj(scene, "Plank"))


def unlink_everywhere(scene: BpyScene) -> None:
    for home in scene.collections_of(obj(scene, "Lamp")):
        scene.unlink(home, obj(scene, "Lamp"))


def link_children(scene: BpyScene) -> None:
    scene.link(scene.active.collection, group(scene, "Loft"))
    scene.link(group(scene, "Shed"), group(scene, "Spare"))
    scene.link(group(scene, "Shed"), group(scene, "Spare"))


def unlink_first_child(scene: BpyScene) -> None:
    scene.unlink(scene.active.collection, group(scene, "Yard"))


def unlink_excluded_child(scene: BpyScene) -> None:
    scene.unlink(scene.active.collection, group(scene, "Shed"))


def unlink_inner_child(scene: BpyScene) -> None:
    scene.unlink(group(scene, "Yard"), group(scene, "Loft"))


def move_child(scene: BpyScene) -> None:
    scene.unlink(group(scene, "Yard"), group(scene, "Loft"))
    scene.link(group(scene, "Spare"), group(scene, "Loft"))


def create_child(scene: BpyScene) -> None:
    created = scene.create(Kind.COLLECTION, "New")
    scene.link(group(scene, "Shed"), created)
    scene.link(created, obj(scene, "Plank"))


# ---------------------------------------------------------------------- several writes in one step


def create_rename_remove(scene: BpyScene) -> None:
    created = scene.create(Kind.OBJECT, "New", None)
    scene.link(scene.active.collection, created)
    scene.rename(created, "Newer")
    scene.set(created, "parent", obj(scene, "Pivot"))
    scene.remove(created)
    scene.set(obj(scene, "Plank"), "location", (1, 0, 0))


def edit_then_remove(scene: BpyScene) -> None:
    scene.edit(obj(scene, "Pivot")).location = (1, 2, 3)
    scene.remove(obj(scene, "Pivot"))


def rename_twice(scene: BpyScene) -> None:
    scene.rename(obj(scene, "Pivot"), "A")
    scene.rename(obj(scene, "A"), "B")


def exchange_names(scene: BpyScene) -> None:
    plank = scene.edit(obj(scene, "Plank"))
    scene.rename(plank, "Between")
    scene.rename(obj(scene, "Twin"), "Plank")
    scene.set(obj(scene, "Plank"), "location", (1, 2, 3))
    scene.rename(plank, "Twin")
    plank.location = (3, 2, 1)


def exchange_names_of_edited(scene: BpyScene) -> None:
    scene.edit(scene.require(Kind.MATERIAL, "Wood")).diffuse_color = (1, 0, 0, 1)
    scene.remove(scene.require(Kind.MATERIAL, "Wood"))
    scene.rename(scene.require(Kind.MATERIAL, "Stone"), "Wood")
    scene.set(scene.require(Kind.MATERIAL, "Wood"), "roughness", 0.125)


def remove_then_create_the_same_name(scene: BpyScene) -> None:
    scene.remove(obj(scene, "Pivot"))
    created = scene.create(Kind.OBJECT, "Pivot", None)
    scene.link(group(scene, "Loft"), created)
    scene.set(obj(scene, "Child"), "parent", created)


def edit_after_set(scene: BpyScene) -> None:
    scene.set(obj(scene, "Plank"), "location", (1, 0, 0))
    scene.edit(obj(scene, "Plank")).location = (2, 0, 0)
    scene.set(obj(scene, "Plank"), "scale", (2, 2, 2))


def set_after_edit_after_rename(scene: BpyScene) -> None:
    scene.set(obj(scene, "Child"), "parent", obj(scene, "Plank"))
    scene.rename(obj(scene, "Plank"), "Board")
    scene.edit(obj(scene, "Board")).location = (2, 0, 0)
    scene.set(obj(scene, "Board"), "parent", obj(scene, "Eye"))
    scene.rename(obj(scene, "Board"), "Shelf")


def edit_both_ends(scene: BpyScene) -> None:
    scene.edit(obj(scene, "Child")).location = (1, 1, 1)
    scene.edit(obj(scene, "Pivot")).location = (1, 1, 1)
    scene.edit(scene.require(Kind.MESH, "Plank")).materials.clear()
    scene.edit(obj(scene, "Twin")).location = (1, 1, 1)


def edit_object_then_its_group(scene: BpyScene) -> None:
    scene.edit(obj(scene, "Plank")).location = (1, 1, 1)
    scene.edit(scene.require(Kind.NODE_GROUP, "Builder")).interface.clear()


def edit_group_then_remove_it(scene: BpyScene) -> None:
    scene.edit(scene.require(Kind.NODE_GROUP, "Grain")).interface.clear()
    scene.edit(scene.require(Kind.MATERIAL, "Wood")).diffuse_color = (1, 0, 0, 1)
    scene.remove(scene.require(Kind.NODE_GROUP, "Grain"))


def rename_collection_then_move_it(scene: BpyScene) -> None:
    scene.rename(group(scene, "Loft"), "Attic")
    scene.unlink(group(scene, "Yard"), group(scene, "Attic"))
    scene.link(group(scene, "Attic"), obj(scene, "Eye"))
    scene.rename(scene.active, "Main")
    scene.link(scene.active.collection, obj(scene, "Lamp"))


def unlink_then_link(scene: BpyScene) -> None:
    scene.unlink(scene.active.collection, group(scene, "Shed"))
    scene.link(scene.active.collection, group(scene, "Shed"))


ACTS: tuple[Act, ...] = (
    link_and_unlink_objects, unlink_everywhere, link_children, unlink_first_child, unlink_excluded_child, unlink_inner_child,
    move_child, create_child, create_rename_remove, edit_then_remove, rename_twice, exchange_names, exchange_names_of_edited,
    remove_then_create_the_same_name, edit_after_set, set_after_edit_after_rename, edit_both_ends, edit_object_then_its_group,
    edit_group_then_remove_it, rename_collection_then_move_it, unlink_then_link,
)  # fmt: skip


@pytest.mark.parametrize("act", ACTS, ids=lambda act: act.__name__)
def test_writes_are_hashed_taken_back_and_saved(village: Trial, act: Act) -> None:
    village.proves(act)


def test_the_flags_of_a_collection_in_a_view_layer_come_back(village: Trial) -> None:
    village.proves(unlink_first_child)
    assert bpy.context.scene.view_layers[0].layer_collection.children["Shed"].exclude


# ---------------------------------------------------------------------- data of other files


@pytest.fixture
def linked(trial: Trial, tmp_path: Path) -> Trial:
    """Open a scene with a linked object, and a local object of the same name."""

    def library() -> None:
        mesh = data.meshes.new("Far")
        mesh.materials.append(data.materials.new("Far"))
        bpy.context.scene.collection.objects.link(data.objects.new("Far", mesh))

    def local() -> None:
        with data.libraries.load(str(tmp_path / "library.blend"), link=True) as (_, target):
            target.objects = ["Far"]
        bpy.context.scene.collection.objects.link(target.objects[0])
        home = data.collections.new("Home")
        bpy.context.scene.collection.children.link(home)
        near = data.objects.new("Far", None)
        near["far"] = target.objects[0]
        home.objects.link(near)

    trial.given(library)
    trial.state.save(tmp_path / "library.blend")
    trial.state.reset()
    trial.given(local)
    return trial


def _far() -> Any:
    return next(obj for obj in data.objects if obj.library)


def test_linked_data_is_not_found_by_name(linked: Trial) -> None:
    scene = linked.begin()
    assert scene.require(Kind.OBJECT, "Far").library is None
    assert scene.find(Kind.MESH, "Far") is None
    assert scene.names(Kind.MATERIAL) == []


FORBIDDEN: tuple[Act, ...] = (
    lambda scene: scene.edit(_far()),
    lambda scene: scene.edit(_far().data),
    lambda scene: scene.remove(_far()),
    lambda scene: scene.rename(_far(), "Near"),
    lambda scene: scene.set(_far(), "location", (1, 2, 3)),
    lambda scene: scene.set_item(_far(), "key", 1),
)


@pytest.mark.parametrize("act", FORBIDDEN)
def test_linked_data_is_not_written(linked: Trial, act: Act) -> None:
    assert "linked from" in linked.refuses(act)


def test_linked_objects_are_members_like_others(linked: Trial) -> None:
    def act(scene: BpyScene) -> None:
        scene.unlink(scene.active.collection, _far())
        scene.link(group(scene, "Home"), _far())
        scene.rename(group(scene, "Home"), "Here")
        scene.rename(obj(scene, "Far"), "Near")

    linked.proves(act, saves=False)


def test_a_file_with_a_reserved_name_in_it_is_not_opened(tmp_path: Path) -> None:
    state = SceneState()
    state.reset()
    hidden: Any = data.meshes.new("~bw~mesh")
    hidden.use_fake_user = True
    path = tmp_path / "hidden.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path), copy=True)
    with pytest.raises(RuntimeError, match="'~bw~mesh' among the meshes"):
        state.open(path)
