"""Random sequences of operations on the port: the incremental hash is correct, and a revert restores the scene."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import bpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trial import Trial

from blendwright.blender.scene import BpyScene
from blendwright.tool_api.scene import Kind
from blendwright.values.errors import StepError

data: Any = bpy.data

KINDS = (Kind.OBJECT, Kind.MESH, Kind.MATERIAL, Kind.COLLECTION)
NAMES = ("A", "B", "C")
Operation = tuple[str, Kind, str, str]

operations = st.tuples(
    st.sampled_from(
        (
            "create",
            "create",
            "edit",
            "rename",
            "remove",
            "link",
            "link",
            "unlink",
            "set",
            "parent",
            "item",
            "point",
            "drop",
        )
    ),
    st.sampled_from(KINDS),
    st.sampled_from(NAMES),
    st.sampled_from(NAMES),
)


def build() -> None:
    """Create A and B of each kind, which refer to each other, and C without users. This is faster than opening a file per example."""
    data.batch_remove([block for kind in KINDS for block in getattr(data, kind.value)])
    top = bpy.context.scene.collection
    for name in ("A", "B"):
        material, mesh = data.materials.new(name), data.meshes.new(name)
        mesh.from_pydata([(0, 0, 0), (1, 0, 0), (1, 1, 0)], [], [(0, 1, 2)])
        mesh.materials.append(material)
        obj, home = data.objects.new(name, mesh), data.collections.new(name)
        top.children.link(home)
        home.objects.link(obj)
        mesh["of"] = material
    data.objects["B"].parent = data.objects["A"]
    data.objects["A"]["who"] = {"is": data.objects["B"]}
    top.objects.link(data.objects["A"])


def perform(scene: BpyScene, operation: Operation) -> None:
    verb, kind, name, target = operation
    try:
        VERBS[verb](scene, kind, name, target)
    except StepError:
        pass  # refused; what was written before it is recorded
    except RuntimeError as error:
        if "cycle" not in str(error) and "already in collection" not in str(error) and "Could not" not in str(error):
            raise


def create(scene: BpyScene, kind: Kind, name: str, other: str) -> None:
    scene.create(kind, name, *([scene.find(Kind.MESH, other)] if kind is Kind.OBJECT else []))


def edit(scene: BpyScene, kind: Kind, name: str, other: str) -> None:
    if kind is Kind.COLLECTION:
        return
    block = scene.edit(scene.require(kind, name))
    if kind is Kind.MESH:
        block.materials.append(scene.find(Kind.MATERIAL, other))
    elif kind is Kind.MATERIAL:
        block.diffuse_color = (0.5, 0, 0, 1)
    else:
        block.location = (3, 2, 1)
        if name != other:
            block.modifiers.new("Mirror", "MIRROR").mirror_object = scene.find(Kind.OBJECT, other)


def rename(scene: BpyScene, kind: Kind, name: str, other: str) -> None:
    scene.rename(scene.require(kind, name), other)


def remove(scene: BpyScene, kind: Kind, name: str, _other: str) -> None:
    scene.remove(scene.require(kind, name))


def link(scene: BpyScene, kind: Kind, name: str, other: str) -> None:
    child = Kind.COLLECTION if kind is Kind.COLLECTION else Kind.OBJECT
    home = scene.active.collection if kind is Kind.MESH else scene.require(Kind.COLLECTION, other)
    scene.link(home, scene.require(child, name))


def unlink(scene: BpyScene, kind: Kind, name: str, other: str) -> None:
    home = scene.active.collection if kind is Kind.MESH else scene.require(Kind.COLLECTION, other)
    if kind is Kind.COLLECTION:
        child = scene.require(Kind.COLLECTION, name)
        if child in home.children.values():
            scene.unlink(home, child)
    else:
        scene.unlink(home, scene.require(Kind.OBJECT, name))


def write(scene: BpyScene, kind: Kind, name: str, other: str) -> None:
    block = scene.require(kind, name)
    if kind is Kind.OBJECT:
        scene.set(block, "location", (1, 2, len(other)))
        scene.set(block, "rotation_mode", "QUATERNION")
    elif kind is Kind.COLLECTION:
        scene.set(block, "hide_render", not block.hide_render)
    elif kind is Kind.MATERIAL:
        scene.set(block, "roughness", 0.125)
    else:
        scene.set(block, "use_fake_user", not block.use_fake_user)


def parent(scene: BpyScene, _kind: Kind, name: str, other: str) -> None:
    if name != other:
        scene.set(scene.require(Kind.OBJECT, name), "parent", scene.find(Kind.OBJECT, other))


def item(scene: BpyScene, kind: Kind, name: str, other: str) -> None:
    scene.set_item(scene.require(kind, name), "who", {"name": other, "numbers": [1, 2]})


def point(scene: BpyScene, kind: Kind, name: str, other: str) -> None:
    target = scene.require(Kind.MATERIAL if kind is Kind.OBJECT else Kind.OBJECT, other)
    scene.set_item(scene.require(kind, name), "who", target)


def drop(scene: BpyScene, kind: Kind, name: str, _other: str) -> None:
    block = scene.require(kind, name)
    if "who" in block:
        scene.drop_item(block, "who")


VERBS: dict[str, Callable[[BpyScene, Kind, str, str], None]] = {
    "create": create, "edit": edit, "rename": rename, "remove": remove, "link": link, "unlink": unlink, "set": write,
    "parent": parent, "item": item, "point": point, "drop": drop,
}  # fmt: skip


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Trial:
    return Trial(tmp_path_factory.mktemp("sequences"))


def is_hashed_and_taken_back(trial: Trial, first: list[Operation], second: list[Operation]) -> None:
    trial.given(build)
    trial.step(lambda scene: [perform(scene, operation) for operation in first])
    before = trial.leaves()
    scene = trial.step(lambda scene: [perform(scene, operation) for operation in second])
    after = trial.leaves()
    trial.takes_back(scene, before)
    trial.step(lambda scene: [perform(scene, operation) for operation in second])
    assert trial.leaves() == after


SEQUENCES = given(first=st.lists(operations, max_size=4), second=st.lists(operations, min_size=4, max_size=12))


@settings(max_examples=30, deadline=None, derandomize=True)
@SEQUENCES
def test_any_sequence_is_hashed_and_taken_back(ground: Trial, first: list[Operation], second: list[Operation]) -> None:
    is_hashed_and_taken_back(ground, first, second)


@pytest.mark.slow
@settings(max_examples=200, deadline=None, derandomize=True)
@SEQUENCES
def test_hundreds_of_sequences_are(ground: Trial, first: list[Operation], second: list[Operation]) -> None:
    is_hashed_and_taken_back(ground, first, second)
