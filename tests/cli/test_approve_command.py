"""What is asked about on the command line: refused where nobody sits, allowed by `approve`, and asked on a terminal."""

from __future__ import annotations

import json
import os
import pty
import subprocess
from pathlib import Path
from typing import Any

from plans import box
from shell import PROGRAM, Shell


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
    (given,) = shell("approve", waiting["id"], "--json", code=0).document["approvals"]
    assert given["state"] == "approved"
    done = shell("run", plan, "--json", code=0).document
    assert done["result"]["receipts"][0]["approval"] == waiting["id"]
    again = shell("approve", waiting["id"], "--json", code=2).document["error"]["message"]
    assert again == f"approval {waiting['id']} was used already"
    assert shell("approve", "--json", code=0).document["approvals"] == []
    assert shell("audit", "verify", "--json", code=0).document["ok"]


def test_what_cannot_be_approved_is_refused_before_blender_starts(shell: Shell) -> None:
    plan = write(shell.place, "made.json", box("a"))
    refused = shell("run", plan, "--approve", "destructif", "--blender", "/no/such", "--json", code=2).document
    assert refused["error"]["cure"] == "Did you mean 'destructive'?"
    assert "no approval xyz" in _fresh(shell)


def _fresh(shell: Shell) -> str:
    shell("approve", "xyz", "--json", code=3)
    shell("call", "object.create_empty", "--args", '{"name":"A"}', code=0)
    return shell("approve", "xyz", "--json", code=2).document["error"]["message"]


def at_a_terminal(place: Path, answers: str, *arguments: str) -> tuple[int, str]:
    """The program with a terminal as standard input and error; everything that it showed there."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [PROGRAM, *arguments], cwd=place, stdin=theirs, stderr=theirs, stdout=subprocess.PIPE, start_new_session=True
    )
    os.close(theirs)
    os.write(ours, answers.encode())
    shown = b""
    try:
        while part := os.read(ours, 4096):
            shown += part
    except OSError:
        pass  # how a terminal says that nobody is on the other side any more
    os.close(ours)
    out, _ = process.communicate(timeout=90)
    return process.returncode, shown.decode(errors="replace") + out.decode()


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
