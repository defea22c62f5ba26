"""The order in which a plan runs, and the hash that stands for it."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blendwright.values.plan import Plan, Schedule
from support.plans.documents import box, of_operations, of_steps, step, valid


def scheduled(plan: Plan, registry: str = "registry", baseline: str = "baseline") -> Schedule:
    return valid(plan).schedule(registry, baseline)


def ids(plan: Plan) -> list[str]:
    return [operation.id for operation in scheduled(plan).order]


@pytest.mark.proves("OPS-ORDER-02", "EXEC-PLAN-01")
def test_ties_are_broken_by_the_ids_in_lexical_order() -> None:
    assert ids(of_operations(box("b"), box("a10"), box("a9"), box("B"))) == ["B", "a10", "a9", "b"]
    assert ids(of_operations(box("a", "z"), box("z"), box("b"))) == ["b", "z", "a"]


@pytest.mark.proves("STEPS-ORDER-01")
def test_steps_run_in_the_order_of_the_payload_where_dependencies_allow() -> None:
    assert ids(of_steps(step("z"), step("a", "m"), step("m"), step("b"))) == ["z", "m", "a", "b"]
    assert ids(of_steps(step("b", "a", "a"), step("a"))) == ["a", "b"]


@st.composite
def graphs(draw: st.DrawFn) -> list[dict[str, Any]]:
    size = draw(st.integers(1, 12))
    names = draw(st.permutations([f"op{number}" for number in range(size)]))
    listed: list[dict[str, Any]] = []
    for number, name in enumerate(names):
        waits_for = draw(st.sets(st.sampled_from(names[:number]))) if number else set[str]()
        listed.append(box(name, *waits_for))
    return listed


@pytest.mark.proves("OPS-ORDER-01")
@given(graphs(), st.randoms(use_true_random=False))
def test_equal_graphs_have_equal_schedules_whatever_their_order(
    listed: list[dict[str, Any]], chance: random.Random
) -> None:
    shuffled = [
        operation | {"depends_on": chance.sample(operation["depends_on"], len(operation["depends_on"]))}
        for operation in listed
    ]
    chance.shuffle(shuffled)
    one, other = scheduled(of_operations(*listed)), scheduled(of_operations(*shuffled))
    assert [operation.id for operation in one.order] == [operation.id for operation in other.order]
    assert one.hash == other.hash
    done: set[str] = set()
    for operation in one.order:
        assert done.issuperset(operation.depends_on)
        done.add(operation.id)
    assert len(done) == len(listed)


@pytest.mark.proves("OPS-ORDER-01")
def test_the_hash_knows_graph_arguments_tools_and_baseline() -> None:
    plan = of_operations(box("a"), box("b", "a"))
    hashes = {
        scheduled(plan).hash,
        scheduled(plan, registry="other").hash,
        scheduled(plan, baseline="other").hash,
        scheduled(of_operations(box("a"), box("b"))).hash,
        scheduled(of_operations(box("a"), box("b", "a", args={"kind": "cube", "name": "Other"}))).hash,
        scheduled(of_operations(box("a"), box("b", "a", safety_level="destructive"))).hash,
    }
    assert len(hashes) == 6
    spelled_out = box("b", "a", args={"name": "Box b", "kind": "cube", "size": 2})
    assert scheduled(of_operations(box("a"), spelled_out)).hash == scheduled(plan).hash


def test_a_plan_of_ten_thousand_operations_is_scheduled() -> None:
    chance = random.Random(3)
    listed = [box(f"op{n:05d}", *({f"op{chance.randrange(n):05d}"} if n else ())) for n in range(10_000)]
    chance.shuffle(listed)
    assert len(ids(of_operations(*listed))) == 10_000
