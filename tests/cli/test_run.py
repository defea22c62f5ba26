"""blendwright run, as a user types it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time
from typing import Any

import pytest

import blendwright
from support.plans.documents import box, geonodes_plan, step, tree_step
from support.processes.shell import PROGRAM, Shell


def write(shell: Shell, name: str, document: Any) -> str:
    (shell.place / name).write_text(json.dumps(document))
    return name


@pytest.mark.real_starts
def test_a_plan_runs_once_and_is_known_the_second_time(shell: Shell) -> None:
    plan = write(shell, "plan.json", {"request_id": "cli", "operations": [box("a"), box("b", "a")]})
    first = shell("run", plan, "--export", "out.blend", "--image", "out.png", "--json", code=0)
    document = first.document
    assert list(document) == ["dialect", "ok", "result", "report"]
    assert (document["dialect"], document["ok"], document["result"]["status"]) == ("operations", True, "succeeded")
    assert [receipt["operation_id"] for receipt in document["result"]["receipts"]] == ["a", "b"]
    assert (shell.place / "out.blend").stat().st_size and (shell.place / "out.png").stat().st_size
    assert "out.blend" in first.err and "out.png" in first.err
    spoken = shell("run", plan, code=0).out
    assert spoken.count("skipped_idempotent") == 2 and "succeeded 2 of 2 operations" in spoken
    other = write(
        shell, "other.json", {"request_id": "cli", "operations": [box("a", args={"kind": "torus", "name": "T"})]}
    )
    conflict = shell("run", other, "--json", code=1).document
    assert conflict["result"]["error_code"] == "IDEMPOTENCY_CONFLICT"


def test_a_failing_plan_exits_with_one_and_says_how_to_repair_it(shell: Shell) -> None:
    delete = box("b", tool_name="object.delete", args={"name": "Nobody"}, safety_level="destructive")
    plan = write(shell, "plan.json", {"request_id": "cli", "operations": [box("a"), delete, box("c", "b")]})
    document = shell("run", plan, "--boundary", "plan", "--approve", "destructive", "--json", code=1).document
    assert (document["ok"], document["report"]["status"]) == (False, "rolled_back")
    assert document["result"]["error_code"] == "TARGET_NOT_FOUND"
    spoken = shell("run", plan, "--approve", "destructive", code=1).out
    assert "TARGET_NOT_FOUND" in spoken and "repair" in spoken and "failed 1 of 3 operations, 1 not run" in spoken
    assert not any(line.startswith("c ") for line in spoken.splitlines())


def test_a_steps_plan_prints_its_result_list(shell: Shell) -> None:
    text = json.dumps({"steps": [step("a"), step("b", "a")]}).encode()
    document = shell("run", "-", "--request-id", "mine", "--json", code=0, stdin=text).document
    assert document["result"][-1]["task_status"] == "COMPLETED"
    assert document["report"]["request_id"] == "mine"


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ({"request_id": "x", "operations": [box("a", "nobody")]}, "DEPENDENCY_MISSING"),
        ({"request_id": "x", "operations": [box("a", tool_name="no.tool")]}, "TOOL_NOT_ALLOWED"),
        ({"request_id": "x", "operations": [box("a", args={"kind": "cueb", "name": "A"})]}, "ARGS_INVALID"),
    ],
    ids=["dependency", "tool", "arguments"],
)
def test_a_plan_that_cannot_run_is_refused_without_blender(shell: Shell, document: Any, expected: str) -> None:
    answer = shell("run", write(shell, "plan.json", document), "--json", code=2).document
    assert answer["result"]["error_code"] == expected and answer["report"]["status"] == "refused"


def test_what_is_no_plan_is_refused(shell: Shell) -> None:
    assert shell("run", "missing.json", "--json", code=2).document["error_code"] == "invalid_input"
    assert "cannot read" in shell("run", "missing.json", code=2).err
    plan = write(shell, "plan.json", {"request_id": "own", "operations": [box("a")]})
    contradicted = shell("run", plan, "--request-id", "other", "--json", code=2).document
    assert contradicted["result"]["error_code"] == "SCHEMA_INVALID"


def test_a_workspace_in_use_is_an_unfit_environment(shell: Shell) -> None:
    plan = write(shell, "plan.json", {"request_id": "x", "operations": [box("a")]})
    with blendwright.open(shell.place / ".blendwright"):
        error = shell("run", plan, "--json", code=3).document["error"]
    assert str(os.getpid()) in error["message"] and error["cure"]


def test_an_interrupted_run_stops_cleanly_and_the_next_one_completes_it(shell: Shell) -> None:
    journal = shell.place / ".blendwright" / "journal.db-wal"
    # On a fast or busy machine the run may end before the signal arrives. Then a longer plan follows in a workspace of its own.
    for size in (2000, 8000, 32000):
        shutil.rmtree(journal.parent, ignore_errors=True)
        operations = [box(f"op{number:05d}") for number in range(size)]
        plan = write(shell, "plan.json", {"request_id": "long", "operations": operations})
        process = subprocess.Popen(
            [PROGRAM, "run", plan, "--json"], cwd=shell.place, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        while process.poll() is None and not (journal.exists() and journal.stat().st_size > 300_000):
            time.sleep(0.002)  # the log grows with the first commits
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=200)
        if process.returncode != 0:
            break
    assert process.returncode == 130, err
    document = json.loads(out)
    assert document["result"]["error_code"] == "CANCELLED"
    statuses = [operation["status"] for operation in document["report"]["operations"]]
    done = statuses.count("succeeded")
    assert 0 < done < size and statuses == ["succeeded"] * done + ["skipped"] * (size - done)
    again = shell("run", plan, "--timeout", "200", "--json", code=0).document
    found = [operation["status"] for operation in again["report"]["operations"]]
    assert found == ["skipped_idempotent"] * done + ["succeeded"] * (size - done)


def test_a_geonodes_plan_prints_its_gates_and_whether_it_is_done(shell: Shell) -> None:
    cut = {"op": "unlink", "from": {"node_id": "group_input", "socket": "Geometry"}}
    made = [
        {"op": "create_node", "node_id": "grid", "bl_idname": "GeometryNodeMeshGrid"},
        {
            "op": "link",
            "from": {"node_id": "grid", "socket": "Mesh"},
            "to": {"node_id": "group_output", "socket": "Geometry"},
        },
    ]
    first = write(shell, "first.json", geonodes_plan(tree_step("a", cut, allow_create_object=True)))
    refused = shell("run", first, code=1).out
    assert "OUTPUT_CONNECTED" in refused and "done is not accepted" in refused and "repair" not in refused
    last = shell("run", write(shell, "last.json", geonodes_plan(tree_step("a", *made))), code=0).out
    assert "gates passed" in last and "done: Made." in last
