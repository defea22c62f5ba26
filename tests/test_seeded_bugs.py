"""Tests that cannot fail prove nothing: bugs are planted in a copy of the engine, one at a time, and each must be caught."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import blendwright
from seeded_bugs import BUGS, Bug

SOURCE = Path(blendwright.__file__).parent
ROOT = Path(__file__).parents[1]
SOME_FAILED = 1


def test_every_bug_can_still_be_planted() -> None:
    assert len(BUGS) >= 10 and len({bug.name for bug in BUGS}) == len(BUGS)
    for bug in BUGS:
        assert (SOURCE / bug.file).read_text().count(bug.right) == 1, bug.name
        assert (ROOT / bug.caught_by).is_file(), bug.name


@pytest.mark.slow
@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
def test_a_planted_bug_is_caught(bug: Bug, tmp_path: Path) -> None:
    # Only the core has it: workers are started with the environment of the installed engine.
    planted = tmp_path / "blendwright"
    shutil.copytree(SOURCE, planted, ignore=shutil.ignore_patterns("__pycache__"))
    text = (planted / bug.file).read_text()
    (planted / bug.file).write_text(text.replace(bug.right, bug.wrong))
    chosen = ["-k", bug.only] if bug.only else []
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-m", "not slow", bug.caught_by]
    done = subprocess.run(
        [*command, *chosen],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == SOME_FAILED, done.stdout[-3000:]
