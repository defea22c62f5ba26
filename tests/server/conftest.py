from __future__ import annotations

from collections.abc import Generator

import pytest

from blendwright.server.context import ServerContext
from support.hosts.mcp import ERAS, Era, served


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> Generator[ServerContext]:
    """One Blender for a whole file: its tests use names of their own."""
    with served(tmp_path_factory.mktemp("served") / "workspace") as context:
        yield context


@pytest.fixture(params=ERAS)
def era(request: pytest.FixtureRequest) -> Era:
    return request.param
