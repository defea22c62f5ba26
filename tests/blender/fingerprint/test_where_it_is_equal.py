"""The hash is the same in another process, after saving and opening, in any order of creation, alone or in bulk."""

import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import scene_parts as parts
from scene_parts import context, data, ops

from blendwright.blender import fingerprint

HERE = Path(__file__).parent

PRINT_ZOO = """
import json, os, sys
sys.path.insert(0, sys.argv[1])
import scene_parts as parts
parts.empty_scene()
parts.zoo()
parts.context.view_layer.update()
leaves = {"|".join(key): digest.hex() for key, digest in parts.hashes().items()}
sys.stdout.write("\\nLEAVES " + json.dumps(leaves, sort_keys=True) + "\\n")
sys.stdout.flush()
os._exit(0)
"""


def _zoo_in_a_process(seed: str) -> str:
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PRINT_ZOO, str(HERE)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONHASHSEED": seed},
    )
    return next(line for line in run.stdout.splitlines() if line.startswith("LEAVES "))


def test_two_processes_agree_on_a_scene_with_everything() -> None:
    assert _zoo_in_a_process("1") == _zoo_in_a_process("2")


def test_saving_and_opening_keeps_every_hash(tmp_path: Path) -> None:
    parts.empty_scene()
    parts.zoo()
    context.view_layer.update()
    before = parts.hashes()
    path = str(tmp_path / "zoo.blend")
    ops.wm.save_as_mainfile(filepath=path, copy=True, relative_remap=False)  # as a worker saves
    assert parts.changed(before, parts.hashes()) == set()
    ops.wm.open_mainfile(filepath=path, use_scripts=False)
    assert parts.changed(before, parts.hashes()) == set()


def test_one_datablock_alone_hashes_as_in_the_full_pass() -> None:
    parts.empty_scene()
    parts.zoo()
    leaves = parts.hashes()
    checked: set[str] = set()
    for kind in fingerprint.kinds():
        for block in getattr(data, kind):
            key = fingerprint.key_of(block)
            if key in leaves:
                assert fingerprint.leaf(block) == leaves[key], key
                checked.add(kind)
    assert len(checked) >= 25


def test_some_datablocks_together_hash_as_each_alone() -> None:
    parts.empty_scene()
    parts.zoo()
    for number in range(12):
        _unlike(number)
    for kind in fingerprint.kinds():
        blocks = list(getattr(data, kind))
        assert fingerprint.leaves(blocks) == [fingerprint.leaf(block) for block in blocks], kind


def _unlike(number: int) -> None:
    """A cube that differs from others in one of the ways in which some of a batch may."""
    cube = parts.cube(f"Unlike {number}")
    cube.data.name = cube.name
    ways = (
        lambda: cube.vertex_groups.new(name="Group").add([0, 1], 0.5, "ADD"),
        lambda: cube.data.attributes.new("größe", "FLOAT_COLOR", "CORNER"),
        lambda: cube.data.uv_layers.new(name="Another"),
        lambda: cube.data.materials.append(parts.material()),
        lambda: cube.shape_key_add(name="Key"),
        lambda: cube.keyframe_insert("location"),
        lambda: cube.__setitem__("own", [1.0, -0.0]),
        lambda: setattr(cube, "matrix_parent_inverse", [[1, 2, 3, 4], [-0.0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]),
        lambda: setattr(cube.lineart, "usage", "INCLUDE"),
        lambda: setattr(cube.light_linking, "receiver_collection", data.collections.new("Receivers")),
        lambda: cube.modifiers.new("Subdivided", "SUBSURF"),
        lambda: data.meshes[cube.data.name].attributes.new("marked", "BOOLEAN", "FACE"),
    )
    ways[number]()


def test_every_plain_property_of_an_object_hashes_alike_alone_and_in_bulk() -> None:
    parts.empty_scene()
    parts.empty("Before it in the list")
    owner = parts.cube()
    parts.empty("Other")  # behind it
    chance = random.Random(4)
    moved = 0
    for prop in parts.types.Object.bl_rna.properties:
        name = prop.identifier
        if prop.is_readonly or prop.is_runtime or prop.type not in ("FLOAT", "INT", "BOOLEAN", "ENUM"):
            continue
        before = fingerprint.leaf(owner)
        _randomise(owner, prop, chance)
        after = fingerprint.leaf(owner)
        assert parts.hashes()["objects", owner.name] == after, name
        moved += before != after
    assert moved > 55


def _randomise(owner: Any, prop: Any, chance: random.Random) -> None:
    name = prop.identifier
    if prop.type == "ENUM":
        if not prop.is_enum_flag:
            for choice in prop.enum_items:
                try:
                    setattr(owner, name, choice.identifier)
                except TypeError:
                    continue  # not for this object
                if getattr(owner, name) != prop.default:
                    return
        return
    if not prop.is_array:
        setattr(owner, name, not getattr(owner, name) if prop.type == "BOOLEAN" else chance.randint(1, 9))
    elif prop.array_dimensions[1]:
        setattr(owner, name, [[chance.random() for _ in range(4)] for _ in range(4)])
    elif prop.type == "BOOLEAN":
        setattr(owner, name, [chance.random() < 0.5 for _ in range(prop.array_length)])
    else:
        setattr(owner, name, [chance.randint(1, 9) for _ in range(prop.array_length)])


def test_the_order_of_creation_does_not_matter() -> None:
    def build(order: list[int]) -> dict[fingerprint.Key, bytes]:
        parts.empty_scene()
        for number in order:
            owner = parts.cube(f"Cube {number}")
            owner.location.x = number
            owner.data.materials.append(parts.material(f"Mat {number}"))
            owner["a" if number % 2 else "b"] = number
        shaders = data.materials["Mat 0"].node_tree.nodes
        for number in order:
            shaders.new("ShaderNodeMath").name = f"Math {number}"
        for number in order:
            owner = data.objects["Cube 0"]
            owner.keyframe_insert("scale" if number % 2 else "location", index=number % 3, frame=1)
        return parts.hashes()

    one, other = build([0, 1, 2, 3]), build([3, 1, 0, 2])
    assert parts.changed(one, other) == set()
    assert fingerprint.Fingerprint(one).root() == fingerprint.Fingerprint(other).root()


def test_skipped_datablocks_and_their_memberships_are_left_out() -> None:
    parts.empty_scene()
    parts.empty("Kept")
    without = parts.hashes()
    parts.empty("Dead")
    leaves = fingerprint.full(lambda block: block.name == "Dead")
    assert leaves == without


def test_a_large_mesh_without_objects_keeps_its_weights_in_the_hash() -> None:
    parts.empty_scene()
    mesh = data.meshes.new("Large")
    mesh.from_pydata([(i, 0, 0) for i in range(3000)], [], [])
    mesh.use_fake_user = True
    owner = parts.linked("Owner", mesh)
    owner.vertex_groups.new(name="G").add([2999], 0.5, "REPLACE")
    digest = fingerprint.leaf(mesh)
    assert parts.hashes()["meshes", "Large"] == digest
    owner.vertex_groups[0].add([2999], 0.25, "REPLACE")
    changed = fingerprint.leaf(mesh)
    assert changed != digest
    data.objects.remove(owner)
    assert fingerprint.leaf(mesh) == changed == parts.hashes()["meshes", "Large"]


def test_incremental_updates_agree_with_full_passes_over_random_edits() -> None:
    parts.empty_scene()
    chance = random.Random(7)
    for number in range(12):
        parts.cube(f"Cube {number}")
    running = fingerprint.Fingerprint(parts.hashes())
    home = context.scene.collection
    for step in range(60):
        owner = chance.choice(list(data.objects))
        act = chance.randrange(5)
        if act == 0:
            owner.location.x = chance.random()
            running.put(fingerprint.key_of(owner), fingerprint.leaf(owner))
        elif act == 1:
            owner.data.vertices[0].co.x = chance.random()
            running.put(fingerprint.key_of(owner.data), fingerprint.leaf(owner.data))
        elif act == 2:
            owner[f"p{step}"] = step
            running.put(fingerprint.key_of(owner), fingerprint.leaf(owner))
        elif act == 3:
            made = parts.cube(f"New {step}")
            running.put(fingerprint.key_of(made), fingerprint.leaf(made))
            running.put(fingerprint.key_of(made.data), fingerprint.leaf(made.data))
            running.put(fingerprint.member_key(home, made), fingerprint.MEMBER)
        elif len(data.objects) > 4:
            for key in (fingerprint.key_of(owner), fingerprint.member_key(home, owner)):
                running.drop(key)
            mesh = owner.data
            running.drop(fingerprint.key_of(mesh))
            data.objects.remove(owner)
            data.meshes.remove(mesh)
        leaves = parts.hashes()
        assert dict(running.leaves()) == leaves
        assert running.root() == fingerprint.Fingerprint(leaves).root()
        assert len(running) == len(leaves)


def test_linked_data_carries_its_library_in_the_key(tmp_path: Path) -> None:
    parts.empty_scene()
    data.meshes.new("Shared").use_fake_user = True
    path = str(tmp_path / "library.blend")
    ops.wm.save_as_mainfile(filepath=path, copy=True)
    parts.empty_scene()
    with data.libraries.load(path, link=True) as (_, wanted):
        wanted.meshes = ["Shared"]
    local = data.meshes.new("Shared")
    parts.linked("Local", local)
    parts.linked("Linked", wanted.meshes[0])
    keys = {key for key in parts.hashes() if key[0] == "meshes"}
    assert ("meshes", "Shared") in keys
    assert any(len(key) == 3 and key[2].endswith("library.blend") for key in keys)
