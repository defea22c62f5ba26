"""Help teaches: every command ends with examples that the real command line takes, and what is cheap is run."""

from __future__ import annotations

import json
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from blendwright.cli.application import load_command
from blendwright.cli.commands import COMMANDS
from blendwright.cli.examples import all_examples
from blendwright.plan.validate import validate_arguments
from blendwright.tools import catalog
from support.processes.shell import Shell

EXAMPLES = all_examples()

PROGRAMS = Path(__file__).parents[2] / "examples"
# What needs no Blender, no model, no network and no workspace.
CHEAP = {"new", "validate", "tools", "macros", "schemas", "nodes", "contract", "extension", "completion", "init-host"}


def paths() -> Iterator[tuple[str, Any]]:
    def inside(path: str, command: Any) -> Iterator[tuple[str, Any]]:
        yield path, command
        for name, inner in getattr(command, "commands", {}).items():
            yield from inside(f"{path} {name}", inner)

    for name in COMMANDS:
        yield from inside(name, load_command(name))


def words(line: str) -> list[str]:
    """An example as the arguments of the program; a shell's own part of it is left out."""
    line = line.partition(" > ")[0].removeprefix("source <(").replace("bash)", "bash")
    program, *arguments = shlex.split(line, comments=True)
    assert program == "blendwright"
    return arguments


def test_every_command_has_one_to_three_examples_and_nothing_else_has() -> None:
    assert {path for path, _ in paths()} == set(EXAMPLES)
    assert all(1 <= len(lines) <= 3 for lines in EXAMPLES.values())


@pytest.mark.parametrize("path", EXAMPLES)
def test_examples_are_what_the_command_line_takes(path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for line in EXAMPLES[path]:
        arguments = words(line)
        assert " ".join(arguments).startswith(path), line
        context = load_command(arguments[0]).make_context(arguments[0], arguments[1:])
        if commands := getattr(context.command, "commands", {}):
            # A group parses its own words only.
            commands[arguments[1]].make_context(arguments[1], arguments[2:])


def test_calls_in_examples_have_tools_and_arguments_that_are_right() -> None:
    for line in EXAMPLES["call"]:
        given: Any = load_command("call").make_context("call", words(line)[1:]).params
        assert validate_arguments(catalog.tools()[given["tool"]], json.loads(given["args"])).findings == (), line


@pytest.mark.parametrize("path", sorted(CHEAP & EXAMPLES.keys()))
def test_cheap_examples_run(path: str, shell: Shell) -> None:
    shutil.copyfile(PROGRAMS / "plans" / "table_set.json", shell.place / "plan.json")
    shutil.copyfile(PROGRAMS / "programs" / "sunflower.star", shell.place / "sunflower.star")
    if path == "new":
        (shell.place / "shop.blend").write_bytes(b"")
    for line in EXAMPLES[path]:
        if "shop.blend" not in line and "claude-desktop" not in line:
            shell(*words(line), code=0)


@pytest.mark.parametrize("path", ["run", "batch", "batch run"])
def test_the_help_ends_with_the_examples_line_for_line(path: str, shell: Shell) -> None:
    shown = shell(*path.split(), "--help", code=0).out
    assert shown.rstrip().endswith("\n".join(f"    {line}" for line in EXAMPLES[path]))


@pytest.mark.parametrize("columns", ["40", "80", "200"])
def test_help_keeps_to_the_width_of_the_screen(columns: str, shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    monkeypatch.setenv("TERMINAL_WIDTH", columns)
    shown = shell("undo", "--help", code=0).out
    assert "\x1b" not in shown
    longest = max(len(line) for line in shown.partition("Examples:")[0].splitlines())
    assert longest <= max(int(columns), 50)
