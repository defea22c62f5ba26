"""What is broken to prove the tests of the geonodes requirements."""

from __future__ import annotations

from support.planting.planting import Bug
from support.planting.requirement_breaks import geonodes_plans, geonodes_trees

BREAKS: dict[str, Bug] = geonodes_plans.BREAKS | geonodes_trees.BREAKS
