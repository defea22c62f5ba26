"""Tests that cannot fail prove nothing: bugs are planted in the engine of a child process, one at a time, and each must be caught."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from support.planting.planting import Bug, can_be_planted, environment_with, find, raised_by_itself
from support.planting.seeded_bugs import BUGS
from support.suite.in_one_test import in_one_test

ROOT = Path(__file__).parents[2]
SOME_FAILED = 1


@in_one_test({bug.name: bug for bug in BUGS})
def test_every_bug_can_still_be_planted(bug: Bug) -> None:
    can_be_planted(bug)
    names = re.findall(r"^def (test_\w+)", (ROOT / bug.caught_by).read_text(), re.MULTILINE)
    assert any(bug.only in name for name in names), "no test would catch it"


def test_every_bug_has_a_name_of_its_own() -> None:
    assert len(BUGS) >= 50 and len({bug.name for bug in BUGS}) == len(BUGS)


def test_a_name_that_is_gone_is_told() -> None:
    for name in (
        "blendwright.run.gone:f",
        "blendwright.engine.scene.rebuild:gone",
        "blendwright.engine.runner:Runner.gone",
    ):
        with pytest.raises(LookupError, match=f"{name} is gone"):
            find(name)


@pytest.mark.slow
@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
def test_a_planted_bug_is_reached_and_caught(bug: Bug, tmp_path: Path) -> None:
    reached = tmp_path / "reached"
    chosen = ["-k", bug.only] if bug.only else []
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-x",
            "-q",
            "-p",
            "no:cacheprovider",
            "-m",
            "not slow",
            bug.caught_by,
            *chosen,
        ],
        cwd=ROOT,
        env=environment_with(bug.name, reached),
        capture_output=True,
        text=True,
        check=False,
    )
    assert reached.exists(), "nothing came by the bug: " + done.stdout[-3000:] + done.stderr[-3000:]
    assert done.returncode == SOME_FAILED, done.stdout[-3000:] + done.stderr[-3000:]
    assert not raised_by_itself(done.stdout), done.stdout[-3000:]
