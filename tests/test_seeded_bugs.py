"""Tests that cannot fail prove nothing: bugs are planted in the engine of a child process, one at a time, and each must be caught."""

from __future__ import annotations

import inspect
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from planting import VARIABLE, Bug, Function, find, planted
from seeded_bugs import BUGS

TESTS = Path(__file__).parent
ROOT = TESTS.parent
SOME_FAILED = 1
# The last line of a traceback that ends in a bug: it broke down, and nothing can be said of the tests.
RAISED_BY_ITSELF = re.compile(r"seeded_bugs\.py:\d+: \w+")


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
def test_every_bug_can_still_be_planted(bug: Bug) -> None:
    right = find(bug.target)[2]
    parameters = _parameters(bug.wrong(right))
    assert parameters in (_parameters(right), ["args", "kwargs"]), "the bug has other parameters than what it replaces"
    changed = bug.during or bug.target
    before = find(changed)[2]
    with planted(bug):
        assert find(changed)[2] is not before
    assert find(changed)[2] is before
    names = re.findall(r"^def (test_\w+)", (ROOT / bug.caught_by).read_text(), re.MULTILINE)
    assert any(bug.only in name for name in names), "no test would catch it"


def test_every_bug_has_a_name_of_its_own() -> None:
    assert len(BUGS) >= 30 and len({bug.name for bug in BUGS}) == len(BUGS)


def test_a_name_that_is_gone_is_told() -> None:
    for name in ("blendwright.run.gone:f", "blendwright.run.rebuild:gone", "blendwright.run.runner:Runner.gone"):
        with pytest.raises(LookupError, match=f"{name} is gone"):
            find(name)


def _parameters(function: Function) -> list[str]:
    return list(inspect.signature(function).parameters)


@pytest.mark.slow
@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
def test_a_planted_bug_is_caught(bug: Bug) -> None:
    # Only the core has it: workers are processes of their own, and load no plugin.
    chosen = ["-k", bug.only] if bug.only else []
    plugins = ["-p", "no:cacheprovider", "-p", "planting"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-x", "-q", *plugins, "-m", "not slow", bug.caught_by, *chosen],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(TESTS), VARIABLE: bug.name},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == SOME_FAILED, done.stdout[-3000:] + done.stderr[-3000:]
    assert RAISED_BY_ITSELF.search(done.stdout) is None, done.stdout[-3000:]
