"""What is broken to prove the tests of the core requirements."""

from __future__ import annotations

from planting import Bug

BREAKS: dict[str, Bug] = {}
