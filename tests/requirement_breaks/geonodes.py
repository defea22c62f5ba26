"""What is broken to prove the tests of the geonodes requirements."""

from __future__ import annotations

from planting import Bug

BREAKS: dict[str, Bug] = {}
