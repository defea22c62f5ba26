"""What modifiers are put on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from support.stage.stage import Stage


@pytest.fixture
def box(stage: Stage) -> Stage:
    """A stage with a cube named Box and a sphere named Ball beside it."""
    stage.do("mesh.create_primitive", {"kind": "cube", "name": "Box"})
    stage.do("mesh.create_primitive", {"kind": "ico_sphere", "name": "Ball", "location": [1, 1, 1]})
    return stage
