"""Blender that is started before the command is loaded: by which command lines, and what is left of it where nothing comes of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from blendwright.app import early_blender as early
from blendwright.cli.early_blender import expected_workspace
from in_one_test import in_one_test
from shell import PROGRAM, Shell

PLAN = {
    "request_id": "early",
    "operations": [
        {
            "operation_id": "box",
            "tool_name": "object.create_empty",
            "args": {"name": "Box"},
            "depends_on": [],
            "safety_level": "safe_write",
        }
    ],
}


@in_one_test(
    {
        "a plan": (["run", "plan.json"], ".blendwright"),
        "in another workspace": (["run", "--workspace", "shop", "plan.json"], "shop"),
        "in one word": (["call", "object.find", "--workspace=shop"], "shop"),
        "the last one counts": (["run", "--workspace", "a", "--workspace", "b", "plan.json"], "b"),
        "another Blender": (["run", "plan.json", "--blender", "4.5"], None),
        "an open window": (["run", "plan.json", "--attach=auto"], None),
        "a contract": (["run", "plan.json", "--contract", "old.json"], None),
        "help": (["run", "--help"], None),
        "no Blender at all": (["validate", "plan.json"], None),
        "nothing": ([], None),
    }
)
def test_only_commands_that_need_it_start_it(case: tuple[list[str], str | None]) -> None:
    arguments, workspace = case
    assert expected_workspace(arguments) == workspace


def test_a_plan_runs_on_the_blender_that_was_started_early(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[early.EarlyBlender | None] = []
    really = early.start_early

    def start(workspace: str) -> early.EarlyBlender | None:
        started.append(really(workspace))
        return started[-1]

    monkeypatch.setattr(early, "start_early", start)
    (shell.place / "plan.json").write_text(json.dumps(PLAN))
    shell("run", "plan.json", code=0)
    [first] = started
    assert first is not None and first.taken
    # The session has noted that it worked with such a one, so the next one is started early as well.
    shell("call", "object.create_empty", "--args", '{"name": "Other"}', code=0)
    assert len(started) == 2 and started[1] is not None and started[1].taken
    assert not [*(shell.place / ".blendwright" / "scratch").glob("session-*")]


@pytest.mark.parametrize(
    ("text", "arguments"),
    [("{", ()), (json.dumps({"neither": "nor"}), ()), (json.dumps(PLAN), ("--no-such-option",))],
    ids=["no JSON", "no plan", "no such option"],
)
def test_what_is_refused_leaves_no_workspace(shell: Shell, text: str, arguments: tuple[str, ...]) -> None:
    (shell.place / "plan.json").write_text(text)
    shell("run", "plan.json", "--workspace", "deep/new", *arguments, code=2)
    assert [path.name for path in shell.place.iterdir()] == ["plan.json"]


@pytest.mark.real_starts
@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_a_program_that_refuses_leaves_no_process(tmp_path: Path) -> None:
    (tmp_path / "plan.json").write_text("{")
    done = subprocess.run([PROGRAM, "run", "plan.json"], cwd=tmp_path, capture_output=True, timeout=60, check=False)
    assert done.returncode == 2
    assert not [*_processes_in(tmp_path)]
    assert [path.name for path in tmp_path.iterdir()] == ["plan.json"]


def _processes_in(place: Path) -> list[str]:
    found: list[str] = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            line = (process / "cmdline").read_bytes()
        except OSError:
            continue
        if os.fsencode(place) in line and int(process.name) != os.getpid():
            found.append(process.name)
    return found
