"""`blendwright ui --engine`: what is refused or told before there is a page, and that nobody else loads anything of it. The page itself is
proven on a real PostgreSQL, in tests/fleet."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from blendwright.fleet.address import VARIABLE
from support.processes.shell import Shell

SECRET = "hush-hush"


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shell:
    monkeypatch.delenv(VARIABLE, raising=False)
    return Shell(tmp_path)


@pytest.mark.parametrize("named", [("s3://bucket/props",), ("--batch", "file:///mnt/props")])
def test_a_place_of_a_fleet_needs_the_database_that_has_its_results(shell: Shell, named: tuple[str, ...]) -> None:
    ran = shell("ui", *named, "--no-open", code=2)
    assert named[-1] in ran.err and "--engine env" in ran.err


def test_a_password_on_the_command_line_is_refused_without_repeating_it(shell: Shell) -> None:
    ran = shell("ui", "--engine", f"postgres://ann:{SECRET}@127.0.0.1:9/farm", "--no-open", code=2)
    assert VARIABLE in ran.err and SECRET not in ran.err + ran.out


def test_a_database_that_does_not_answer_is_told_at_once(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, f"postgres://ann:{SECRET}@127.0.0.1:9/farm")
    ran = shell("ui", "--engine", "env", "--no-open", code=3)
    assert "postgres://ann@127.0.0.1:9/farm does not answer" in ran.err and SECRET not in ran.err + ran.out


@pytest.mark.parametrize("place", ["http://db.example/props", "s3://key:secret@bucket/x", "s3://bucket/../x"])
def test_what_is_no_place_of_outputs_is_refused_before_anybody_is_asked(shell: Shell, place: str) -> None:
    ran = shell("ui", place, "--engine", "postgres://ann@127.0.0.1:9/farm", "--no-open", code=2)
    assert "does not answer" not in ran.err


def test_without_the_packages_the_extra_is_named(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    ran = shell("ui", "--engine", "postgres://ann@127.0.0.1:9/farm", "--no-open", code=3)
    assert "pip install 'blendwright[fleet]'" in ran.err


def test_nothing_of_a_fleet_is_loaded_for_anything_else() -> None:
    code = "import sys, blendwright.console.commands; print({'psycopg', 'procrastinate', 'fsspec'} & set(sys.modules))"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "set()"
