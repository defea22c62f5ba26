"""Branches, tags, forks, blame, bisect, merge and proofs, as a user types them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from support.plans.documents import box
from support.processes.shell import Shell

MOVE = box("m", "a", tool_name="object.transform", args={"object": "Box a", "location": [1, 2, 3]})
RENAME = box("n", "m", tool_name="object.rename", args={"object": "Box a", "new_name": "Crate"})


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Shell:
    """Commits: baseline, a box that is moved and renamed; a lamp on a branch of its own; HEAD is on main."""
    place = tmp_path_factory.mktemp("branches")
    (place / "plan.json").write_text(json.dumps({"request_id": "first", "operations": [box("a"), MOVE, RENAME]}))
    shell = Shell(place)
    shell("run", "plan.json", "--json", code=0)
    shell("switch", "--create", "lit", code=0)
    call(shell, "light.create", name="Lamp", type="POINT", location=[0, 0, 4])
    shell("switch", "main", code=0)
    return shell


def call(shell: Shell, tool: str, **args: Any) -> None:
    shell("call", tool, "--args", json.dumps(args), "--json", code=0)


def test_branches_are_listed_begun_switched_and_deleted(shell: Shell) -> None:
    document = shell("branch", "--json", code=0).document
    assert document["current"] == "main" and document["head"] == 4
    assert document["branches"] == [
        {"name": "lit", "commit": 5, "current": False}, {"name": "main", "commit": 4, "current": True},
    ]  # fmt: skip
    assert "Crate" in shell("snapshot", "--json", code=0).out and "Lamp" not in shell("snapshot", "--json", code=0).out
    assert shell("branch", "early", "2", code=0).out == "early is at commit 2\n"
    moved = shell("switch", "early", "--json", code=0).document
    assert (moved["branch"], moved["head"]) == ("early", 2)
    assert "HEAD is on no branch, at commit 3" in shell("checkout", "3", code=0).out
    assert "on no branch" in shell("branch", code=0).out
    assert "led to commit 2" in shell("branch", "--delete", "early", code=0).out
    shell("checkout", "main", code=0)
    assert "main" in shell("log", code=0).out


def test_what_cannot_be_a_branch_is_refused_with_a_cure(shell: Shell) -> None:
    for name in ("12", "HEAD", "head", "-x", "a b", "", "../up", "x" * 101, "\u202eabc"):
        refused = shell("branch", "--json", "--", name, code=2).document["error"]
        assert "cannot name a branch" in refused["message"] and refused["cure"]
    assert "already" in shell("branch", "lit", "--json", code=2).document["error"]["message"]
    assert "HEAD is on" in shell("branch", "--delete", "main", "--json", code=2).document["error"]["message"]
    assert "no branch none" in shell("switch", "none", "--json", code=2).document["error"]["message"]
    assert "no branch none" in shell("branch", "--delete", "none", "--json", code=2).document["error"]["message"]
    shell("switch", "lit", "--at", "2", "--json", code=2)
    shell("branch", "--delete", "--json", code=2)
    assert shell("branch", "--json", code=0).document["current"] == "main"


def test_tags_name_commits_for_good(shell: Shell) -> None:
    assert shell("tag", "good", "3", code=0).out == "good is commit 3\n"
    assert shell("tag", "--json", code=0).document["tags"] == [{"name": "good", "commit": 3}]
    assert shell("show", "good", "--json", code=0).document["commit"]["number"] == 3
    assert "a branch lit" in shell("tag", "lit", "--json", code=2).document["error"]["message"]
    shell("tag", "--delete", "good", code=0)
    assert "no tag good" in shell("tag", "--delete", "good", "--json", code=2).document["error"]["message"]


def test_blame_follows_names_and_says_who(shell: Shell) -> None:
    document = shell("blame", "Crate", "--json", code=0).document
    told = [(entry["commit"], entry["change"], entry["name"], entry["request_id"]) for entry in document["entries"]]
    assert told == [
        (4, "renamed", "Crate", "first"),
        (3, "changed", "Box a", "first"),
        (2, "created", "Box a", "first"),
    ]
    assert {entry["who"]["by"] for entry in document["entries"]} == {"person"}
    moved = shell("blame", "Crate", "--property", "location.2", "--json", code=0).document["entries"]
    assert [(entry["commit"], entry["value"]) for entry in moved] == [(3, 3.0), (2, 0.0)]
    everything = shell("blame", "--at", "lit", "--json", code=0).document
    assert [line["name"] for line in everything["lines"]] == ["Crate", "Lamp"]
    assert "renamed" in shell("blame", "Crate", code=0).out
    assert "touched 'Nobody'" in shell("blame", "Nobody", "--json", code=2).document["error"]["message"]
    assert "never had" in shell("blame", "Crate", "--property", "wings", "--json", code=2).document["error"]["message"]


def test_bisect_finds_the_commit_and_leaves_the_workspace(shell: Shell) -> None:
    before = shell("log", "--moves", "--json", code=0).out
    found = shell("bisect", "--expect", '"Box a" in scene.objects', "--good", "2", "--json", code=0).document
    assert (found["first_bad"]["number"], found["last_good"]["number"]) == (4, 3)
    for check, said in (
        ("nobody > 2", "not an expression"),
        ("1 +", "not an expression"),
        ("True", "no commit broke it"),
        ("False", "either"),
    ):
        assert said in shell("bisect", "--expect", check, "--json", code=2).document["error"]["message"]
    assert shell("log", "--moves", "--json", code=0).out == before


def test_a_fork_is_a_workspace_of_its_own(shell: Shell) -> None:
    document = shell("fork", "lit", "forked", "--json", code=0).document
    assert document["origin"]["commit"] == 5
    assert "Lamp" in shell("snapshot", "--workspace", "forked", "--json", code=0).out
    shell("fork", "lit", "forked", "--json", code=2)


def test_a_merge_is_planned_done_and_refused(shell: Shell) -> None:
    planned = shell("merge", "lit", "--dry-run", "--json", code=0).document
    assert planned["kind"] == "fast_forward" and planned["taken"] == [5]
    shell("switch", "--create", "mine", code=0)
    call(shell, "object.transform", object="Crate", location=[7, 0, 0])
    merged = shell("merge", "lit", "--json", code=0).document
    assert merged["kind"] == "merge" and [pair["from"] for pair in merged["taken"]] == [5]
    record = shell("audit", "list", "--request", merged["request_id"], "--json", code=0).document["records"]
    assert [(one["operation_id"], one["tool_name"]) for one in record] == [("5", "light.create")]
    assert shell("merge", "lit", "--json", code=0).document["kind"] == "up_to_date"
    shell("switch", "lit", code=0)
    call(shell, "object.transform", object="Crate", location=[0, 8, 0])
    call(shell, "light.set", object="Lamp", energy=5)
    head = shell("switch", "mine", "--json", code=0).document["head"]
    error = shell("merge", "lit", "--json", code=2).document["error"]
    assert "'Crate' (objects)" in error["message"] and "object.transform" in error["message"]
    conflict = shell("merge", "lit", "--dry-run", "--json", code=2).document["conflicts"][0]
    assert (conflict["name"], conflict["theirs"]["tool"]) == ("Crate", "object.transform")
    assert shell("branch", "--json", code=0).document["head"] == head
    shell("switch", "main", code=0)


def test_a_proof_is_made_and_checked_elsewhere(shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    proof = str(tmp_path / "proof.jsonl")
    assert "audit key" in shell("audit", "bundle", proof, "--json", code=2).document["error"]["cure"]
    key = shell("audit", "key", "--json", code=0).document
    assert shell("audit", "bundle", proof, "--json", code=0).document["fingerprint"] == key["fingerprint"]
    elsewhere = Shell(tmp_path)
    report = elsewhere("audit", "verify", "proof.jsonl", "--key", key["fingerprint"], "--json", code=0).document
    assert report["ok"] and report["trusted"] and report["problems"] == []
    assert "name it with --key" in elsewhere("audit", "verify", "proof.jsonl", code=0).out
    elsewhere("audit", "verify", "proof.jsonl", "--key", "0" * 64, "--json", code=1)
    text = Path(proof).read_text()
    Path(proof).write_text(text.replace("object.transform", "object.rename...", 1))
    assert not elsewhere("audit", "verify", "proof.jsonl", "--json", code=1).document["ok"]
    elsewhere("audit", "verify", "nothing.jsonl", "--json", code=3)
    elsewhere("audit", "verify", "proof.jsonl", "--known", f"1:{'0' * 64}", "--json", code=2)
