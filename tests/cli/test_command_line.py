"""Command lines end with the documented exit codes, and a wrong one names the help that explains it."""

from __future__ import annotations

import json

import pytest

from support.plans.documents import box
from support.processes.shell import Shell


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("validate plan.json", 0),
        ("validate --json plan.json", 0),
        ("validate plan.json --dialect steps", 2),
        ("validate plan.json --dialect nonsense", 2),
        ("validate plan.json --set a=1", 2),
        ("validate plan.json --workspace plan.json", 3),
        ("validate nowhere.json --json", 2),
        ("validate", 2),
        ("validate plan.json other.json", 2),
        ("undo --plan --count 3", 2),
        ("schemas nonsense", 2),
    ],
)
def test_a_command_line_ends_with_its_exit_code(shell: Shell, line: str, code: int) -> None:
    (shell.place / "plan.json").write_text(json.dumps({"request_id": "r", "operations": [box("box")]}))
    ran = shell(*line.split(), code=code)
    assert ran.out if code == 0 else ran.out or ran.err


@pytest.mark.parametrize(
    "line", ["validate plan.json --nope", "undo --plan --count 3", "validate plan.json --dialect no"]
)
def test_a_usage_error_names_the_help_of_its_command(shell: Shell, line: str) -> None:
    command, *rest = line.split()
    assert f"See: blendwright {command} --help" in shell(command, *rest, code=2).err
