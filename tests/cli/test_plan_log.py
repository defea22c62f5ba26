"""blendwright log plan by plan: one row each, with what it was, who asked for it, and the commit that has its scene."""

from __future__ import annotations

from pathlib import Path

import pytest

import blendwright
from blendwright.dialects.registry import parse_plan
from blendwright.journal import JournalView
from blendwright.records.commits import Commit
from blendwright.views.plan_log import plan_log, program_title
from blendwright.workspace.replace_plan import run_instead
from support.plans.documents import box
from support.processes.shell import Shell
from support.suite.in_one_test import in_one_test

ROW = """# A row of posts.
# It stands by itself.
for n in range(param("posts", 3)):
    object.create_empty(name="Post_%d" % n)
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A plan of three, a program, the same with other parameters in its place, and a call."""
    place = tmp_path_factory.mktemp("planned")
    (place / "row.star").write_text(ROW)
    with blendwright.open(place / ".blendwright", spare=False) as scene:
        boxes = {"request_id": "boxes", "operations": [box(each) for each in "abc"]}
        assert scene.run(parse_plan(boxes, is_json=True)).ok
        assert scene.run(parse_plan({"program": ROW, "params": {}}, is_json=True)).ok
        assert run_instead(scene, parse_plan({"program": ROW, "params": {"posts": 5}}, is_json=True)).ok
        assert scene.call("object.create_empty", name="Last").ok
    return place


@pytest.fixture(autouse=True)
def _no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)


def test_on_a_narrow_terminal_a_plan_is_two_lines_that_fit(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    lines = Shell(place)("log", code=0).out.splitlines()
    assert len(lines) == 8 and max(map(len, lines)) < 80
    assert lines[2].split(maxsplit=1) == ["12", "A row of posts. posts=5"] and "5 operations  code" in lines[3]


def test_a_plan_is_one_row_whatever_it_did(place: Path) -> None:
    shell = Shell(place)
    call, program, boxes, start = shell("log", code=0).out.splitlines()
    assert call.split()[:2] == ["HEAD", "13"] and "object.create_empty Last" in call and "1 operation " in call
    assert "A row of posts. posts=5" in program and "5 operations" in program and program.split()[0] == "12"
    assert "mesh.create_primitive" in boxes and "3 operations" in boxes and "boxes" in boxes and boxes.split()[0] == "4"
    assert start.split()[0] == "1" and "operation" not in start
    every = shell("log", "--all", code=0).out.splitlines()
    assert [line.split()[0 if not line.startswith("HEAD") else 1] for line in every] == ["13", "12", "7", "4", "1"]
    assert len(shell("log", "--operations", code=0).out.splitlines()) == 10
    shell("log", "--operations", "--plans", code=2)


def test_pages_end_where_plans_do(place: Path) -> None:
    shell = Shell(place)
    first = shell("log", "--limit", "2", code=0).out.splitlines()
    assert first[-1] == "more: blendwright log --before 8"
    rest = shell("log", "--limit", "2", "--before", "8", code=0).out.splitlines()
    assert [line.split()[0] for line in rest] == ["4", "1"]


def test_programs_read_plans_where_they_ask_for_them_and_commits_where_they_do_not(place: Path) -> None:
    shell = Shell(place)
    commits = shell("log", "--json", code=0).document
    assert [one["number"] for one in commits["commits"]] == [
        13,
        12,
        11,
        10,
        9,
        8,
        4,
        3,
        2,
        1,
    ] and "plans" not in commits
    told = shell("log", "--plans", "--json", code=0).document
    assert {key: told[key] for key in ("ok", "head", "branch", "redo", "next_before")} == {
        "ok": True, "head": 13, "branch": "main", "redo": None, "next_before": None,
    }  # fmt: skip
    program = told["plans"][1]
    assert (program["first"], program["commit"], program["before"]) == (8, 12, 4), "in place of the one before"
    assert program["operations"] == 5 and program["tools"] == {"object.create_empty": 5}
    assert program["who"]["by"] == "code" and program["program"] == program["request_id"]
    assert [one["head"] for one in told["plans"]] == [True, False, False, False]
    assert told["plans"][0]["names"] == ["main"]


def test_a_request_is_found_by_how_its_id_begins(place: Path) -> None:
    shell = Shell(place)
    long = shell("log", "--plans", "--json", code=0).document["plans"][1]["request_id"]
    assert shell("log", "--request", long[:12], "--json", code=0).document["request_id"] == long
    assert shell("log", "--request", "boxes", "--json", code=0).document["request_id"] == "boxes"
    assert "no request" in shell("log", "--request", long[:3], code=2).err


def test_a_name_on_another_line_is_no_name_of_a_plan(place: Path) -> None:
    with blendwright.open(place / ".blendwright", spare=False) as scene:
        scene.history.set_tag("first-row", 7)
    [tagged] = [one for one in plan_log(place / ".blendwright", all_lines=True).plans if "first-row" in one.names]
    assert tagged.commit.number == 7
    assert not any("first-row" in one.names for one in plan_log(place / ".blendwright").plans)


def test_a_plan_that_was_gone_on_with_later_has_no_names_of_what_came_between(tmp_path: Path) -> None:
    with blendwright.open(tmp_path, spare=False) as scene:
        some = {"request_id": "on", "operations": [box("a")]}
        assert scene.run(parse_plan(some, is_json=True)).ok
        scene.history.checkout(1)
        assert scene.call("object.create_empty", name="Between").ok
        scene.history.set_tag("between", 3)
        scene.history.checkout(2)
        assert scene.run(parse_plan({**some, "operations": [box("a"), box("b")]}, is_json=True)).ok
    on, _ = plan_log(tmp_path).plans
    assert (on.span.first, on.span.last, on.span.operations, on.names) == (2, 4, 2, ("main",)), "where it was left"


def test_long_plans_are_counted_without_their_receipts(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two commits of each plan are read whole, however many it has."""
    read: list[int] = []
    show = JournalView.show

    def noted(self: JournalView, number: int) -> Commit:
        read.append(number)
        return show(self, number)

    monkeypatch.setattr(JournalView, "show", noted)
    plan_log(place / ".blendwright", limit=2)
    assert set(read) <= {13, 12, 8, 7}, "7 has a tag"


@in_one_test(
    {
        "a comment": ("# A shelf.\nx = 1", "A shelf."),
        "after empty lines": ("\n\n#   A shelf.  \n", "A shelf."),
        "lines without words come first": ("#!/usr/bin/env\n# ----\n# A shelf.", "A shelf."),
        "code comes first": ("x = 1\n# A shelf.", None),
        "nothing": ("", None),
    }
)
def test_a_program_is_called_what_its_first_comment_says(case: tuple[str, str | None]) -> None:
    text, title = case
    assert program_title(text) == title
