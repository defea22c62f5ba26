"""The history of a workspace, its audit chain and its replay, as a user types it.

Most commands run in this process, since starting Python costs more than they do; one test starts the program itself.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from contextlib import closing
from pathlib import Path

import pytest

import blendwright
from blendwright.cli.main import main
from blendwright.journal import Journal
from blendwright.records.recovery import NewIntent
from journal.ledger import raw
from support.plans.documents import box
from support.processes.shell import Ran, Shell

LIGHT = box("l", tool_name="light.create", args={"name": "Key", "type": "POINT"})
MOVE = box("m", "a", tool_name="object.transform", args={"name": "Box a", "location": [1, 2, 3]})
HASHES: dict[int, str] = {}


class Here(Shell):
    """Runs the program's `main` in this process."""

    def __init__(self, place: Path, patch: pytest.MonkeyPatch, captured: pytest.CaptureFixture[str]) -> None:
        super().__init__(place)
        patch.chdir(place)
        self._patch = patch
        self._captured = captured

    def __call__(self, *arguments: str, code: int, stdin: bytes = b"") -> Ran:
        self._patch.setattr(sys, "argv", ["blendwright", *arguments])
        self._captured.readouterr()
        with pytest.raises(SystemExit) as ended:
            main()
        printed = self._captured.readouterr()
        ran = Ran(int(ended.value.code or 0), printed.out, printed.err)
        assert ran.code == code, (arguments, ran)
        return ran


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace whose commits are: baseline, light and box, and the move of the box, which is HEAD."""
    place = tmp_path_factory.mktemp("history")
    (place / "plan.json").write_text(json.dumps({"request_id": "r", "operations": [box("a"), LIGHT, MOVE]}))
    document = Shell(place)("run", "plan.json", "--json", code=0).document
    for operation in document["report"]["operations"]:
        HASHES[operation["commit"]] = operation["scene_hash_after"]
    return place


@pytest.fixture
def shell(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Shell:
    """A copy for each test."""
    return Here(shutil.copytree(made, tmp_path / "copy"), monkeypatch, capfd)


def tampered(shell: Shell, *statements: str) -> None:
    with closing(raw(shell.place / ".blendwright")) as db:
        db.execute("PRAGMA foreign_keys = OFF")
        for statement in statements:
            db.execute(statement)


def test_reading_needs_neither_lock_nor_blender(shell: Shell) -> None:
    with blendwright.open(shell.place / ".blendwright", spare=False):
        page = shell("log", "--limit", "3", "--json", code=0).document
        assert [commit["number"] for commit in page["commits"]] == [4, 3, 2] and page["head"] == 4
        assert [commit["head"] for commit in page["commits"]] == [True, False, False]
        rest = shell("log", "--before", str(page["next_before"]), "--json", code=0).document
        assert [commit["kind"] for commit in rest["commits"]] == ["baseline"] and rest["next_before"] is None
        commit = shell("show", "HEAD", "--json", code=0).document["commit"]
        assert (commit["args"]["location"], commit["hash_after"]) == ([1, 2, 3], HASHES[4])
        assert commit["receipt"]["audit"]["sequence"] == commit["audit_sequence"]
        verified = shell("audit", "verify", "--json", code=0).document
        assert verified["ok"] and verified["head"]["sequence"] == verified["records"] == 4
        assert f"process {os.getpid()}" in shell("undo", "--json", code=3).document["error"]["message"]
        spoken = Shell(shell.place)("log", code=0).out
    assert spoken.splitlines()[0].startswith("HEAD  4") and "object.transform" in spoken
    assert "location" in shell("show", "4", code=0).out


def test_undo_and_redo_move_head_and_a_plan_from_elsewhere_is_a_conflict(shell: Shell) -> None:
    undone = shell("undo", "--count", "2", "--json", code=0).document
    assert (undone["from"], undone["head"], undone["scene_hash"]) == (4, 2, HASHES[2])
    document = shell("run", "plan.json", "--json", code=1).document
    assert document["result"]["error_code"] == "IDEMPOTENCY_CONFLICT"
    assert "`blendwright redo` leads to commit 4" in shell("log", code=0).out
    assert "HEAD is on main, at commit 4 (was 2)" in shell("redo", code=0).out
    assert "all hashes agree" in shell("replay", code=0).out
    moves = shell("log", "--moves", "--json", code=0).document["moves"]
    assert [(move["kind"], move["to_commit"]) for move in moves][:2] == [("redo", 4), ("undo", 2)]


def test_a_whole_plan_is_undone_at_once_and_nothing_of_the_one_before(shell: Shell) -> None:
    (shell.place / "more.json").write_text(
        json.dumps({"request_id": "s", "operations": [box(each) for each in "bcdef"]})
    )
    shell("run", "more.json", code=0)
    undone = shell("undo", "--plan", "--json", code=0).document
    assert (undone["from"], undone["head"], undone["scene_hash"]) == (9, 4, HASHES[4])
    assert shell("redo", "--json", code=0).document["head"] == 9
    shell("undo", "--plan", code=0)
    assert shell("undo", "--plan", "--json", code=0).document["head"] == 1
    assert "nothing to undo" in shell("undo", "--plan", "--json", code=2).document["error"]["message"]
    assert "--count goes without --plan" in shell("undo", "--plan", "--count", "2", code=2).err


def test_a_difference_is_told_property_by_property(shell: Shell) -> None:
    found = shell("diff", "3", "HEAD", "--json", code=0).document
    assert (found["equal"], found["created"], found["removed"], found["unseen"]) == (False, [], [], False)
    change = {"property": "transform.location", "old": [0, 0, 0], "new": [1, 2, 3]}
    assert found["changed"] == [{"kind": "objects", "name": "Box a", "properties": [change]}]
    assert (found["a"]["scene_hash"], found["b"]["scene_hash"]) == (HASHES[3], HASHES[4])


def test_an_exported_scene_is_the_same_scene_and_an_edited_one_is_adopted(shell: Shell) -> None:
    written = shell("export", "out/three.blend", "--at", "3", "--json", code=0).document
    assert (written["commit"], written["scene_hash"]) == (3, HASHES[3])
    seen = shell("snapshot", "--scene", "out/three.blend", "--json", code=0).document
    assert seen["fingerprint"] == HASHES[3]
    assert "exists already" in shell("export", "out/three.blend", "--json", code=2).document["error"]["message"]
    adopted = shell("adopt", "out/three.blend", "--json", code=0).document
    assert (adopted["adopted"], adopted["commit"], adopted["scene_hash"]) == (True, 5, HASHES[3])
    document = shell("run", "plan.json", "--json", code=1).document
    assert document["result"]["error_code"] == "IDEMPOTENCY_CONFLICT"
    freed = shell("gc", "--dry-run", "--json", code=0).document
    assert (freed["dry_run"], freed["files"], freed["kept"]) == (True, [], 1)
    assert sorted(path.name for path in (shell.place / "out").iterdir()) == ["three.blend"]


@pytest.mark.parametrize(
    ("statement", "named"),
    [
        ("UPDATE audit SET record = replace(record, 'succeeded', 'failed') WHERE sequence = 3", "record 3 was edited"),
        ("DELETE FROM audit WHERE sequence = 2", "record 2 is missing"),
        ("DELETE FROM audit WHERE sequence = 4", "record 4 is missing: the chain was cut off at its end"),
    ],
    ids=["edited", "removed", "truncated"],
)
def test_a_tampered_audit_chain_is_found_and_the_record_named(shell: Shell, statement: str, named: str) -> None:
    tampered(shell, statement)
    found = shell("audit", "verify", "--json", code=1).document
    assert found["ok"] is False and any(problem.startswith(named) for problem in found["problems"])


def test_a_record_that_a_receipt_names_is_held_against_the_chain(shell: Shell) -> None:
    found = shell("audit", "verify", "--known", "9:" + "0" * 64, code=1)
    assert "record 9 is missing: a receipt outside the journal names it" in found.out
    assert shell("audit", "verify", "--known", "nine", "--json", code=2).document["error"]["cure"]


def test_a_tampered_journal_is_caught_and_quarantined_until_it_is_recovered(shell: Shell) -> None:
    tampered(shell, "UPDATE commits SET args = replace(args, '[1.0,2.0,3.0]', '[1.0,2.0,4.0]') WHERE number = 4")
    found = shell("replay", "--json", code=1).document
    assert (found["ok"], found["agreed"], found["mismatch"]["commit"]) == (False, 3, 4)
    assert found["mismatch"]["expected"] == HASHES[4] != found["mismatch"]["found"]
    call = ["call", "object.create_empty", "--args", '{"name":"Next"}', "--json"]
    assert HASHES[4] in shell(*call, code=3).document["error"]["message"]
    refused = shell(*call, code=3).document["error"]
    assert "quarantine" in refused["message"] and "blendwright recover" in refused["cure"]
    told = shell("recover", "--json", code=0).document
    assert told["fit"] is False and told["quarantine"]["expected"] == HASHES[4] and 3 in told["places"]
    assert any("recover --to 3" in way for way in told["ways_out"])
    freed = shell("recover", "--to", "3", "--json", code=0).document
    assert (freed["fit"], freed["quarantine"], freed["head"]) == (True, None, 3)
    assert shell(*call, code=0).document["fingerprint_before"] == HASHES[3]


def test_the_newest_scene_is_adopted_out_of_a_quarantine(shell: Shell) -> None:
    assert shell("recover", "--adopt", "--json", code=2).document["error"]["cure"]  # nothing is wrong
    tampered(shell, "UPDATE commits SET args = replace(args, '[1.0,2.0,3.0]', '[1.0,2.0,4.0]') WHERE number = 4")
    call = ["call", "object.create_empty", "--args", '{"name":"Next"}', "--json"]
    shell(*call, code=3)
    told = shell("recover", "--json", code=0).document
    assert told["ways_out"][0].startswith("blendwright recover --adopt")
    assert (
        "exclude each other" in shell("recover", "--adopt", "--to", "3", "--json", code=2).document["error"]["message"]
    )
    freed = shell("recover", "--adopt", "--json", code=0).document
    assert (freed["fit"], freed["quarantine"], freed["head"]) == (True, None, 5)
    done = shell(*call, code=0).document
    assert done["fingerprint_before"] not in HASHES.values()
    assert "(1, 2, 4)" in shell("snapshot", "--find", "Box a", code=0).out


def test_an_effect_of_which_nobody_knows_is_settled_by_a_person(shell: Shell) -> None:
    with closing(Journal(shell.place / ".blendwright")) as journal:
        intent = journal.recovery.begin_intent(NewIntent("key", "r", "op", "file.export", "file.export writes x.stl"))
    spoken = shell("recover", code=0).out
    assert f"intent {intent} of operation 'op'" in spoken and f"recover --resolve {intent} --note" in spoken
    shell("recover", "--resolve", str(intent), "--json", code=2)
    settled = shell("recover", "--resolve", str(intent), "--note", "it is there", "--json", code=0).document
    assert settled["indeterminate"] == [] and settled["done"]
    again = shell("recover", "--resolve", str(intent), "--note", "it is there", "--json", code=2).document
    assert "no indeterminate intent" in again["error"]["message"]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ("show 99", 2),
        ("checkout nobody", 2),
        ("redo", 2),
        ("diff 1 99", 2),
        ("export out.glb", 2),
        ("adopt missing.blend", 2),
        ("log --workspace nowhere", 3),
        ("undo --workspace nowhere", 3),
        ("recover --workspace nowhere", 3),
    ],
)
def test_what_cannot_be_is_refused_with_a_cure_and_leaves_nothing(shell: Shell, arguments: str, code: int) -> None:
    error = shell(*arguments.split(), "--json", code=code).document["error"]
    assert error["message"] and error["cure"]
    assert sorted(path.name for path in shell.place.iterdir()) == [".blendwright", "plan.json"]


@pytest.mark.proves("OPS-AUDIT-01")
def test_audit_records_are_listed_with_filters_and_pages(shell: Shell) -> None:
    whole = shell("audit", "list", "--json", code=0).document
    assert whole["ok"] and whole["next_after"] is None
    assert [record["sequence"] for record in whole["records"]] == [1, 2, 3, 4]
    assert [record["operation_id"] for record in whole["records"][1:]] == ["a", "l", "m"]
    for record in whole["records"]:
        assert {"timestamp", "request_id", "mcp_call_id", "tool_name", "status", "scene_hash_before"} <= record.keys()
    first = shell("audit", "list", "--limit", "2", "--json", code=0).document
    assert first["records"] == whole["records"][:2] and first["next_after"] == 2
    rest = shell("audit", "list", "--after", "2", "--json", code=0).document
    assert first["records"] + rest["records"] == whole["records"]
    for filters, wanted in (
        (("--request", "r"), ["a", "l", "m"]),
        (("--request", "r", "--operation", "l"), ["l"]),
        (("--tool", "object.transform"), ["m"]),
        (("--status", "failed"), []),
        (("--request", "nobody"), []),
    ):
        listed = shell("audit", "list", *filters, "--json", code=0).document["records"]
        assert [record["operation_id"] for record in listed] == wanted
    text = shell("audit", "list", "--limit", "1", code=0)
    assert "--after 1" in text.out
    assert "succeeded" in shell("audit", "list", "--operation", "m", code=0).out
