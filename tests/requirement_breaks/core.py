"""What is broken to prove the tests of the core requirements."""

from __future__ import annotations

from planting import Bug
from wrong_functions import changing

BREAKS: dict[str, Bug] = {
    "CORE-PHASE-05": Bug(
        "what verification finds does not count",
        "blendwright.blender.step:_StepRun._findings",
        changing(lambda findings: tuple(finding for finding in findings if finding.fault != "VERIFICATION_FAILED")),
        "tests/run/test_calls.py",
        "step_that_fails_is_taken_back[unverified",
    ),
}
