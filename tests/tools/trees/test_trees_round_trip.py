"""Random trees of materials and compositors: built, exported, built again, equal; and every build can be taken back."""

from __future__ import annotations

from typing import Any

import bpy
import pytest

from blendwright.nodes.catalogue.load import catalogue_for
from blendwright.nodes.catalogue.model import TreeKind
from support.stage.stage import Stage
from support.trees.node_trees import ways
from support.trees.random_kind_trees import PICTURE, random_tree

QUICK: dict[TreeKind, int] = {"shader": 8, "compositor": 4}
TREES: dict[TreeKind, int] = {"shader": 300, "compositor": 100}


@pytest.fixture
def painted(stage: Stage) -> Stage:
    """A stage with an image."""
    data: Any = bpy.data
    data.images.new(PICTURE, 8, 8).use_fake_user = True
    stage.state.refresh()
    return stage


def exported(stage: Stage, target: dict[str, Any]) -> dict[str, Any]:
    shown = stage.do("nodes.inspect", {"target": target, "formats": ["tree", "payload"]})
    return {"tree": shown["tree"], "operations": shown["payload"]["operations"]}


def round_trip(stage: Stage, seed: int, kind: TreeKind) -> None:
    known = catalogue_for(bpy.app.version, kind)
    assert known is not None
    payload = random_tree(seed, known)
    target = payload["target"]
    before = stage.state.root()
    way = "memfile" if kind == "compositor" and bpy.app.version < (5, 0, 0) else "inverse"
    if way in ways():
        rehearsed = stage.call("nodes.apply_tree", payload, rehearse=way)
        assert rehearsed["ok"], (seed, rehearsed["findings"])
        assert rehearsed["reverted_by"] == way, seed
        assert rehearsed["after"] == before == stage.state.full_root(), seed
    stage.do("nodes.apply_tree", payload)
    first = exported(stage, target)
    # Over other nodes that are there, and where there is nothing yet.
    other = {"material": "Other"} if kind == "shader" else target
    stage.do("nodes.apply_tree", {"target": other, "operations": [], "clear": True})
    again = stage.call("nodes.apply_tree", {"target": other, "clear": True, "operations": first["operations"]})
    assert again["ok"], (seed, again["findings"])
    assert exported(stage, other) == first, seed
    if kind == "shader":
        data: Any = bpy.data
        one, two = data.materials["Random"], data.materials["Other"]
        assert [len(one.node_tree.nodes), len(one.node_tree.links)] == [
            len(two.node_tree.nodes),
            len(two.node_tree.links),
        ]


@pytest.mark.parametrize("kind", QUICK)
def test_a_tree_of_a_kind_that_is_exported_and_built_again_is_equal(painted: Stage, kind: TreeKind) -> None:
    for seed in range(QUICK[kind]):
        round_trip(painted, seed, kind)


@pytest.mark.slow
@pytest.mark.parametrize("kind", TREES)
def test_hundreds_of_trees_of_a_kind_that_are_exported_and_built_again_are_equal(
    painted: Stage, kind: TreeKind
) -> None:
    for seed in range(QUICK[kind], TREES[kind]):
        round_trip(painted, seed, kind)
