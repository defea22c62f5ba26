"""Rows as whoever looks is shown them: as they were written, or as rows that somebody has changed."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from blendwright.batch.cases.case import Case
from blendwright.batch.results.reader import params_of, shown_standing
from blendwright.batch.results.table import ResultRow

CASE = Case(3, "0" * 64, {"seed": 1}, "t.csv:2")
ROW = ResultRow(3, CASE.key, CASE.params, "done", outputs={"a.png": {"bytes": 1}}, times={"total": 1.5}, location="x")


def shown(text: str | None) -> ResultRow:
    row = shown_standing(CASE, "done", 1, 1, "lane", text).row
    assert row is not None
    return row


def test_a_row_is_shown_as_it_was_written_and_none_before_there_is_one() -> None:
    assert shown(orjson.dumps(ROW.to_json()).decode()) == ROW
    assert shown_standing(CASE, "running", 1, 1, "lane", None).row is None


@pytest.mark.parametrize(
    "change",
    [
        {"outputs": ["a.png"]}, {"outputs": {"a.png": 5}}, {"findings": "none"}, {"findings": [5]}, {"times": 5},
        {"times": {"total": "long"}}, {"location": 5}, {"scene_hash": []}, {"key": "../.."}, {"another": 1},
    ],
)  # fmt: skip
def test_a_row_that_is_not_sound_is_shown_as_such(change: dict[str, Any]) -> None:
    row = shown(orjson.dumps({**ROW.to_json(), **change}).decode())
    assert (row.number, row.key, row.status, dict(row.outputs), row.location) == (3, CASE.key, "failed", {}, None)
    assert "is invalid" in row.findings[0]["message"]


@pytest.mark.parametrize("text", [None, "null", "[]", "5", "{}", "{"])
def test_what_is_no_row_is_shown_as_such(text: str | None) -> None:
    assert "is invalid" in shown(text).findings[0]["message"]


def test_parameters_are_an_object_or_none() -> None:
    assert (params_of('{"a": 1}'), params_of("[1]"), params_of("5")) == ({"a": 1}, {}, {})
