"""Arguments that the policy redacts: in no log line and on no screen, and in the journal all the same."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from blendwright.planner.commands import plan_tree
from blendwright.policy.redaction import redacted_message
from blendwright.tool_api.arguments import RENAMED, former_names
from blendwright.tools import catalog
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding
from blendwright.workspace.reading import read_journal
from support.plans.documents import box, of_operations
from support.processes.shell import Shell

SECRET = "hunter2-hunter2"


def test_redacted_arguments_are_neither_logged_nor_shown_and_can_be_redone(shell: Shell) -> None:
    place = shell.place / ".blendwright"
    place.mkdir()
    (place / "blendwright.toml").write_text('[audit]\nredact = ["body"]\n')
    shell("call", "text.create", "--args", json.dumps({"name": "T", "body": SECRET}), code=0)
    refused = shell("call", "text.create", "--args", json.dumps({"name": "U", "body": [SECRET]}), code=2)
    assert SECRET in refused.out, "who gave it may see it"
    broken = box("a", tool_name="text.create", args={"name": "U", "body": [SECRET]})
    document = json.dumps({"request_id": "r", "operations": [broken]}).encode()
    shell("run", "-", code=2, stdin=document)

    lines = (place / "logs" / "core.jsonl").read_text()
    assert SECRET not in lines and "/body: …" in lines and "/operations/0/args/body: …" in lines
    assert shell("show", "HEAD", "--json", code=0).document["commit"]["args"]["body"] == "…"
    assert SECRET not in shell("show", "HEAD", code=0).out
    with read_journal(place) as journal:
        assert journal.head is not None and journal.head.args["body"] == SECRET
    assert shell("replay", "--json", code=0).document["ok"]


def test_a_value_is_hidden_whichever_of_its_names_a_plan_uses(shell: Shell) -> None:
    place = shell.place / ".blendwright"
    place.mkdir()
    (place / "blendwright.toml").write_text('[audit]\nredact = ["object"]\n')
    made = box("a", tool_name="object.create_empty", args={"name": SECRET})
    moved = box("b", "a", tool_name="object.transform", args={"name": SECRET, "location": [1, 2, 3]})
    plan = {"request_id": "r", "operations": [made, moved]}
    shell("run", "-", code=0, stdin=json.dumps(plan).encode())
    for word in ("object", "name"):
        wrong = box("a", tool_name="object.transform", args={word: [SECRET], "location": [1, 2, 3]})
        shell("run", "-", code=2, stdin=json.dumps({"request_id": word, "operations": [wrong]}).encode())
        tree = plan_tree(of_operations(wrong), "plan", ("object",))
        assert SECRET not in str(tree.children[0].label)
    shell("call", "object.transform", "--args", json.dumps({"name": f"{SECRET}-lost", "location": [1, 2, 3]}), code=1)
    lines = (place / "logs" / "core.jsonl").read_text()
    assert SECRET not in lines and "/operations/0/args/object: …" in lines and "/operations/0/args/name: …" in lines
    assert SECRET not in json.dumps(shell("show", "HEAD", "--json", code=0).document["commit"])


@pytest.mark.parametrize("hidden", ["name", "object"])
def test_former_names_are_known_also_where_no_tool_is_loaded(hidden: str) -> None:
    script = (
        f"from blendwright.policy.redaction import redacted\nprint(redacted(dict(object='x', name='y'), ['{hidden}']))"
    )
    shown = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert shown.strip() == "{'object': '…', 'name': '…'}"


def test_every_former_name_is_one_that_a_tool_has() -> None:
    found = {(word, name) for tool in catalog.tools().values() for word, name in former_names(tool.args_model).items()}
    assert found == {(word, name) for word, names in RENAMED.items() for name in names}


def test_a_receipt_does_not_tell_what_its_arguments_hide(shell: Shell) -> None:
    place = shell.place / ".blendwright"
    place.mkdir()
    (place / "blendwright.toml").write_text('[audit]\nredact = ["path"]\n')
    shell("call", "object.create_empty", "--args", '{"name": "E"}', code=0)
    shell("call", "file.export", "--args", json.dumps({"path": f"{SECRET}.blend"}), code=0)
    commit = shell("show", "HEAD", "--json", code=0).document["commit"]
    assert (commit["args"]["path"], commit["receipt"]["result"]["path"]) == ("…", "…")
    assert commit["receipt"]["result"]["objects"] == 1 and SECRET not in json.dumps(commit)
    assert SECRET not in shell("show", "HEAD", code=0).out


def test_a_message_keeps_what_is_not_about_a_redacted_argument() -> None:
    about = [Finding(Fault.ARGS_INVALID, "5 is odd", "/size"), Finding(Fault.ARGS_INVALID, "7 is no key", "/a/Token/0")]
    message = "5 is odd; 7 is no key"
    assert redacted_message(message, about, ("token",)) == "5 is odd; /a/Token/0: …"
    assert redacted_message(message, about, ("password",)) == message
    assert redacted_message("said otherwise", about[:1], ("token",)) == "said otherwise"


def test_the_tree_of_a_plan_hides_them_too() -> None:
    tree = plan_tree(of_operations(box("a", args={"name": "x", "token": SECRET})), "plan", ("token",))
    label = str(tree.children[0].label)
    assert SECRET not in label and "token: " in label
