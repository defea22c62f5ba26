"""Fixtures that the whole suite shares."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from stage import Stage


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    """An empty scene in this process. Imported here, so that tests without Blender do not load it."""
    from stage import Stage

    return Stage(tmp_path)
