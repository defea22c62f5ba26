"""One engine per module: starting Blender is what costs."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from engine import Engine


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    with Engine(tmp_path_factory.mktemp("engine")) as engine:
        engine.do("object.create_empty", {"name": "Anchor", "location": [1, 2, 3]})
        yield engine
