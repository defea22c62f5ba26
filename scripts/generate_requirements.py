"""Write docs/reference/requirements.md: every requirement with its tests and what was broken to prove them. --check says whether it
is current.

PYTHONPATH=tests python scripts/generate_requirements.py
PYTHONPATH=tests python scripts/generate_requirements.py --check
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from requirements import REQUIREMENTS, Requirement
from support.planting.requirement_breaks import BREAKS
from support.suite.claims import Claim, claims

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "reference" / "requirements.md"
ABOUT = """\
# Requirements

<!-- made by scripts/generate_requirements.py; do not edit -->

Every requirement of the five contracts that this project implements, in our words, with its place there (section and lines), the tests
that claim it, and what is broken in the code to show that such a test can fail. Each break is planted in a process of its own, by
`make test-slow`; the first of the tests that are named is the one that is run and has to fail then.

`pytest --proves ID` runs the tests of one requirement.
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="only say whether it is current")
    check = bool(parser.parse_args().check)
    text = "\n".join(_page()) + "\n"
    if PAGE.is_file() and PAGE.read_text("utf-8") == text:
        return 0
    if check:
        print(f"{PAGE.relative_to(ROOT)} is not current. Run: make generate")
        return 1
    PAGE.write_text(text, "utf-8")
    print(f"{PAGE.relative_to(ROOT)} written")
    return 0


def _page() -> Iterator[str]:
    yield ABOUT
    found = claims()
    yield f"{len(REQUIREMENTS)} requirements, {len(found)} claims, {len(BREAKS)} breaks."
    for document, listed in groupby(REQUIREMENTS.values(), key=lambda requirement: requirement.document):
        yield f"\n## {document}\n"
        yield "| requirement | what it asks | place | tests | broken to prove it |"
        yield "|---|---|---|---|---|"
        for requirement in listed:
            yield _row(requirement, [claim for claim in found if claim.requirement == requirement.id])


def _row(requirement: Requirement, claimed: list[Claim]) -> str:
    bug = BREAKS.get(requirement.id)
    if bug is not None:
        claimed.sort(key=lambda claim: not (claim.file == bug.caught_by and bug.only.partition("[")[0] in claim.test))
    tests = "<br>".join(f"`{claim.file.removeprefix('tests/')}` {_words(claim.test)}" for claim in claimed)
    broken = f"{bug.name}: `{bug.target.removeprefix('blendwright.')}`" if bug is not None else ""
    cells = (f"`{requirement.id}`", requirement.sentence, requirement.place, tests, broken)
    return f"| {' | '.join(cell.replace('|', '&#124;') for cell in cells)} |"


def _words(test: str) -> str:
    return test.removeprefix("test_").replace("_", " ")


if __name__ == "__main__":
    sys.exit(main())
