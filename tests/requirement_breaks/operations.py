"""What is broken to prove the tests of the operations requirements."""

from __future__ import annotations

from planting import Bug
from seeded_bugs import takes_no_commit_for_an_answer

BREAKS: dict[str, Bug] = {
    "OPS-IDEM-02": Bug(
        "a committed receipt is no answer, and the operation runs again",
        "blendwright.run.idempotency:classify",
        takes_no_commit_for_an_answer,
        "tests/run/test_runner.py",
        "same_plan_twice",
    ),
}
