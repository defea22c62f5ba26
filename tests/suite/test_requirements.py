"""Requirements, the tests that claim them and what is broken to prove those tests name each other; each break is caught."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from requirements import REQUIREMENTS
from support.planting.planting import Bug, can_be_planted, environment_with, raised_by_itself
from support.planting.requirement_breaks import BREAKS, TABLES
from support.suite.claims import Claim, claims
from support.suite.in_one_test import in_one_test

ROOT = Path(__file__).parents[2]
BROKEN = [pytest.param(id, bug, id=id) for id, bug in BREAKS.items()]


def test_every_requirement_is_proven_by_a_test() -> None:
    unproven = REQUIREMENTS.keys() - {claim.requirement for claim in claims()}
    assert not unproven, sorted(unproven)


def test_every_claim_names_a_known_requirement() -> None:
    unknown = [claim for claim in claims() if claim.requirement not in REQUIREMENTS]
    assert not unknown, unknown


def test_no_test_claims_more_than_a_reader_can_check() -> None:
    count: dict[tuple[str, str], int] = {}
    for claim in claims():
        place = (claim.file, claim.test)
        count[place] = count.get(place, 0) + 1
    assert not [place for place, ids in count.items() if ids > 5]


def test_every_requirement_has_a_break() -> None:
    assert BREAKS.keys() == REQUIREMENTS.keys()
    assert sum(len(table) for table in TABLES) == len(BREAKS), "a requirement has two breaks"


def test_the_tables_of_bugs_are_read_without_the_engine() -> None:
    code = "import sys; from support.planting import requirement_breaks, seeded_bugs; sys.exit('blendwright' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], env=os.environ | {"PYTHONPATH": str(ROOT / "tests")}, check=True)


@in_one_test({id: (id, bug) for id, bug in BREAKS.items()})
def test_every_break_can_be_planted_and_has_a_test_that_claims_the_requirement(broken: tuple[str, Bug]) -> None:
    id, bug = broken
    can_be_planted(bug)
    assert claiming(id, bug), f"no test of {bug.caught_by} with '{bug.only}' in its name claims {id}"


def claiming(id: str, bug: Bug) -> list[Claim]:
    """The tests that a break must be caught by."""
    found = (claim for claim in claims() if claim.requirement == id and claim.file == bug.caught_by)
    return [claim for claim in found if bug.only.partition("[")[0] in claim.test]


def _run(*arguments: str, environment: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-rf", "-p", "no:cacheprovider", *arguments],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.slow
@pytest.mark.parametrize(("id", "bug"), BROKEN)
def test_a_broken_requirement_is_caught(id: str, bug: Bug) -> None:
    chosen = ["-k", bug.only] if bug.only else []
    done = _run("-x", "--proves", id, bug.caught_by, *chosen, environment=environment_with(id))
    told = done.stdout[-3000:] + done.stderr[-3000:]
    # Not the error of a fixture: the test itself has to fail.
    assert re.search(r"^FAILED ", done.stdout, re.MULTILINE), told
    assert not raised_by_itself(done.stdout), told


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_without_a_break_the_same_tests_pass() -> None:
    ids = [part for id in BREAKS for part in ("--proves", id)]
    names = " or ".join({bug.only or Path(bug.caught_by).stem for bug in BREAKS.values()})
    done = _run(*ids, "-k", names, *sorted({bug.caught_by for bug in BREAKS.values()}))
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
