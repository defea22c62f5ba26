"""Pairs of random lines are merged or refused exactly as a simple model says, and a merge is the operations in sequence."""

from __future__ import annotations

from collections.abc import Generator
from random import Random

import pytest

import blendwright
from blendwright.history.merge import merge
from blendwright.tools.catalog import tools
from blendwright.values.errors import Refusal
from blendwright.workspace.open_scene import OpenScene
from support.engine.engine import UNASKED
from support.plans.merge_model import BASE, MATERIALS, Call, Line, in_each_others_way


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Generator[OpenScene]:
    with blendwright.open(tmp_path_factory.mktemp("merges") / "w", spare=True, policy=UNASKED) as opened:
        run(opened, [("mesh.create_primitive", {"kind": "cube", "name": name}) for name in BASE], "base")
        run(opened, [("material.ensure_principled", {"name": name}) for name in MATERIALS], "paint")
        opened.history.set_tag("base")
        yield opened


def run(opened: OpenScene, calls: list[Call], request: str) -> None:
    operations = [
        {
            "operation_id": f"{n:03}",
            "tool_name": tool,
            "args": args,
            "depends_on": [f"{n - 1:03}"] if n else [],
            "safety_level": tools()[tool].safety_level.value,
        }
        for n, (tool, args) in enumerate(calls)
    ]
    report = opened.run({"request_id": request, "operations": operations})
    assert report.ok, list(report.all_findings())


def merge_as_the_model_says(opened: OpenScene, seed: int) -> bool:
    chance = Random(seed)
    ours, theirs = Line(chance), Line(chance)
    for line in (ours, theirs):
        line.work(chance.randint(1, 5))
    opened.history.checkout("base")
    opened.history.switch(f"theirs-{seed}", create_at="base")
    run(opened, theirs.calls, f"theirs-{seed}")
    opened.history.switch(f"ours-{seed}", create_at="base")
    run(opened, ours.calls, f"ours-{seed}")
    head, before = opened.journal.head_number, opened.hash
    refused = in_each_others_way(ours, theirs)
    try:
        merged = merge(opened, f"theirs-{seed}")
    except Refusal as refusal:
        assert refused, (seed, ours.calls, theirs.calls, refusal.findings)
        assert opened.journal.head_number == head and opened.hash == before
        return False
    assert not refused, (seed, ours.calls, theirs.calls)
    assert merged.ok and opened.journal.branches.current() == f"ours-{seed}"
    assert len(merged.taken) <= len(theirs.calls)
    opened.history.checkout("base")
    run(opened, [*ours.calls, *theirs.calls], f"sequence-{seed}")
    assert opened.hash == merged.scene_hash, (seed, ours.calls, theirs.calls)
    return True


def test_random_pairs_of_lines_are_merged_or_refused_as_the_model_says(opened: OpenScene) -> None:
    outcomes = [merge_as_the_model_says(opened, seed) for seed in range(20)]
    assert 3 <= sum(outcomes) <= 17, "both must happen"


@pytest.mark.slow
def test_five_hundred_pairs(opened: OpenScene) -> None:
    outcomes = [merge_as_the_model_says(opened, seed) for seed in range(1000, 1500)]
    assert 50 <= sum(outcomes) <= 450
