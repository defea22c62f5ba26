"""What is broken to prove the tests of the operations requirements."""

from __future__ import annotations

from support.planting.planting import Bug
from support.planting.requirement_breaks import operations_plans, operations_runs

BREAKS: dict[str, Bug] = operations_plans.BREAKS | operations_runs.BREAKS
