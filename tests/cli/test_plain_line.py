"""Command lines that are read without typer: they give a command what typer gives it, or are typer's to read."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import pytest
import typer

from blendwright.cli import application, main
from blendwright.cli.application import load_command
from blendwright.cli.commands import command_function
from blendwright.cli.examples import all_examples
from blendwright.cli.plain_line import plain_command, read_plain
from plans import box
from shell import Shell

EXAMPLES = all_examples()

# A line, and whether it is plain.
LINES = {
    "validate plan.json": True,
    "validate -": True,
    "validate plan.json --json": True,
    "validate --json plan.json --json": True,
    "validate --workspace shop plan.json": True,
    "validate --workspace=shop plan.json": True,
    "validate --workspace=a=b plan.json": True,
    "validate --workspace a --workspace b plan.json": True,
    "validate --dialect steps plan.json": True,
    "validate p.star --set a=1 --set b=x=y --set=c=3": True,
    "validate p.star --yielded out.json --result": True,
    "validate 'with blank.json'": True,
    "run plan.json --approve destructive --approve scene.clear --image picture.png": True,
    "run plan.json --instead --request-id r1": True,
    "call object.find --args -": True,
    "call object.find": True,
    "preview plan.json --json": True,
    "tools mesh.create_primitive": True,
    "tools": True,
    "log": True,
    "show 1": True,
    "validate": False,
    "validate --help": False,
    "validate plan.json --help": False,
    "validate plan.json other.json": False,
    "validate plan.json --nope": False,
    "validate plan.json --js": False,
    "validate plan.json --json=1": False,
    "validate plan.json --workspace": False,
    "validate plan.json --workspace --json": False,
    "validate plan.json --workspace=": False,
    "validate ''": False,
    "validate -j plan.json": False,
    "validate -- plan.json": False,
    "validate plan.json --dialect nonsense": False,
    "validate plan.json --workspace plan.json": False,
    "run plan.json --timeout 3": False,
    "run plan.json --timeout nonsense": False,
    "run plan.json --determinism nonsense": False,
    "run plan.json --image picture.jpg": False,
    "log --limit 0": False,
    "undo --plan --count 3": False,
    "compare shop.blend": False,
    "compare shop.blend --blender 4.5 --blender 5.2": True,
    "audit verify": False,
    "rnu": False,
    "--verbose validate plan.json": False,
}
EVERY = [line for lines in EXAMPLES.values() for line in lines]


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "plan.json").write_text(json.dumps({"request_id": "r", "operations": [box("box")]}))
    return tmp_path


def words_of(line: str) -> list[str]:
    """Without what is the shell's own."""
    words = shlex.split(line.partition(" > ")[0].removeprefix("source <(").replace("bash)", "bash"), comments=True)
    return words[words[0] == "blendwright" :]


def always(answer: Any) -> Callable[[Any], Any]:
    def give(_: Any) -> Any:
        return answer

    return give


def by_typer(words: list[str], monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What typer calls the function of a command with."""
    function = command_function(words[0])
    got: list[dict[str, Any]] = []

    @wraps(function)
    def keep(**values: Any) -> int:
        got.append(values)
        return 0

    with monkeypatch.context() as patch:
        patch.setattr(application, "command_function", always(keep))
        load_command(words[0]).main(words[1:], standalone_mode=False)
    [values] = got
    return values


@pytest.mark.parametrize("line", LINES)
def test_a_line_is_plain_or_it_is_not(line: str) -> None:
    assert (plain_command(words_of(line)) is not None) is LINES[line]


@pytest.mark.parametrize("line", [line for line in LINES if LINES[line]])
def test_plain_lines_say_what_typer_reads_in_them(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    words = words_of(line)
    assert read_plain(command_function(words[0]), words[1:]) == by_typer(words, monkeypatch)


def test_so_do_the_examples_of_every_command(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = 0
    for words in map(words_of, EVERY):
        command = plain_command(words)
        if command is not None:
            plain += 1
            assert read_plain(command_function(words[0]), words[1:]) == by_typer(words, monkeypatch), words
    assert plain > len(EVERY) / 2


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("validate plan.json", 0),
        ("validate plan.json --json", 0),
        ("validate plan.json --dialect steps", 2),
        ("validate plan.json --result", 2),
        ("validate plan.json --dialect nonsense", 2),
        ("validate plan.json --set a=1", 2),
        ("validate plan.json --workspace plan.json", 3),
        ("validate plan.json --workspace plan.json --json", 3),
        ("validate nowhere.json", 2),
        ("validate nowhere.json --json", 2),
        ("validate plan.json --nope", 2),
        ("validate", 2),
        ("run nowhere.json --json", 2),
        ("undo --plan --count 3", 2),
        ("schemas nonsense", 2),
    ],
)
def test_both_ways_tell_and_end_alike(shell: Shell, line: str, code: int, monkeypatch: pytest.MonkeyPatch) -> None:
    words = words_of(line)
    (shell.place / "plan.json").write_text(json.dumps({"request_id": "r", "operations": [box("box")]}))
    ours = shell(*words, code=code)
    monkeypatch.setattr(main, "plain_command", always(None))
    assert shell(*words, code=code) == ours


def test_usage_errors_of_a_command_itself_name_its_help(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    def complain(**_: Any) -> int:
        raise typer.BadParameter("this does not go together")

    monkeypatch.setattr(main, "plain_command", always(complain))
    told = shell("validate", "plan.json", code=2).err
    assert "this does not go together" in told and "See: blendwright validate --help" in told
