"""What a command loads before it does anything: nothing that belongs to another one."""

from __future__ import annotations

import inspect
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from blendwright.cli.application import load_command
from blendwright.cli.commands import COMMANDS
from blendwright.tools.catalog import NAMES
from support.plans.documents import box
from support.processes.shell import Shell

# What is costly to load, and no business of a command that only says something about itself.
LARGE = {"pydantic", "mcp", "anyio", "httpx", "numpy", "structlog", "google", "bpy"}


# Tools that the core itself uses: to compare scenes, and to ask a scene for names.
WITHOUT_A_CALL = {"object.inspect", "object.rename", "scene.expect", "scene.find", "scene.snapshot"}


def loaded_by(*arguments: str, code: int = 0) -> set[str]:
    """The modules that a command has loaded when it ends."""
    program = (
        "import sys\n"
        "from blendwright import entry\n"
        f"sys.argv = {['blendwright', *arguments]!r}\n"
        "try:\n"
        "    entry.main()\n"
        "except SystemExit as stop:\n"
        f"    assert (stop.code or 0) == {code}, stop.code\n"
        "finally:\n"
        "    print('\\n--', *sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-I", "-c", program], capture_output=True, text=True, check=True)
    return set(done.stdout.rpartition("--")[2].split())


def ours(modules: set[str]) -> set[str]:
    return {name for name in modules if name.startswith("blendwright.")}


def test_the_version_needs_nothing_of_the_program() -> None:
    loaded = loaded_by("--version")
    assert ours(loaded) == {"blendwright.entry"}
    assert not LARGE & loaded
    assert not {"typer", "rich", "dataclasses"} & loaded


def test_help_loads_no_command() -> None:
    loaded = loaded_by("--help")
    assert not LARGE & loaded
    others = ours(loaded) - {"blendwright.workspace", "blendwright.workspace.early_blender"}
    assert not {name for name in others if name.startswith(("blendwright.workspace", "blendwright.tools"))}


PLAN = {"request_id": "start", "operations": [box("box")]}
WRONG = {"request_id": "start", "operations": [{**box("box"), "args": {"kind": "cuboid"}}]}


@pytest.mark.parametrize("arguments", [(), ("--json",), ("--dialect", "operations", "--workspace=other")])
@pytest.mark.parametrize(("plan", "code"), [(PLAN, 0), (WRONG, 2)], ids=["valid", "refused"])
def test_a_plan_is_checked_by_what_that_takes_and_nothing_else(
    tmp_path: Path, plan: dict[str, Any], code: int, arguments: tuple[str, ...]
) -> None:
    file = tmp_path / "plan.json"
    file.write_text(json.dumps(plan))
    loaded = loaded_by("validate", str(file), *arguments, code=code)
    assert "blendwright.plan.validate" in loaded
    assert not {"mcp", "numpy", "bpy", "structlog"} & loaded
    assert not {name for name in loaded if name.startswith(("blendwright.bridge", "blendwright.macros."))}
    assert not {name for name in loaded if name.endswith(".capability")}


@pytest.mark.parametrize(
    "arguments",
    [("log", "--help"), *(pytest.param(each, marks=pytest.mark.slow) for each in (("doctor", "--help"), ("schemas",)))],
)
def test_a_command_loads_no_tool_server_or_planner(arguments: tuple[str, ...]) -> None:
    loaded = ours(loaded_by(*arguments))
    tools = {name for name in NAMES if f"blendwright.tools.{name}" in loaded}
    assert tools <= WITHOUT_A_CALL
    registration = {f"blendwright.{name}{part}" for name in ("server", "planner") for part in ("", ".capability")}
    others = {name for name in loaded if name.startswith(("blendwright.server", "blendwright.planner"))}
    assert others <= registration


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_of_commands_says_what_the_command_says_of_itself(name: str) -> None:
    command = load_command(name)
    assert command.name == name
    told = " ".join(str(command.help).split())
    assert told.startswith(COMMANDS[name].summary)
    short: Any = command.get_short_help_str(70)
    assert short == _short(COMMANDS[name].summary)


def _short(summary: str) -> str:
    from typer.core import TyperCommand

    return TyperCommand(name=None, help=summary).get_short_help_str(70)


@pytest.mark.parametrize("name", sorted(COMMANDS.keys() - {"audit", "batch", "blender"}))
def test_a_command_shows_its_own_help(shell: Shell, name: str) -> None:
    shown = " ".join(shell(name, "--help", code=0).out.split())
    assert shown.startswith(f"Usage: blendwright {name} ")
    doc = inspect.getdoc(load_command(name).callback) or ""
    assert " ".join(doc.split("\n\n")[0].split()) in shown


GROUPS = [
    ("audit", ["verify", "bundle", "key", "list"]),
    ("batch", ["run", "status", "retry", "show", "export", "dataset"]),
    ("blender", ["list", "add", "remove"]),
]


@pytest.mark.parametrize(("group", "commands"), GROUPS)
def test_a_group_shows_its_commands(shell: Shell, group: str, commands: list[str]) -> None:
    shown = shell(group, "--help", code=0).out
    assert COMMANDS[group].summary in shown
    assert [
        line.split()[0] for line in shown.partition("Commands:")[2].partition("Examples:")[0].strip().splitlines()
    ] == commands


def test_a_name_that_is_nearly_one_is_told_the_right_one(shell: Shell) -> None:
    assert "Did you mean 'run'?" in shell("rnu", code=2).err
