"""blendwright validate: plans and results, from files and standard input, without any Blender."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from support.plans.documents import box, step
from support.processes.shell import Shell

CASES = Path(__file__).parent.parent / "cases"


def plan(*listed: dict[str, Any]) -> bytes:
    return json.dumps({"request_id": "request", "operations": list(listed)}).encode()


def test_a_valid_plan_is_called_so(shell: Shell) -> None:
    said = shell("validate", "-", "--json", code=0, stdin=plan(box("a"), box("b", "a"))).document
    assert said == {
        "ok": True, "dialect": "operations", "request_id": "request", "operations": 2, "warnings": [], "findings": []
    }  # fmt: skip
    assert "valid operations, 2 operations" in shell("validate", "-", code=0, stdin=plan(box("a"), box("b"))).out


def test_every_finding_is_listed_with_pointer_suggestion_and_repair(shell: Shell) -> None:
    (shell.place / "plan.json").write_bytes(plan(box("a", "b"), box("b", "a"), box("c", args={"kind": "cubee"})))
    said = shell("validate", "plan.json", "--json", code=2).document
    assert not said["ok"]
    pointers = [finding["pointer"] for finding in said["findings"]]
    assert pointers == ["/operations/1/depends_on", "/operations/2/args", "/operations/2/args/kind"]
    assert said["repair"] == [
        {"operation_id": "b", "action": "drop"},
        {"operation_id": "c", "action": "replace_args"},
    ]
    spoken = shell("validate", "plan.json", code=2).out
    assert "b → a → b" in spoken and "Did you mean 'cube'?" in spoken and "replace_args" in spoken


@pytest.mark.proves("STEPS-VALID-01", "STEPS-VALID-04")
def test_steps_payloads_are_recognised_and_unknown_tools_are_warned_of(shell: Shell) -> None:
    payload = json.dumps({"steps": [step("step_1"), step("step_2", tool="scene.snapshoot")]}).encode()
    said = shell("validate", "-", "--json", code=0, stdin=payload).document
    assert said["dialect"] == "steps" and len(said["request_id"]) == 64
    assert [warning["pointer"] for warning in said["warnings"]] == ["/steps/1/tool"]
    assert "Did you mean 'scene.snapshot'" in shell("validate", "-", code=0, stdin=payload).out
    broken = CASES / "steps/payload/invalid/args_beside_tool_args.json"
    assert "a step has both args and tool.args" in shell("validate", str(broken), code=2).out


@pytest.mark.proves("STEPS-VALID-02", "STEPS-VALID-04")
def test_results_have_a_validator_of_their_own(shell: Shell) -> None:
    good = shell("validate", str(CASES / "steps/result/valid/completed.json"), "--result", "--json", code=0).document
    assert good["ok"] and good["contract_version"] == "1.0.0"
    bad = shell("validate", str(CASES / "steps/result/invalid/stats_miscounted.json"), "--result", code=2).out
    assert "/2/stats/ok" in bad and "the entries give 1" in bad


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b'{"request_id": "a", "request_id": "b", "operations": []}', "more than once"),
        (b"[NaN]", "not JSON"),
        (b"{} {}", "after document"),
        (b"\xff", "UTF-8"),
        (b"[" * 100_000, "nested deeper"),
        (b'{"plan": []}', "'operations'"),
        (b'{"version": "1.0", "steps": [], "done": true}', "'final_message' is missing"),
    ],
)
def test_what_is_no_plan_is_refused_in_words(shell: Shell, text: bytes, said: str) -> None:
    assert said in shell("validate", "-", code=2, stdin=text).out
    assert not shell("validate", "-", "--json", code=2, stdin=text).document["ok"]


def test_a_dialect_can_be_forced(shell: Shell) -> None:
    said = shell("validate", "-", "--dialect", "steps", "--json", code=2, stdin=plan(box("a"))).document
    assert said["dialect"] == "steps" and "/operations" in [finding["pointer"] for finding in said["findings"]]


def test_a_file_that_is_not_there_is_said_so(shell: Shell) -> None:
    assert "cannot read nowhere.json" in shell("validate", "nowhere.json", code=2).err
    assert "cannot read" in shell("validate", ".", "--json", code=2).document["error"]["message"]


def test_the_policy_of_the_workspace_speaks_as_it_would_to_a_run(shell: Shell) -> None:
    place = shell.place / "mine"
    place.mkdir()
    (place / "blendwright.toml").write_text(
        """
        [policy.levels]
        destructive = "deny"
        [policy.tools]
        "material.*" = "deny"
        [policy.roots]
        out = "deny"
        [constraints]
        vertices = 100
        """
    )
    given = plan(
        box("a"),
        box("b", args={"kind": "grid", "name": "Much", "cells": 500}),
        box("c", "a", tool_name="object.delete", args={"name": "a"}, safety_level="destructive"),
        box("d", "a", tool_name="render.still", args={"path": "out/a.png"}, safety_level="safe_write"),
        box("e", "a", tool_name="look.color", args={"color": [1, 0, 0], "objects": ["a"]}),
    )
    assert shell("validate", "-", "--json", code=0, stdin=given).document["ok"], "none of it is against the defaults"
    said = shell("validate", "-", "--workspace", "mine", "--json", code=2, stdin=given).document
    found = {finding["pointer"]: finding["code"] for finding in said["findings"]}
    assert found == {
        "/operations/1": "LIMIT_EXCEEDED",
        "/operations/2": "POLICY_BLOCKED",
        "/operations/3/args/path": "POLICY_BLOCKED",
        "/operations/4": "POLICY_BLOCKED",
    }
    assert all(finding["cure"] for finding in said["findings"])
    assert [file.name for file in place.iterdir()] == ["blendwright.toml"], "looking leaves nothing behind"
    ran = shell("run", "-", "--workspace", "mine", "--json", code=2, stdin=given).document
    refused = [finding for operation in ran["report"]["operations"] for finding in operation["findings"]]
    assert {finding["pointer"]: finding["code"] for finding in refused} == found


def test_a_policy_that_is_not_sound_is_said_with_its_line(shell: Shell) -> None:
    place = shell.place / "mine"
    place.mkdir()
    (place / "blendwright.toml").write_text("[policy]\nnetwrok = 1\n")
    error = shell("validate", "-", "--workspace", "mine", "--json", code=2, stdin=plan(box("a"))).document["error"]
    assert "blendwright.toml:2" in error["message"] and "network" in error["cure"]


def test_a_refused_command_line_says_what_to_do(shell: Shell) -> None:
    (shell.place / "empty").mkdir()
    for arguments, cure in (
        (("ask", " "), "Describe the scene"),
        (("eval", "empty"), "*.json"),
        (("validate", "nowhere.json"), "standard input"),
    ):
        error = shell(*arguments, "--json", code=2).document["error"]
        assert cure in (error["cure"] or ""), error
    (finding,) = shell("run", "empty", "--json", code=2).document["report"]["findings"]
    assert "standard input" in finding["cure"]
