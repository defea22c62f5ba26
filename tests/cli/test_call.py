"""blendwright call, as a user types it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from blendwright.bridge.environments.series import NEWEST
from support.processes.shell import Shell

README = Path(__file__).parents[2] / "README.md"
CUBE = ["call", "mesh.create_primitive", "--args", '{"kind":"cube","name":"Box"}']


def test_a_call_prints_one_tool_result_with_hashes_and_leaves_no_scratch(shell: Shell) -> None:
    result = shell(*CUBE, "--json", code=0).document
    assert result["ok"] is True and result["error_code"] is None
    assert result["result"]["object"] == "Box"
    assert result["fingerprint_before"] != result["fingerprint_after"]
    assert result["determinism_class"] == "deterministic"
    assert {"kind": "objects", "name": "Box"} in result["handles"]
    assert [entry["phase"] for entry in result["details"]["trace"]] == list(range(7))
    assert list((shell.place / ".blendwright" / "scratch").glob("session-*")) == []
    # The page shows this very call, on the Blender that is the default.
    (shown,) = re.findall(r"bw\d+:[\d.]+:[0-9a-f]{64}", README.read_text())
    if result["fingerprint_after"].split(":")[:2] == shown.split(":")[:2]:
        assert result["fingerprint_after"] == shown
    else:
        assert shown.split(":")[1] == NEWEST.name, "it is that of another Blender, the newest one"


def test_a_bad_argument_is_refused_with_pointer_and_cure_and_the_hash_stays(shell: Shell) -> None:
    args = '{"kind":"cueb","name":"Box","sise":2}'
    result = shell("call", "mesh.create_primitive", "--args", args, "--json", code=2).document
    assert (result["ok"], result["error_code"]) == (False, "invalid_input")
    assert result["fingerprint_before"] == result["fingerprint_after"]
    cures = {finding["pointer"]: finding["cure"] for finding in result["details"]["findings"]}
    assert cures == {"/kind": "Did you mean 'cube'?", "/sise": "Did you mean 'size'?"}
    spoken = shell("call", "mesh.create_primitive", "--args", args, code=2)
    assert "ARGS_INVALID" in spoken.out and "/sise" in spoken.out and "Did you mean 'size'?" in spoken.out


def test_the_core_envelope_can_be_had_instead(shell: Shell) -> None:
    envelope = shell("call", "object.delete", "--args", "{}", "--envelope", "core", "--json", code=2).document
    assert envelope["ok"] is False and "result" not in envelope
    assert envelope["error"]["code"] == "invalid_arguments"


def test_an_unknown_tool_is_refused_with_the_one_that_was_meant(shell: Shell) -> None:
    result = shell("call", "mesh.create_primitve", "--json", code=2).document
    assert result["error_code"] == "policy_refused"
    assert "'mesh.create_primitive'" in result["details"]["findings"][0]["cure"]


@pytest.mark.parametrize("text", ["{name: Box}", "", "NaN", "[" * 100_000], ids=lambda text: text[:12])
def test_arguments_that_are_no_json_are_refused(shell: Shell, text: str) -> None:
    answer = shell("call", "object.create_empty", "--args", text, "--json", code=2).document
    assert answer["ok"] is False and answer["error_code"] == "invalid_input"
    cure = answer["details"]["findings"][0]["cure"]
    assert "JSON" in answer["message"] + cure and "--args" in cure
    core = shell("call", "object.create_empty", "--args", text, "--envelope", "core", "--json", code=2).document
    assert core["error"]["code"] == "invalid_arguments"


def test_arguments_may_come_from_standard_input_and_must_be_utf_8(shell: Shell) -> None:
    answer = shell("call", "object.create_empty", "--args", "-", "--json", code=2, stdin=b'{"name": "\xff"}').document
    assert answer["error_code"] == "invalid_input" and answer["details"]["findings"][0]["cure"]
    result = shell("call", "object.create_empty", "--args", "-", "--json", code=2, stdin=b'{"nmae": "A"}').document
    assert result["error_code"] == "invalid_input"


@pytest.mark.parametrize(
    "arguments",
    [
        ["call", "object.delete", "--no-such-option"],
        ["call", "object.delete", "--timeout", "0"],
        ["no-such-command"],
        ["call"],
    ],
    ids=" ".join,
)
def test_a_wrong_command_line_is_refused(shell: Shell, arguments: list[str]) -> None:
    assert shell(*arguments, "--json", code=2).document["error"]["code"] == "invalid_arguments"


def test_people_are_told_of_a_wrong_command_line_on_standard_error(shell: Shell) -> None:
    spoken = shell("call", "object.delete", "--no-such-option", code=2)
    assert spoken.out == "" and "error:" in spoken.err and "--no-such-option" in spoken.err


def test_a_scene_that_is_not_there_is_refused_and_no_scene_is_an_unfit_environment(shell: Shell) -> None:
    missing = shell(*CUBE, "--scene", "missing.blend", "--json", code=2).document
    assert "missing.blend" in missing["message"]
    garbage = shell.place / "garbage.blend"
    garbage.write_bytes(b"BLENDER-v500" + b"\x00garbage" * 100)
    answer = shell(*CUBE, "--scene", "garbage.blend", "--json", code=3).document
    assert answer["error"]["code"] == "environment_unfit"
    assert "garbage.blend" in answer["error"]["message"] and answer["error"]["cure"]
    assert list((shell.place / ".blendwright" / "scratch").glob("session-*")) == []


def test_a_workspace_that_cannot_be_is_an_unfit_environment(shell: Shell) -> None:
    (shell.place / "file").write_text("x")
    assert "file" in shell(*CUBE, "--workspace", "file", "--json", code=3).document["error"]["message"]
    no_blender = shell(*CUBE, "--blender", "no-such-blender", "--json", code=3).document
    assert "no-such-blender" in no_blender["error"]["message"]


def test_people_are_told_what_changed_and_a_scene_file_is_never_written(shell: Shell) -> None:
    spoken = shell(*CUBE, "--export", "scene.blend", code=0).out
    assert "ok mesh.create_primitive" in spoken
    assert "created objects Box" in spoken
    assert "scene.blend" in spoken
    scene = shell.place / "scene.blend"
    before, when = scene.read_bytes(), scene.stat().st_mtime_ns
    delete = [
        "call",
        "object.delete",
        "--args",
        '{"name":"Box"}',
        "--scene",
        "scene.blend",
        "--workspace",
        "other",
        "--approve",
        "destructive",
        "--json",
    ]
    first = shell(*delete, code=0).document
    assert {"kind": "objects", "name": "Box", "change": "removed"} in first["details"]["changes"]
    assert (scene.read_bytes(), scene.stat().st_mtime_ns) == (before, when)
    assert sorted(path.name for path in shell.place.iterdir()) == [".blendwright", "other", "scene.blend"]


def test_a_scene_lives_on_between_commands_and_is_not_replaced(shell: Shell) -> None:
    made = shell(*CUBE, "--export", "scene.blend", "--json", code=0).document
    before = (shell.place / "scene.blend").stat()
    again = shell(*CUBE, "--export", "scene.blend", "--json", code=0).document
    assert (shell.place / "scene.blend").stat() != before, "replaced, as the option says, without a question"
    assert again["result"]["created"] is False, "it is there already"
    assert again["fingerprint_before"] == again["fingerprint_after"] == made["fingerprint_after"]
    refused = shell(*CUBE, "--scene", "scene.blend", "--json", code=3).document
    assert "has a scene already" in refused["error"]["message"] and refused["error"]["cure"]


def test_what_fails_while_it_runs_exits_with_one(shell: Shell) -> None:
    delete = ["call", "object.delete", "--args", '{"name":"Nobody"}', "--approve", "destructive", "--json"]
    result = shell(*delete, code=1).document
    assert result["error_code"] == "not_found"
    assert result["fingerprint_before"] == result["fingerprint_after"]


def test_a_rehearsal_and_a_snapshot_may_be_asked_for(shell: Shell) -> None:
    result: dict[str, Any] = shell(*CUBE, "--rehearse", "--snapshot", "--verify", "--json", code=0).document
    assert result["fingerprint_before"] == result["fingerprint_after"] == result["snapshot"]["fingerprint"]
    assert result["snapshot"]["objects"]["total"] == 0
