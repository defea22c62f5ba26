"""What is asked about on the command line: refused where nobody sits, allowed by `approve`, and asked on a terminal."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from blendwright.workspace.reading import read_journal
from support.plans.documents import box
from support.processes.shell import Shell, at_a_terminal


def delete(id: str, *waits_for: str, name: str) -> dict[str, Any]:
    return box(id, *waits_for, tool_name="object.delete", args={"name": name}, safety_level="destructive")


def write(place: Path, name: str, *listed: dict[str, Any]) -> str:
    (place / name).write_text(json.dumps({"request_id": name, "operations": list(listed)}))
    return name


def test_a_plan_is_refused_allowed_elsewhere_and_run_again(shell: Shell) -> None:
    shell("run", write(shell.place, "made.json", box("a"), box("b")), code=0)
    plan = write(shell.place, "gone.json", delete("d", name="Box a"))
    refused = shell("run", plan, "--json", code=2).document
    assert refused["report"]["status"] == "refused" and refused["result"]["error_code"] == "POLICY_BLOCKED"
    assert "blendwright approve" in refused["result"]["retry_hint"]
    (waiting,) = shell("approve", "--json", code=0).document["approvals"]
    assert (waiting["operation_id"], waiting["state"]) == ("d", "pending")
    assert waiting["id"] in refused["result"]["retry_hint"]
    assert waiting["id"] in shell("approve", code=0).out
    unasked = shell("approve", waiting["id"], "--json", code=2).document["error"]
    assert "no terminal" in unasked["message"] and "--yes" in unasked["cure"]
    (given,) = shell("approve", waiting["id"], "--yes", "--json", code=0).document["approvals"]
    assert given["state"] == "approved"
    done = shell("run", plan, "--json", code=0).document
    assert done["result"]["receipts"][0]["approval"] == waiting["id"]
    again = shell("approve", waiting["id"], "--yes", "--json", code=2).document["error"]["message"]
    assert again == f"approval {waiting['id']} was already used"
    assert shell("approve", "--json", code=0).document["approvals"] == []
    shell("run", write(shell.place, "too.json", delete("d", name="Box b")), code=2)
    (waiting,) = shell("approve", "--json", code=0).document["approvals"]
    assert (
        shell("approve", "--decline", waiting["id"], "--json", code=0).document["approvals"][0]["state"] == "declined"
    )
    with read_journal(shell.place / ".blendwright") as journal:
        last = journal.audit.records()[-1].record
    said = [last[f"approval_{name}"] for name in ("id", "answer", "by")]
    assert said == [waiting["id"], "declined", "blendwright approve"]
    assert shell("audit", "verify", "--json", code=0).document["ok"]


def test_what_cannot_be_approved_is_refused_before_blender_starts(shell: Shell) -> None:
    plan = write(shell.place, "made.json", box("a"))
    refused = shell("run", plan, "--approve", "destructif", "--blender", "/no/such", "--json", code=2).document
    assert refused["details"]["findings"][0]["cure"] == "Did you mean 'destructive'?"
    assert "no approval xyz" in _fresh(shell)


def _fresh(shell: Shell) -> str:
    shell("approve", "xyz", "--json", code=3)
    shell("call", "object.create_empty", "--args", '{"name":"A"}', code=0)
    return shell("approve", "xyz", "--json", code=2).document["error"]["message"]


def test_on_a_terminal_a_person_is_asked_and_a_no_is_a_no(shell: Shell) -> None:
    shell("run", write(shell.place, "made.json", box("a"), box("b"), box("c")), code=0)
    plan = write(shell.place, "no.json", delete("d", name="Box a"), box("e"))
    code, shown = at_a_terminal(shell.place, "n\n", "run", plan)
    assert code == 2, shown
    assert "Allow it?" in shown and "policy.levels.destructive = ask" in shown and "refused" in shown
    three = [delete(f"d{at}", name=f"Box {name}") for at, name in enumerate("abc")]
    code, shown = at_a_terminal(shell.place, "y\na\n", "run", write(shell.place, "yes.json", *three))
    assert code == 0, shown
    assert shown.count("Allow it?") == 2, "all means all"


def waiting(shell: Shell, plan: str) -> dict[str, Any]:
    shell("run", plan, code=2)
    (found,) = shell("approve", "--json", code=0).document["approvals"]
    return found


def test_an_approval_is_shown_whole_and_asked_about_before_it_is_given(shell: Shell) -> None:
    shell("run", write(shell.place, "made.json", box("a")), code=0)
    plan = write(shell.place, "gone.json", delete("d", name="Box a"))
    id = waiting(shell, plan)["id"]
    for answer in ("n\n", "\n"):
        code, shown = at_a_terminal(shell.place, answer, "approve", id)
        assert code == 2 and "Box a" in shown and "Allow it? [y/N]" in shown and "policy.levels.destructive" in shown
        assert waiting(shell, plan)["state"] == "pending", "no yes is no answer"
    code, shown = at_a_terminal(shell.place, "y\n", "approve", id)
    assert code == 0 and "Box a" in shown, shown
    assert shell("approve", "--json", code=0).document["approvals"] == []
    shell("run", plan, code=0)


def test_code_is_allowed_by_nobody_but_a_person_at_a_terminal_who_sees_it(shell: Shell) -> None:
    (shell.place / ".blendwright").mkdir()
    (shell.place / ".blendwright" / "blendwright.toml").write_text('[policy]\ntrusted_python = "ask"\n')
    code = "import bpy\n" + "# " + "x" * 300 + "\nbpy.context.scene.frame_start = 7"
    call = ("call", "python.run", "--args", json.dumps({"code": code, "mode": "trusted"}))
    shell(*call, code=2)
    (found,) = shell("approve", "--json", code=0).document["approvals"]
    assert found["in_person"]
    for options in ((), ("--yes",)):
        refused = shell("approve", found["id"], *options, "--json", code=2).document["error"]
        assert "must see and approve" in refused["message"] and "terminal" in refused["cure"]
    status, shown = at_a_terminal(shell.place, "n\n", "approve", found["id"], "--yes")
    assert status == 2 and "bpy.context.scene.frame_start = 7" in shown, "asked all the same"
    shell("approve", found["id"], "--decline", code=0)
    shell(*call, code=2)


def test_every_path_of_what_waits_is_shown_whole_outputs_first(shell: Shell) -> None:
    (shell.place / ("m" * 200 + ".txt")).write_text("x")
    source, target = shell.place / ("m" * 200 + ".txt"), shell.place / "thesis.blend"
    target.write_bytes(b"precious")
    args = {"code": "pass", "files": {"in": [str(source)], "out": [str(target)]}, "overwrite": True}
    shell("call", "python.run", "--args", json.dumps(args), code=2)
    (waiting,) = shell("approve", "--json", code=0).document["approvals"]
    assert waiting["what"].split("\n")[1:3] == [f'writes "{target}"', f'reads "{source}"']
    listed = shell("approve", code=0).out.replace("\n", "")
    assert listed.index(f'writes "{target}"') < listed.index(f'reads "{source}"')


def test_a_refusal_says_why_a_program_file_is_asked_about(shell: Shell) -> None:
    args = {"code": "pass", "files": {"out": ["venv.pth"]}}
    ran = shell("call", "python.run", "--args", json.dumps(args), code=2)
    assert "is a kind of file that programs may execute" in " ".join((ran.out + ran.err).split())
