"""The core works, and keeps its import rules, without any of its capabilities."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from blendwright.capabilities import NAMES, capabilities, load
from blendwright.cli.commands import COMMANDS, CORE

ROOT = Path(__file__).parents[2]
SMOKE = Path(__file__).with_name("smoke.py")


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the source, with the import rules."""
    directory = tmp_path_factory.mktemp("tree")
    shutil.copytree(ROOT / "src", directory / "src", ignore=shutil.ignore_patterns("*.egg-info"))
    shutil.copy(ROOT / "pyproject.toml", directory)
    return directory


@contextmanager
def without(tree: Path, names: Sequence[str]) -> Generator[None]:
    """Take the packages of these capabilities out of the copy, for a while."""
    away = tree / "away"
    away.mkdir()
    packages = tree / "src" / "blendwright"
    for name in names:
        (packages / name).rename(away / name)
    try:
        yield
    finally:
        for name in names:
            (away / name).rename(packages / name)
        away.rmdir()


def ran(tree: Path, *command: str, directory: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(tree / "src")}
    return subprocess.run(command, cwd=directory, env=environment, capture_output=True, text=True)


def check_core(tree: Path, names: Sequence[str], directory: Path) -> None:
    done = ran(tree, sys.executable, str(SMOKE), str(tree / "src"), *names, directory=directory)
    assert done.returncode == 0, done.stderr + done.stdout


def check_rules(tree: Path) -> subprocess.CompletedProcess[str]:
    linter = Path(sys.executable).with_name("lint-imports")
    return ran(tree, str(linter), "--no-logo", "--no-cache", directory=tree)


def test_the_core_works_without_any_capability(tree: Path, tmp_path: Path) -> None:
    with without(tree, NAMES):
        check_core(tree, NAMES, tmp_path)
        rules = check_rules(tree)
    assert rules.returncode == 0, rules.stdout


def test_a_capability_that_the_core_imports_is_found_out(tree: Path, tmp_path: Path) -> None:
    module = tree / "src" / "blendwright" / "cli" / "history.py"
    text = module.read_text()
    try:
        module.write_text(text + "\nfrom blendwright.proofs import bundles as bundles\n")
        with without(tree, ["proofs"]), pytest.raises(AssertionError, match=r"No module named 'blendwright\.proofs'"):
            check_core(tree, ["proofs"], tmp_path)
        rules = check_rules(tree)
    finally:
        module.write_text(text)
    assert rules.returncode == 1
    assert "blendwright.cli.history -> blendwright.proofs.bundles" in rules.stdout


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_the_core_works_without_one_capability(name: str, tree: Path, tmp_path: Path) -> None:
    with without(tree, [name]):
        check_core(tree, [name], tmp_path)
        rules = check_rules(tree)
    assert rules.returncode == 0, rules.stdout


@pytest.mark.parametrize("name", NAMES)
def test_a_missing_capability_takes_only_its_own_commands_along(name: str, tree: Path, tmp_path: Path) -> None:
    program = "from blendwright.cli.commands import COMMANDS; print(*COMMANDS)"
    with without(tree, [name]):
        left = ran(tree, sys.executable, "-c", program, directory=tmp_path).stdout.split()
    gone = {one.name for one in capabilities() if name in (one.name, *one.needs)}
    assert set(COMMANDS) - set(left) == {
        command for one in capabilities() if one.name in gone for command in one.commands
    }


def test_everything_that_is_registered_can_be_loaded() -> None:
    for capability in capabilities():
        assert set(capability.needs) <= set(NAMES)
        for where in capability.offers.values():
            load(where)


def test_no_two_capabilities_register_the_same_command() -> None:
    registered = [*CORE, *(name for one in capabilities() for name in one.commands)]
    assert len(registered) == len(set(registered)) == len(COMMANDS)


def test_the_map_says_how_many_lines_the_core_has() -> None:
    counted = ran(ROOT, sys.executable, str(ROOT / "scripts" / "core_lines.py"), "--total", directory=ROOT)
    said = re.search(r"about ([0-9,]+) lines of code", (ROOT / "docs" / "architecture.md").read_text())
    assert said is not None
    assert abs(int(said[1].replace(",", "")) - int(counted.stdout)) < 1000, counted.stdout


def test_the_map_has_every_capability_and_every_point() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text()
    section = text[text.index("## The capabilities") : text.index("## Packages")]
    assert set(re.findall(r"^\*\*(\w+)\*\* ", section, re.MULTILINE)) == set(NAMES)
    offered = {point for capability in capabilities() for point in capability.offers}
    assert {point for point in offered if f"| `{point}` |" not in section} == set()
