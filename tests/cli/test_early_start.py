"""Blender that is started before the command is loaded: by which command lines, and what is left of it where nothing comes of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from blendwright.bridge import spawn
from blendwright.workspace.early_blender import CACHE_FOLDER, expected_workspace
from support.plans.documents import box
from support.processes.shell import Shell
from support.suite.in_one_test import in_one_test

PLAN = {"request_id": "early", "operations": [box("box")]}


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


@pytest.fixture
def starts(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The scratch directories of the workers that are started."""
    listed: list[str] = []
    really = spawn.start_process

    def start(*arguments: Any, directory: Path, **options: Any) -> Any:
        listed.append(str(directory))
        return really(*arguments, directory=directory, **options)

    monkeypatch.setattr(spawn, "start_process", start)
    return listed


def test_a_command_has_one_blender_which_was_started_early(shell: Shell, starts: list[str]) -> None:
    (shell.place / "plan.json").write_text(json.dumps(PLAN))
    shell("run", "plan.json", code=0)
    shell("call", "object.create_empty", "--args", '{"name": "Other"}', code=0)
    assert len(starts) == 2 and all(f"/{CACHE_FOLDER}/" in place for place in starts)
    assert not [*(shell.place / ".blendwright" / "scratch").glob("session-*")]


@pytest.mark.parametrize(
    ("text", "arguments"),
    [("{", ()), (json.dumps({"neither": "nor"}), ()), (json.dumps(PLAN), ("--no-such-option",))],
    ids=["no JSON", "no plan", "no such option"],
)
def test_what_is_refused_leaves_no_workspace(
    shell: Shell, starts: list[str], text: str, arguments: tuple[str, ...]
) -> None:
    (shell.place / "plan.json").write_text(text)
    shell("run", "plan.json", "--workspace", "deep/new", *arguments, code=2)
    assert [path.name for path in shell.place.iterdir()] == ["plan.json"]
    [started] = starts
    assert not Path(started).exists()
