"""What a person does on the page, on real Blender: each act under the policy, and in the audit with the session."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import blendwright
from blendwright.policy.policy import Policy, Rules, Verdict
from blendwright.proofs.bundles import verify_bundle
from blendwright.proofs.signing_keys import signing_key
from blendwright.workspace.reading import read_journal
from support.hosts.consoles import OpenConsole, Page, open_console
from support.plans.documents import box


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("acts") / "workspace"
    with blendwright.open(directory, spare=False) as scene:
        assert scene.run({"request_id": "made", "operations": [box("a"), box("b", "a"), box("c", "b")]}).ok
    return directory


@pytest.fixture(scope="module")
def console(workspace: Path) -> Iterator[OpenConsole]:
    with open_console(workspace) as console:
        yield console


@pytest.fixture
def page(console: OpenConsole) -> Page:
    return console.session()


def until(read: Callable[[], Any]) -> Any:
    """What is read as soon as it is something; a promise that it is within a minute."""
    end = time.monotonic() + 60
    while not (found := read()):
        assert time.monotonic() < end
        time.sleep(0.05)
    return found


def acts(workspace: Path, page: Page) -> list[str]:
    by = f"console {page.told['session']}"
    with read_journal(workspace) as journal:
        return [one.record["tool_name"] for one in journal.audit.records() if one.record.get("approval_by") == by]


def test_moves_tags_and_branches_are_in_the_audit_with_the_session(page: Page, workspace: Path) -> None:
    start = page.read()["head"]
    assert page.act("/move", kind="undo").json()["head"] == start - 1
    assert page.read()["redo"] == start
    assert page.act("/move", kind="redo").json()["head"] == start
    assert page.act("/move", kind="checkout", to=2).json()["head"] == 2
    assert page.act("/tags", name="first-box", number=2).status_code == 200
    assert page.act("/branches", name="try-out", create_at=3).json()["head"] == 3
    assert page.act("/branches", name="main").json()["head"] == start
    told = page.read()
    assert told["tags"] == {"first-box": 2}
    assert {one["name"] for one in told["branches"]} == {"main", "try-out"}
    done = ["history.undo", "history.redo", "history.checkout", "history.tag", "history.switch", "history.switch"]
    assert acts(workspace, page) == done
    proof = page.read("/proof")
    assert proof["ok"], proof["problems"]
    assert proof["last"][0]["approval_by"] == f"console {page.told['session']}"


@pytest.mark.parametrize("name", ["", "HEAD", "12", "a\u202eb", "x" * 1001])
def test_a_name_that_could_be_taken_for_something_else_is_refused(page: Page, name: str) -> None:
    answer = page.act("/tags", name=name, number=1)
    assert answer.status_code == 409
    assert answer.json()["error"]["message"]


@pytest.mark.parametrize("name", ["../elsewhere", "/tmp/elsewhere", "..", "a/b"])
def test_a_fork_does_not_leave_the_place_of_its_workspace(page: Page, workspace: Path, name: str) -> None:
    before = sorted(workspace.parent.iterdir())
    assert page.act("/forks", name=name, number=2).status_code == 409
    assert sorted(workspace.parent.iterdir()) == before


def test_a_fork_is_shown_at_once(page: Page, workspace: Path) -> None:
    answer = page.act("/forks", name="forked", number=2)
    assert answer.status_code == 200, answer.text
    made = answer.json()["workspace"]
    assert Path(made["directory"]) == workspace.parent / "forked"
    told = page.web.get("/api/session").json()["workspaces"]
    assert [one["name"] for one in told] == ["workspace", "forked"]
    assert page.web.get(f"/api/workspaces/{made['id']}/commits").json()["total"] == 1


def test_the_policy_holds_for_the_page(tmp_path: Path) -> None:
    policy = Policy(policy=Rules(tools={"history.checkout": Verdict.DENY}))
    with blendwright.open(tmp_path / "held", policy=policy, spare=False) as scene:
        assert scene.run({"request_id": "made", "operations": [box("a")]}).ok
        with open_console(tmp_path / "held", acting=lambda work: work(scene)) as console:
            page = console.session()
            answer = page.act("/move", kind="undo")
            assert answer.status_code == 409
            assert page.read()["head"] == 2


def destroying(id: str, name: str) -> dict[str, Any]:
    delete = box("gone", tool_name="object.delete", args={"object": name}, safety_level="destructive")
    return {"request_id": id, "operations": [delete]}


def test_an_answer_is_for_what_was_seen_and_counts_once(page: Page, workspace: Path) -> None:
    with blendwright.open(workspace, spare=False) as scene:
        assert not scene.run(destroying("tidy", "Box c")).ok
        [asked] = page.read("/approvals")["approvals"]
        assert asked["tool"] == "object.delete"
        assert "Box c" in asked["what"]
        path = f"/approvals/{asked['id']}"
        wrong = page.act(path, answer="approve", operation_hash="0" * 64)
        assert wrong.status_code == 409
        assert page.read("/approvals")["approvals"], "a yes to something else is no answer"
        given = page.act(path, answer="approve", operation_hash=asked["operation_hash"])
        assert given.json()["state"] == "approved"
        again = page.act(path, answer="approve", operation_hash=asked["operation_hash"])
        assert again.status_code == 409
        assert "already approved" in again.json()["error"]["message"]
        assert scene.run(destroying("tidy", "Box c")).ok
        assert acts(workspace, page) == ["object.delete"]
        scene.history.undo()
        assert not scene.run(destroying("tidy again", "Box c")).ok, "it was good once"
        [asked] = page.read("/approvals")["approvals"]
        said = page.act(f"/approvals/{asked['id']}", answer="decline", operation_hash=asked["operation_hash"])
        assert said.json()["state"] == "declined"
        assert acts(workspace, page) == ["object.delete", "object.delete"]
        last = page.read("/proof")["last"][0]
        assert (last["approval_answer"], last["status"]) == ("declined", "failed")
        assert page.read("/proof")["ok"]
        assert page.read("/approvals")["approvals"] == []


def test_a_preview_shows_what_waits_for_an_answer(page: Page, workspace: Path) -> None:
    with blendwright.open(workspace, spare=False) as scene:
        assert not scene.run(destroying("look first", "Box b")).ok
    [asked] = page.read("/approvals")["approvals"]
    # Another plan of the same name asks later, about something harmless.
    with blendwright.open(workspace, spare=False) as scene:
        assert not scene.run(destroying("look first", "Box a")).ok
    other = next(one for one in page.read("/approvals")["approvals"] if one["id"] != asked["id"])
    for question, name in ((asked, "Box b"), (other, "Box a")):
        seen = page.read(f"/approvals/{question['id']}/preview")
        assert seen["available"]
        assert [one["name"] for one in seen["removed"] if one["name"].startswith("Box")] == [name]
    page.act(f"/approvals/{other['id']}", answer="decline", operation_hash=other["operation_hash"])
    page.act(f"/approvals/{asked['id']}", answer="decline", operation_hash=asked["operation_hash"])


def test_a_plan_runs_again_with_its_repair(page: Page, workspace: Path) -> None:
    wrong = box("d", args={"kind": "cub", "name": "Box d"})
    plan = {"request_id": "to repair", "operations": [box("e"), wrong]}
    with blendwright.open(workspace, spare=False) as scene:
        from blendwright.dialects.registry import parse_plan

        assert scene.run(parse_plan(plan)).status == "refused"
    run = page.read("/runs")["runs"][0]
    assert (run["request"], run["state"], run["repairable"]) == ("to repair", "refused", True)
    details = page.read(f"/runs/{run['id']}")
    assert details["repair"] == [{"operation_id": "d", "action": "replace_args"}]
    [finding] = next(one for one in details["operations"] if one["id"] == "d")["findings"]
    assert finding["pointer"] == "/operations/1/args/kind"
    assert page.act(f"/runs/{run['id']}/again", changes={"x": {}}).status_code == 409
    changed = {"d": {"kind": "cube", "name": "Box d"}}
    assert page.act(f"/runs/{run['id']}/again", changes=changed).status_code == 202
    ended = until(
        lambda: [
            one for one in page.read("/runs")["runs"] if one["state"] == "succeeded" and one["request"] == "to repair"
        ]
    )
    assert ended[0]["counts"] == {"succeeded": 2}
    assert "plan.run_again" in acts(workspace, page)


def test_the_scene_of_a_commit_can_be_looked_at(page: Page) -> None:
    found = page.read("/scenes/2/objects")
    [made] = [one for one in found["objects"] if one["name"] == "Box a"]
    assert made["blame"]["first"]["tool"] == "mesh.create_primitive"
    glb = page.get("/scenes/2/glb?download=1")
    assert glb.content[:4] == b"glTF"
    assert glb.headers["content-disposition"] == 'attachment; filename="workspace-2.glb"'
    assert page.get("/scenes/1/glb").status_code == 204
    assert page.get("/scenes/2/blend").content
    audited = page.read("/scenes/2/audit")
    assert (audited["number"], audited["objects"]) == (2, 1)
    differing = page.read("/compare/2/3")
    assert [one["name"] for one in differing["created"] if one["kind"] == "objects"] == ["Box b"]
    first = page.get("/pictures/2")
    assert first.status_code == 202
    shown = until(lambda: (answer := page.get("/pictures/2")).status_code == 200 and answer)
    assert shown.headers["content-type"] == "image/webp"
    assert page.get("/scenes/77/glb").status_code == 404


def test_a_bundle_holds_the_acts_too_and_is_checked_elsewhere(page: Page, tmp_path: Path) -> None:
    refused = page.get("/proof/bundle")
    assert refused.status_code == 404
    assert "key" in refused.json()["error"]["message"]
    signing_key(create=True)
    assert page.act("/move", kind="undo").status_code == 200
    assert page.act("/move", kind="redo").status_code == 200
    (tmp_path / "bundle").write_bytes(page.get("/proof/bundle").content)
    report = verify_bundle(tmp_path / "bundle")
    assert report.ok, report.problems
    assert report.records == page.read()["audit"]["sequence"]


def test_a_commit_that_is_not_there_is_not_there(page: Page) -> None:
    for path in ("/commits/99", "/commits/-1", "/commits/x", "/runs/../../etc"):
        assert page.get(path).status_code in (404, 409)
    assert page.web.get("/api/workspaces/nothing/commits").status_code == 404


def test_the_page_gets_every_path_whole_outputs_first(page: Page, workspace: Path) -> None:
    files = {"in": [], "out": [str(workspace.parent / ("m" * 200 + ".png")), str(workspace.parent / "thesis.py")]}
    policy = Policy(policy=Rules(roots={str(workspace.parent): Verdict.ALLOW}))
    with blendwright.open(workspace, spare=False, policy=policy) as scene:
        assert not scene.outcome("python.run", {"code": "pass", "files": files}).ok
    [asked] = page.read("/approvals")["approvals"]
    assert asked["what"].split("\n")[1:3] == [f'writes "{path}"' for path in files["out"]]
    assert any(f"{files['out'][1]} is a kind of file that programs may execute" in reason for reason in asked["why"])
    page.act(f"/approvals/{asked['id']}", answer="decline", operation_hash=asked["operation_hash"])
