"""One Blender for the whole suite: starting it anew for every case would take longer than the cases."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conformance.play import Play


@pytest.fixture(scope="session")
def play(tmp_path_factory: pytest.TempPathFactory) -> Play:
    from conformance.play import Play

    return Play(tmp_path_factory.mktemp("conformance"))


_status: list[int] = []


def pytest_sessionfinish(exitstatus: int) -> None:
    _status.append(int(exitstatus))


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config: pytest.Config) -> None:
    """Blender 4.5 does not come to an end by itself once it has rendered."""
    bpy = sys.modules.get("bpy")
    if bpy is not None and bpy.app.version < (5, 0, 0) and not hasattr(config, "workerinput"):
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(_status[-1] if _status else 0)
