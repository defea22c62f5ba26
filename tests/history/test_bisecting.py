"""Bisect: the guilty commit is found with few rebuilds, and the check is an expression that can do no harm."""

from __future__ import annotations

import math
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

import blendwright
from blendwright.history.bisect import Looked, bisect
from blendwright.programs.predicate import judge
from blendwright.programs.recording import Limits
from blendwright.values.errors import Refusal

VALUES: dict[str, Any] = {
    "scene": {"objects": {"Lamp": {"location": [0.0, 0.0, 4.0], "type": "LIGHT"}}, "render": {"engine": "CYCLES"}},
    "named": ["objects"],
    "audit": {"errors": 0, "rules": {"floating": 2}},
}


def with_commits(place: Path, count: int, guilty: int) -> Path:
    """A workspace of so many commits; from the guilty one on there is an object that must not be."""
    names = {n: "Bad" if n == guilty else f"Empty {n}" for n in range(2, count + 1)}
    operations: list[dict[str, Any]] = [
        {
            "operation_id": f"{n:06}",
            "tool_name": "object.create_empty",
            "args": {"name": name},
            "depends_on": [],
            "safety_level": "safe_write",
        }
        for n, name in names.items()
    ]
    with blendwright.open(place, spare=False) as opened:
        report = opened.run({"request_id": "many", "operations": operations})
        assert report.ok
        assert opened.journal.head_number == count
    return place


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Generator[Path]:
    yield with_commits(tmp_path_factory.mktemp("bisect") / "w", 60, 37)


def test_the_guilty_commit_is_found_with_few_rebuilds(workspace: Path) -> None:
    told: list[Looked] = []
    found = bisect(workspace, '"Bad" not in scene.objects', observe=told.append)
    assert (found.first_bad.number, found.last_good.number, found.commits) == (37, 36, 60)
    assert tuple(told) == found.looked and len(found.looked) <= math.ceil(math.log2(60)) + 1
    assert found.to_json()["rebuilds"] == len(found.looked)
    with pytest.raises(Refusal, match="is not before"):
        bisect(workspace, "True", good=60, bad=40)


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("guilty", [2, 500, 613, 1000])
def test_among_a_thousand_eleven_rebuilds_are_enough(tmp_path: Path, guilty: int) -> None:
    workspace = with_commits(tmp_path / "w", 1000, guilty)
    found = bisect(workspace, '"Bad" not in scene.objects')
    assert found.first_bad.number == guilty and len(found.looked) <= 11


@pytest.mark.parametrize(
    ("expression", "holds"),
    [
        ('scene.objects["Lamp"].location[2] > 0', True),
        ('scene.render.engine == "EEVEE"', False),
        ("audit.errors == 0 and audit.rules['floating'] > 1", True),
        ('[name for name, one in scene.objects.items() if one.type == "LIGHT"]', True),
        ("[]", False),
        ("math.sqrt(16) == 4", True),
        ("'Lamp' in scene.objects # and so on", True),
    ],
)
def test_a_check_is_true_or_not(expression: str, holds: bool) -> None:
    verdict = judge(expression, VALUES)
    assert (verdict.holds, verdict.message) == (holds, None)


def test_a_check_that_does_not_fit_the_scene_does_not_hold_there() -> None:
    for expression in ('scene.objects["Gone"].type == "MESH"', "scene.objects['Lamp'].wings", '1 + "a"', 'fail("so")'):
        verdict = judge(expression, VALUES)
        assert not verdict.holds and verdict.message


@pytest.mark.parametrize(
    "expression",
    [
        "",
        "  ",
        "1 +",
        "x = 1",
        "for i in range(3): pass",
        "nobody",
        "True)\nprint(1",
        "load('a', 'b')",
        "\0",
        "1 " * 20_000,
        "import os",
    ],
)
def test_what_is_no_expression_is_refused(expression: str) -> None:
    with pytest.raises(Refusal) as caught:
        judge(expression, VALUES)
    assert caught.value.findings[0].cure


def test_a_check_without_end_is_ended() -> None:
    few = Limits(seconds=1.0, steps=1_000_000)
    with pytest.raises(Refusal, match="takes more than"):
        judge("len([x for x in range(100000000) if x % 7 == 1]) > 3", VALUES, few)
    with pytest.raises(Refusal, match="takes more than"):
        judge('len("x" * 1000000000) > 3', VALUES, Limits(memory_mb=64))
