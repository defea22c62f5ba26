"""A stage for files with many short tests: making it anew for each would take longer than the tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from support.stage.stage import Stage


@pytest.fixture(scope="module")
def kept_stage(tmp_path_factory: pytest.TempPathFactory) -> Stage:
    """One scene for a whole file, saved empty."""
    from support.stage.stage import Stage

    stage = Stage(tmp_path_factory.mktemp("stage"))
    stage.state.save(stage.scratch / "empty.blend")
    return stage


@pytest.fixture
def stage(kept_stage: Stage) -> Stage:
    """The scene of the file, emptied by opening what was saved: ten times faster than a reset."""
    kept_stage.state.open(kept_stage.scratch / "empty.blend")
    return kept_stage
