"""Random lists of operations on primitives: none breaks a mesh, each can be taken back exactly, and gives the same mesh again."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
import pytest

from support.plans.random_edits import random_edits, random_primitive

if TYPE_CHECKING:
    from support.stage.stage import Stage

TESTS = Path(__file__).parents[1]
QUICK, MANY = 12, 400


def with_uvs(name: str) -> None:
    """A UV map, which operations have to carry along."""
    mesh = bpy.data.meshes[name]
    layer = mesh.uv_layers.new(name="UV")
    for loop in mesh.loops:
        place = mesh.vertices[loop.vertex_index].co
        layer.data[loop.index].uv = (place.x * 0.3 + 0.5, place.y * 0.2 + place.z * 0.1)


def played(stage: Stage, empty: Path, seed: int) -> tuple[str, int]:
    """The hash after a list of the seed's, from which operations that cannot be done were taken; and how many were left."""
    stage.state.open(empty)
    stage.do("material.ensure_principled", {"name": "Paint"})
    stage.do("mesh.create_primitive", {**random_primitive(seed), "rotation_euler_deg": [10, 20, 30]})
    if seed % 2:
        with_uvs("It")
        stage.state.refresh()
    edits = random_edits(seed, "Paint")
    before = stage.state.full_root()
    while edits:
        args = {"object": "It", "operations": edits}
        if seed % 3 == 0:
            rehearsed = stage.call("mesh.edit", args, rehearse="inverse")
            assert rehearsed["reverted_by"] in (None, "inverse"), (seed, edits)
            assert stage.state.full_root() == before, (seed, edits)
        answer = stage.call("mesh.edit", args)
        if answer["ok"]:
            for mesh in bpy.data.meshes:
                assert mesh.name.startswith("~bw~") or not mesh.validate(verbose=False), (seed, edits)
            return answer["after"], len(edits)
        # A refusal names its operation and leaves no trace.
        assert answer["after"] == before, (seed, edits)
        assert answer["fault"] == "SCENE_CONFLICT", (seed, edits, answer["message"])
        number = int(answer["findings"][0]["pointer"].split("/")[2])
        edits = _without(edits, number)
    return before, 0


def _without(edits: list[dict[str, Any]], number: int) -> list[dict[str, Any]]:
    """The operations before the one that failed, and those behind it that do not depend on names."""
    later = [one for one in edits[number + 1 :] if one["select"] in ("all", "boundary")]
    return [*edits[:number], *later]


def outcomes(stage: Stage, seeds: range) -> dict[str, tuple[str, int]]:
    empty = stage.scratch / "empty.blend"
    if not empty.exists():
        stage.state.save(empty)
    return {str(seed): played(stage, empty, seed) for seed in seeds}


def test_random_lists_keep_a_mesh_valid_are_taken_back_and_give_the_same_again(stage: Stage) -> None:
    first = outcomes(stage, range(QUICK))
    # Other addresses in memory: the order in which operators go through elements must not show.
    held = [bytearray(random.randrange(10, 4000)) for _ in range(3000)]
    assert outcomes(stage, range(QUICK)) == first
    assert held and sum(count > 0 for _, count in first.values()) > QUICK / 2, "most lists can be done, if not whole"


@pytest.mark.slow
def test_two_processes_give_the_same_meshes(tmp_path: Path) -> None:
    path = os.pathsep.join([str(TESTS), *filter(None, [os.environ.get("PYTHONPATH")])])
    files = [tmp_path / "one.json", tmp_path / "two.json"]
    for seed, file in enumerate(files):
        subprocess.run(
            [sys.executable, "-c", f"from tools.test_mesh_edit_random import main; main({str(file)!r})"],
            env={**os.environ, "PYTHONHASHSEED": str(seed), "PYTHONPATH": path},
            check=True,
        )
    one, two = (json.loads(file.read_text()) for file in files)
    assert len(one) == MANY and one == two


def main(file: str) -> None:
    from support.stage.stage import Stage

    scratch = Path(file).with_suffix("")
    scratch.mkdir()
    Path(file).write_text(json.dumps(outcomes(Stage(scratch), range(MANY))))


@pytest.mark.parametrize("edit", ["subdivide", "triangulate"])
def test_a_mesh_with_uvs_is_taken_back_without_new_layers(stage: Stage, edit: str) -> None:
    """Blender 4.5 and older make selections and pins of a UV map for whoever looks at them."""
    stage.do("mesh.create_primitive", {"kind": "cube", "name": "It"})
    with_uvs("It")
    stage.state.refresh()
    before = stage.state.full_root()
    answer = stage.call("mesh.edit", {"object": "It", "operations": [{"op": edit}]}, rehearse="inverse")
    assert answer["reverted_by"] == "inverse" and stage.state.full_root() == before
