"""The question on a terminal: what counts as a yes, and for how much."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from blendwright.cli import approvals
from blendwright.cli.approvals import TerminalApprover
from blendwright.util.cancel import CancelToken
from blendwright.values.approval import ApprovalAnswer, ApprovalRequest


def question(id: str = "op", level: str = "destructive", **more: Any) -> ApprovalRequest:
    why = ("policy.levels.destructive = ask",)
    return ApprovalRequest("abcdefgh", "hash", "r", id, "tool", level, f"tool {id}", why, time.time() + 60, **more)


@pytest.fixture
def lines(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str | None]]:
    """What a person types, line by line; None is nothing at all."""
    typed: list[str | None] = []

    def line(expires: float, cancel: CancelToken | None) -> str | None:
        return typed.pop(0)

    monkeypatch.setattr(approvals, "read_line", line)
    yield typed
    assert typed == [], "every line was asked for"


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("y\n", ApprovalAnswer.APPROVED),
        (" YES \n", ApprovalAnswer.APPROVED),
        ("n\n", ApprovalAnswer.DECLINED),
        ("\n", ApprovalAnswer.DECLINED),
        ("yess\n", ApprovalAnswer.DECLINED),
        ("", ApprovalAnswer.DECLINED),
        (None, ApprovalAnswer.NONE),
    ],
)
def test_only_a_yes_is_one(lines: list[str | None], line: str | None, answer: ApprovalAnswer) -> None:
    lines.append(line)
    assert TerminalApprover().ask(question()) is answer


def test_all_is_all_of_the_same_level(lines: list[str | None]) -> None:
    lines += ["a\n", "n\n"]
    terminal = TerminalApprover()
    assert terminal.ask(question("one")) is ApprovalAnswer.APPROVED
    assert terminal.ask(question("two")) is ApprovalAnswer.APPROVED, "without a further question"
    assert terminal.ask(question("three", level="safe_write")) is ApprovalAnswer.DECLINED


@pytest.mark.parametrize("line", ["n\n", "\n", "a\n", "all\n"])
def test_what_only_a_person_can_allow_is_asked_by_itself_whatever_was_said_before(
    lines: list[str | None], line: str, capfd: pytest.CaptureFixture[str]
) -> None:
    lines += ["a\n", line, "y\n"]
    terminal = TerminalApprover()
    assert terminal.ask(question("one")) is ApprovalAnswer.APPROVED
    code = question("two", shown="import os\nprint('hello')", in_person=True)
    assert terminal.ask(code) is ApprovalAnswer.DECLINED
    assert terminal.ask(code) is ApprovalAnswer.APPROVED
    said = capfd.readouterr().err
    assert said.count("print('hello')") == 2 and said.count("Allow it? [y/N]") == 2


def test_every_path_is_on_a_line_of_its_own_and_stays_in_sight(
    lines: list[str | None], capfd: pytest.CaptureFixture[str]
) -> None:
    source, target = "/in/" + "m" * 300 + ".glb", "/home/x/thesis.blend"
    what = f'python.run\nwrites "{target}"\nreads "{source}"\nwith {{"overwrite":true}}'
    lines += ["n\n", "n\n"]
    TerminalApprover().ask(replace(question(), what=what))
    said = capfd.readouterr().err.replace("\n", "")
    assert said.index(target) < said.index(source) and source in said
    TerminalApprover().ask(replace(question(shown="pass\n" * 500), what=what))
    tail = capfd.readouterr().err.rpartition("pass\n")[2].replace("\n", "")
    assert target in tail and source in tail and tail.endswith("Allow it? [y/N/a = all that is destructive] ")
