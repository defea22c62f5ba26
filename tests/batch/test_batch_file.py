from __future__ import annotations

import json
import math
import statistics
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from blendwright.batch.input.batch_file import BatchDocument, read_batch_file
from blendwright.batch.input.sampling import Chance
from blendwright.programs.program import Program, evaluate
from blendwright.values.errors import Refusal

HEAD = {"format": "batch.v1", "program": "p.star"}


def rows(document: dict[str, Any], beside: Path = Path()) -> list[dict[str, Any]]:
    return [dict(params) for params, _ in BatchDocument.model_validate_json(json.dumps(HEAD | document)).rows(beside)]


def test_listed_values_are_multiplied_and_the_rest_is_drawn_for_each() -> None:
    made = rows(
        {
            "vary": {"palette": {"values": ["a", "b"]}, "seed": {"range": [0, 6, 2]}, "width": {"uniform": [1, 2]}},
            "cases": 2,
        }
    )
    assert [(row["palette"], row["seed"]) for row in made[::2]] == [(p, s) for p in "ab" for s in (0, 2, 4)]
    assert len({row["width"] for row in made}) == 12
    assert all(1 <= row["width"] < 2 for row in made)


def test_what_is_drawn_stays_when_there_is_more_of_it() -> None:
    vary: dict[str, Any] = {"width": {"uniform": [0, 1]}, "kind": {"values": ["a", "b"]}}
    few = rows({"vary": vary, "cases": 3})
    many = rows({"vary": {**vary, "kind": {"values": ["a", "c", "b"]}, "depth": {"integer": [1, 9]}}, "cases": 5})
    drawn = [(row["kind"], row["width"]) for row in many]
    assert all((row["kind"], row["width"]) in drawn for row in few)


def test_another_seed_draws_others_and_the_same_seed_the_same_everywhere() -> None:
    document: dict[str, Any] = {"vary": {"x": {"uniform": [0, 1]}, "n": {"normal": {"mean": 0, "deviation": 1}}}}
    assert rows(document) == rows(document)
    assert rows(document) != rows({**document, "seed": 1})


def test_the_stream_is_that_of_programs() -> None:
    """The same numbers as `random` in a program, which come from integers alone and so are the same on every machine."""
    chance = Chance("anything")
    program = f"""
chance = random({chance.state})
mesh.create_primitive(kind = "cube", name = "A", location = [chance.random() for _ in range(3)])
mesh.create_primitive(kind = "cube", name = "B", location = [chance.int(-5, 900) for _ in range(3)])
"""
    first, second = evaluate(Program(program), ["mesh.create_primitive"]).operations
    assert first.args["location"] == [chance.unit() for _ in range(3)]
    assert second.args["location"] == [chance.whole(-5, 900) for _ in range(3)]


def test_distributions_are_what_they_are_called() -> None:
    made = rows(
        {
            "vary": {
                "log": {"log_uniform": [0.001, 1000]},
                "bell": {"normal": {"mean": 5, "deviation": 2, "min": 4, "max": 8}},
                "dice": {"integer": [1, 6]},
                "pick": {"choice": ["x", [1], None]},
            },
            "cases": 2000,
        }
    )
    logs = [math.log10(row["log"]) for row in made]
    assert abs(statistics.mean(logs)) < 0.15
    assert -3 <= min(logs) < -2.9 < 2.9 < max(logs) <= 3
    bell = [row["bell"] for row in made]
    assert min(bell) == 4
    assert max(bell) == 8
    assert abs(statistics.median(bell) - 5) < 0.2
    assert {row["dice"] for row in made} == {1, 2, 3, 4, 5, 6}
    assert len([row for row in made if row["pick"] == [1]]) > 500


def test_rows_of_a_table_are_varied_too(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("product\nmug\nlamp\n")
    made = rows({"table": "t.csv", "vary": {"camera": {"values": [1, 2]}}}, tmp_path)
    assert made == [{"product": product, "camera": camera} for product in ("mug", "lamp") for camera in (1, 2)]


@pytest.mark.parametrize(
    ("document", "pointer"),
    [
        ({"vary": {"x": {"uniform": [2, 1]}}}, "/vary/x"),
        ({"vary": {"x": {"uniform": [1, 2], "choice": [1]}}}, "/vary/x"),
        ({"vary": {"x": {}}}, "/vary/x"),
        ({"vary": {"x": {"log_uniform": [0, 1]}}}, "/vary/x"),
        ({"vary": {"x": {"range": [5, 5]}}}, "/vary/x"),
        ({"vary": {"x": {"integer": [1.5, 2]}}}, "/vary/x/integer/0"),
        ({"cases": 0}, "/cases"),
        ({"keep": "all"}, "/keep"),
        ({"color": 1}, "/color"),
        ({"format": "batch.v9"}, "/format"),
    ],
)
def test_what_is_wrong_has_its_place(tmp_path: Path, document: dict[str, Any], pointer: str) -> None:
    path = tmp_path / "batch.json"
    path.write_text(json.dumps(HEAD | document))
    with pytest.raises(Refusal) as refused:
        read_batch_file(path)
    assert pointer in [finding.pointer for finding in refused.value.findings]


@pytest.mark.parametrize(
    ("outputs", "message"),
    [
        (["blend", "jpeg"], "unknown kind of output 'jpeg'"),
        ([{"kind": "glb", "name": "../x.glb"}], "is not a valid file name for an output"),
        ([{"kind": "glb", "name": "x.blend"}], "is not a valid file name for an output"),
        (["picture", {"kind": "picture", "args": {"view": "TOP"}}], "two outputs have the name 'picture.png'"),
    ],
)
def test_outputs_that_cannot_be_are_refused(outputs: list[Any], message: str) -> None:
    document = BatchDocument.model_validate_json(json.dumps(HEAD | {"outputs": outputs}))
    with pytest.raises(Refusal, match=message):
        document.wanted_outputs()


def test_a_plan_is_no_batch_file(tmp_path: Path) -> None:
    (tmp_path / "plan.json").write_text('{"operations": []}')
    assert read_batch_file(tmp_path / "plan.json") is None


@pytest.mark.parametrize(
    "vary",
    [
        {"seed": {"range": [0, 10**12]}},
        {"seed": {"range": [0, 10**30, 7]}},
        {"seed": {"range": [0, 10**6]}, "t": {"range": [0, -(10**6), -1]}},
        {"seed": {"range": [0, 10**5]}, "t": {"values": list(range(2000))}},
    ],
)
def test_more_cases_than_there_may_be_are_refused_before_any_is_made(vary: dict[str, Any]) -> None:
    document = BatchDocument.model_validate_json(json.dumps(HEAD | {"vary": vary}))
    with pytest.raises(Refusal, match="at most 100,000,000") as refused:
        document.rows(Path())
    assert refused.value.findings[0].pointer == "/vary"


def test_rows_of_a_table_count_too(tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text('{"a": 1}\n{"a": 2}\n')
    said = HEAD | {"table": "t.jsonl", "vary": {"n": {"values": [0]}}, "cases": 60_000_000}
    reading = BatchDocument.model_validate_json(json.dumps(said))._rows(tmp_path, {"n": range(0)}, 60_000_000)  # pyright: ignore[reportPrivateUsage]
    with pytest.raises(Refusal, match="at most 100,000,000"):
        list(reading)


def test_a_long_range_is_not_held_as_a_whole() -> None:
    document = BatchDocument.model_validate_json(json.dumps(HEAD | {"vary": {"seed": {"range": [0, 10**8]}}}))
    tracemalloc.start()
    try:
        made = document.rows(Path())
        assert [dict(next(made)[0]) for _ in range(3)] == [{"seed": 0}, {"seed": 1}, {"seed": 2}]
        assert tracemalloc.get_traced_memory()[1] < 10 << 20
    finally:
        tracemalloc.stop()
