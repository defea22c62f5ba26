"""Operations as a graph: duplicates, missing dependencies and cycles, all at once."""

from __future__ import annotations

import difflib
import random
from collections.abc import Iterable
from time import process_time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blendwright.dialects import steps
from blendwright.plan.graph import MAX_COMPARED_CHARACTERS, cycles, graph_findings, read_graph, run_order
from blendwright.plan.repair import refused
from blendwright.values.plan import Operation
from support.plans.documents import box, codes, findings, of_operations, step


def bare(id: str, *waits_for: str, position: int = 0) -> Operation:
    return Operation(id, "tool", {}, waits_for, None, position, f"/operations/{position}")


@pytest.mark.proves("OPS-GRAPH-01")
def test_operations_are_nodes_and_dependencies_are_edges() -> None:
    graph = read_graph(of_operations(box("a"), box("b", "a"), box("c", "a", "b")).operations)
    assert not [*graph_findings(graph)]
    assert [list(links) for links in graph.waits_for] == [[], [0], [0, 1]]
    assert [list(links) for links in graph.waited_by] == [[1, 2], [2], []]


@pytest.mark.proves("OPS-GRAPH-02")
def test_a_missing_dependency_is_found_where_it_is_named_with_the_one_that_was_meant() -> None:
    plan = of_operations(box("legs"), box("top", "legs", "legz"))
    (finding,) = findings(plan)
    assert (finding.fault.value, finding.pointer) == ("DEPENDENCY_MISSING", "/operations/1/depends_on/1")
    assert finding.cure == "Did you mean 'legs'?"


@pytest.mark.proves("OPS-GRAPH-03")
def test_a_cycle_is_shown_link_by_link() -> None:
    plan = of_operations(box("a", "c"), box("b", "a"), box("c", "b"), box("d", "c"))
    (finding,) = findings(plan)
    assert finding.fault.value == "GRAPH_CYCLE"
    assert finding.pointer == "/operations/2/depends_on"
    assert "c → b → a → c" in finding.message


@pytest.mark.proves("OPS-GRAPH-03")
def test_an_operation_that_waits_for_itself_is_a_cycle() -> None:
    (finding,) = findings(of_operations(box("a", "a"), box("b")))
    assert finding.fault.value == "GRAPH_CYCLE" and "a → a" in finding.message


@pytest.mark.proves("OPS-GRAPH-04")
def test_everything_that_is_wrong_with_a_graph_is_found_at_once() -> None:
    plan = of_operations(box("a", "b"), box("b", "a"), box("c", "nothing"), box("c"), box("x", "y"), box("y", "x"))
    assert codes(plan) == [
        ("GRAPH_CYCLE", "/operations/1/depends_on"),
        ("DEPENDENCY_MISSING", "/operations/2/depends_on/0"),
        ("SCHEMA_INVALID", "/operations/3/operation_id"),
        ("GRAPH_CYCLE", "/operations/5/depends_on"),
    ]


def test_of_cycles_that_meet_in_one_operation_only_that_one_goes() -> None:
    graph = read_graph([bare("b", "w"), bare("w", "b", "z"), bare("z", "w")])
    assert [cycle[0] for cycle in cycles(graph)] == [1]


edges = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=40)


@given(edges)
def test_taking_out_the_first_of_each_cycle_ends_all_of_them_and_none_can_stay(links: list[tuple[int, int]]) -> None:
    operations = [bare(str(node), *(str(b) for a, b in links if a == node), position=node) for node in range(10)]
    graph = read_graph(operations)
    found = cycles(graph)
    for cycle in found:
        assert operations[cycle[0]].id == max(operations[node].id for node in cycle)
        for node, after in zip(cycle, [*cycle[1:], cycle[0]], strict=True):
            assert after in graph.waits_for[node]
    heads = {cycle[0] for cycle in found}
    assert acyclic(operations, heads)
    assert all(not acyclic(operations, heads - {head}) for head in heads)


def acyclic(operations: list[Operation], without: set[int]) -> bool:
    names = {operations[node].id for node in without}
    left = [bare(op.id, *(set(op.depends_on) - names)) for op in operations if op.id not in names]
    return len(run_order(read_graph(left), "id")) == len(left)


@pytest.mark.parametrize(
    ("shape", "size"),
    [
        ("ring", 20_000),
        *(
            pytest.param(shape, 20_000, marks=pytest.mark.slow)
            for shape in ("reversed ring", "shuffled ring", "tangle")
        ),
        ("chain of pairs", 20_000),
        ("tangle", 4_000),
    ],
)
def test_large_cycles_are_found_in_seconds(shape: str, size: int) -> None:
    order = list(range(size))
    if shape == "shuffled ring":
        random.Random(1).shuffle(order)
    step = -1 if shape == "reversed ring" else 1
    waits_for: list[list[str]] = [[] for _ in order]
    for place, node in enumerate(order):
        waits_for[node].append(f"{order[(place + step) % size]:06d}")
        if shape == "chain of pairs":
            waits_for[node].append(f"{order[(place - 1) % size]:06d}")
        if shape == "tangle":
            waits_for[node] += [f"{random.Random(place * 50 + n).randrange(size):06d}" for n in range(10)]
    operations = [bare(f"{node:06d}", *waits_for[node], position=node) for node in order]
    if shape == "shuffled ring":
        operations = [bare(f"{node:06d}", *waits_for[node]) for node in range(size)]
    started = process_time()
    found = cycles(read_graph(operations))
    assert process_time() - started < 20
    heads = {operations[cycle[0]].id for cycle in found}
    left = [bare(op.id, *(set(op.depends_on) - heads)) for op in operations if op.id not in heads]
    assert heads and len(run_order(read_graph(left), "id")) == len(left)


@pytest.mark.proves("OPS-GRAPH-04")
def test_long_ids_are_cut_wherever_a_message_repeats_them() -> None:
    long, other = "a" * 100_000, "b" * 100_000
    listed = [step(long, *(f"x{number}" for number in range(3000)), other), step(other, long), step(other)]
    document = {"steps": listed}
    plan = steps.DIALECT.parse(document)
    found = [*graph_findings(read_graph(plan.operations))]
    assert {finding.fault.value for finding in found} == {"SCHEMA_INVALID", "DEPENDENCY_MISSING", "GRAPH_CYCLE"}
    assert all(len(finding.message) < 1000 for finding in found)
    report = refused(plan, found)
    assert all(len(operation.message) < 10_000 for operation in report.operations)
    assert any(operation.message.endswith("; and 2980 more") for operation in report.operations)


@pytest.mark.parametrize("length", [20, 100, 128])
def test_the_search_for_similar_ids_is_bounded(length: int, monkeypatch: pytest.MonkeyPatch) -> None:
    letters = [chr(0x4E00 + number) for number in range(length)]
    shuffled = random.Random(1)
    compared: list[int] = []

    def near() -> str:
        shuffled.shuffle(letters)
        return "".join(letters)

    def counting(word: str, possibilities: Iterable[str], **options: Any) -> list[str]:
        compared.extend(len(name) for name in possibilities)
        return []

    monkeypatch.setattr(difflib, "get_close_matches", counting)
    graph = read_graph([bare(near(), near(), position=position) for position in range(1000)])
    assert len([*graph_findings(graph)]) == 1000
    assert sum(compared) <= MAX_COMPARED_CHARACTERS


def test_in_a_plan_of_common_size_the_ids_that_were_meant_are_named() -> None:
    graph = read_graph([bare(f"leg_{place}", *([] if place else ["leg_O"]), position=place) for place in range(100)])
    (finding,) = graph_findings(graph)
    assert (finding.cure or "").startswith("Did you mean 'leg_")
