"""Fixtures: a village scene with datablocks of every kind, and a trial on it."""

from __future__ import annotations

from pathlib import Path

import pytest
from trial import Trial
from village import build


@pytest.fixture
def village(tmp_path: Path) -> Trial:
    trial = Trial(tmp_path)
    trial.given(build)
    return trial


@pytest.fixture
def trial(tmp_path: Path) -> Trial:
    return Trial(tmp_path)
