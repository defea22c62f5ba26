"""`make check` notices a command, a code, a setting, a tool or a public name that nobody has described: each is broken once."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import blendwright
from blendwright.cli.application import load_command
from blendwright.cli.commands import COMMANDS
from blendwright.policy.policy import Policy
from blendwright.tools.catalog import tool_classes

SCRIPTS = Path(__file__).parents[2] / "scripts"


def script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, SCRIPTS / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # where its dataclasses look for themselves
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def pages() -> Iterator[Any]:
    yield script("generate_pages")
    sys.modules.pop("generate_pages", None)


def problems(pages: Any, capsys: pytest.CaptureFixture[str]) -> str:
    assert pages.main("--check") == 1
    return capsys.readouterr().out


def test_as_it_is_everything_is_described() -> None:
    """In a process of its own: what other tests have loaded shows in how types are written."""
    checked = subprocess.run(
        [sys.executable, str(SCRIPTS / "generate_pages.py"), "--check"], capture_output=True, text=True, check=False
    )
    assert checked.returncode == 0, checked.stdout


def test_an_option_without_words_is_noticed(
    pages: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def silent(name: str) -> Any:
        command = load_command(name)
        if name == "undo":
            next(one for one in command.params if one.name == "count").help = None
        return command

    monkeypatch.setattr(pages, "load_command", silent)
    assert "`--count N` is not described" in problems(pages, capsys)


def test_a_command_that_no_page_has_is_noticed(
    pages: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(pages, "COMMANDS", {name: COMMANDS[name] for name in COMMANDS if name != "undo"})
    assert "docs/reference/commands.md is not current" in problems(pages, capsys)


def test_a_code_without_a_meaning_is_noticed(
    pages: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    first = next(iter(pages.MEANINGS))
    monkeypatch.setitem(pages.MEANINGS, first, "")
    assert f"`{first.value}` is not described" in problems(pages, capsys)
    monkeypatch.delitem(pages.MEANINGS, first)
    with pytest.raises(KeyError):
        pages.main("--check")


def test_a_setting_without_words_is_noticed(
    pages: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    limits: Any = Policy.model_fields["limits"].annotation
    monkeypatch.setattr(limits.model_fields["payload_bytes"], "description", None)
    assert "`limits.payload_bytes` is not described" in problems(pages, capsys)


def test_a_public_name_without_words_is_noticed(
    pages: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(blendwright.OpenScene.call, "__doc__", None)
    assert "OpenScene.call has no docstring" in problems(pages, capsys)


def test_a_tool_that_the_pages_do_not_fit_is_noticed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    reference: Any = script("generate_reference")
    others = [tool for tool in tool_classes() if tool.name != "object.rename"]
    monkeypatch.setattr(reference, "tool_classes", lambda: others)
    assert reference.main(["--check"]) == 1
    assert "docs/tools/object.md" in capsys.readouterr().err
