"""What is broken to prove the tests of the execution requirements."""

from __future__ import annotations

from support.planting.planting import Bug
from support.planting.requirement_breaks import execution_answers, execution_calls

BREAKS: dict[str, Bug] = execution_calls.BREAKS | execution_answers.BREAKS
