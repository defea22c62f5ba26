"""Run by every Python that has this directory in its path, before anything else: plants the bug that the environment names."""

from __future__ import annotations

import sys
from pathlib import Path

TESTS = str(Path(__file__).resolve().parents[3])

sys.path.insert(0, TESTS)
from support.planting import planting  # noqa: E402 - found only now

planting.plant_named_bug()
# What is tested must not find the modules of the tests by accident.
sys.path.remove(TESTS)
