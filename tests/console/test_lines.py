"""Merging and bisecting on the page, on real Blender: two lines joined or refused with the cure, and the commit that broke a check."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import blendwright
from blendwright.console.guard import PAGE_KEY
from blendwright.policy.policy import Policy, Rules, Verdict
from blendwright.workspace.reading import read_journal
from console.test_acts_of_a_person import acts, until
from support.hosts.consoles import OpenConsole, Page, open_console
from support.plans.documents import box


def moved(id: str, name: str, x: float) -> dict[str, Any]:
    return box(id, tool_name="object.transform", args={"object": name, "location": [x, 0, 0]})


def gone(id: str, name: str) -> dict[str, Any]:
    return box(id, tool_name="object.delete", args={"object": name}, safety_level="destructive")


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """main: a, b, c; side: c deleted; clash and main both move Box a."""
    directory = tmp_path_factory.mktemp("lines") / "workspace"
    with blendwright.open(directory, spare=False) as scene:
        assert scene.run({"request_id": "made", "operations": [box("a"), box("b", "a"), box("c", "b")]}).ok
        scene.history.switch("side", create_at=4)
        approving = blendwright.RunOptions(approver=blendwright.Approver(None, frozenset({"destructive"})))
        assert scene.run({"request_id": "tidy", "operations": [gone("gone", "Box c")]}, approving).ok
        scene.history.switch("clash", create_at=4)
        assert scene.run({"request_id": "theirs", "operations": [moved("m", "Box a", 5)]}).ok
        scene.history.switch("main")
        assert scene.run({"request_id": "ours", "operations": [moved("m", "Box a", -5)]}).ok
    return directory


@pytest.fixture(scope="module")
def console(workspace: Path) -> Iterator[OpenConsole]:
    with open_console(workspace) as console:
        yield console


@pytest.fixture
def page(console: OpenConsole) -> Page:
    return console.session()


def standing(page: Page) -> tuple[str, int]:
    told = page.read()
    return next(one["name"] for one in told["branches"] if one["current"]), told["head"]


def test_a_conflict_is_told_with_its_cure_and_moves_nothing(page: Page, workspace: Path) -> None:
    before = standing(page)
    plan = page.read("/merge?source=clash")
    assert not plan["ok"] and plan["into"] == "HEAD" and plan["total"] == 1
    assert "Box a" in plan["findings"][0]["message"] and "Undo one of the two" in plan["findings"][0]["cure"]
    for into in ("main", "HEAD"):
        answer = page.act("/merge", source="clash", into=into)
        assert answer.status_code == 409 and "both touch it" in answer.json()["error"]["message"]
    other_way = page.act("/merge", source="main", into="clash")
    assert other_way.status_code == 409 and standing(page) == before
    assert acts(workspace, page) == []
    assert page.get("/merge?source=nothing").status_code in (404, 409)
    assert page.act("/merge", source="clash").status_code == 409


def test_two_lines_are_merged_and_the_person_is_behind_it(page: Page, workspace: Path) -> None:
    plan = page.read("/merge?source=side&into=clash")
    assert plan["ok"] and plan["kind"] == "merge"
    assert [(one["tool"], one["operation"]) for one in plan["taken"]] == [("object.delete", "gone")]
    merged = page.act("/merge", source="side", into="clash")
    assert merged.status_code == 200, merged.text
    assert merged.json() == {"ok": True, "kind": "merge", "head": merged.json()["head"], "taken": 1, "findings": []}
    assert standing(page) == ("clash", merged.json()["head"])
    # What the policy asks about was allowed by whoever pressed the button, once, and says so.
    assert acts(workspace, page) == ["history.switch", "object.delete", "history.merge"]
    assert page.act("/merge", source="side", into="clash").json()["kind"] == "up_to_date"
    assert page.read("/proof")["ok"]
    assert page.act("/branches", name="main").status_code == 200


def test_a_merge_that_comes_to_nothing_leaves_head_where_it_was(tmp_path: Path) -> None:
    policy = Policy(policy=Rules(tools={"history.merge": Verdict.DENY}))
    with blendwright.open(tmp_path / "held", policy=policy, spare=False) as scene:
        assert scene.run({"request_id": "made", "operations": [box("a")]}).ok
        scene.history.create_branch("side")
        scene.history.switch("other", create_at=2)
        assert scene.run({"request_id": "more", "operations": [box("b")]}).ok
        with open_console(tmp_path / "held", acting=lambda work: work(scene)) as console:
            page = console.session()
            before = standing(page)
            answer = page.act("/merge", source="other", into="side")
            assert answer.status_code == 409 and "history.merge" in answer.json()["error"]["message"]
            assert standing(page) == before == ("other", 3)


def test_the_commit_that_broke_a_check_is_found(page: Page, workspace: Path) -> None:
    assert page.read("/bisect") == {"state": "none"}
    head = standing(page)
    begun = page.act("/bisect", expect='scene.objects["Box a"].location[0] > -1', good="2")
    assert begun.status_code == 202 and begun.json()["state"] == "running", begun.text
    found = until(lambda: (told := page.read("/bisect"))["state"] != "running" and told)
    assert found["state"] == "found", found
    guilty = found["found"]["first_bad"]
    with read_journal(workspace) as journal:
        assert journal.show(guilty["number"]).request_id == "ours"
    assert {one["commit"] for one in found["looked"]} >= {guilty["number"]}
    assert [one["holds"] for one in found["looked"] if one["commit"] == guilty["number"]] == [False]
    assert acts(workspace, page) == ["history.bisect"] and standing(page) == head
    assert page.read("/proof")["ok"]


@pytest.mark.parametrize(
    ("expect", "says"), [("1 +", ""), ("True", "holds at commit"), ("False", "does not hold at commit 1 either")]
)
def test_a_check_that_leads_nowhere_is_refused_in_words(page: Page, expect: str, says: str) -> None:
    assert page.act("/bisect", expect=expect).status_code == 202
    found = until(lambda: (told := page.read("/bisect"))["state"] != "running" and told)
    assert found["state"] == "refused" and says in found["message"] and found["found"] is None


def test_a_search_is_stopped_and_only_one_runs(page: Page) -> None:
    assert page.act("/bisect", expect="audit.errors == -1").status_code == 202
    again = page.act("/bisect", expect="True")
    assert again.status_code == 409 and "already runs" in again.json()["error"]["message"]
    assert page.act("/bisect/stop").status_code == 200
    found = until(lambda: (told := page.read("/bisect"))["state"] != "running" and told)
    assert found["state"] in ("stopped", "refused") and found["found"] is None


def test_acts_on_lines_need_the_key_and_are_refused_read_only(workspace: Path, page: Page) -> None:
    for path in ("/merge", "/bisect", "/bisect/stop"):
        assert page.web.post(page.path + path, json={}, headers={PAGE_KEY: ""}).status_code == 401
    with open_console(workspace, read_only=True) as console:
        looking = console.session()
        for path in ("/merge", "/bisect"):
            assert looking.act(path, source="side", into="main", expect="True").status_code == 403
        assert looking.read("/merge?source=side&into=main")["kind"] == "merge"
