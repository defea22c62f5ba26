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


@pytest.fixture
def checked(engine: Engine) -> Iterator[None]:
    """After the test the scene that HEAD names is the one in the worker, and the audit chain holds."""
    yield
    assert engine.full_hash() == engine.scene.hash == engine.head().hash_after
    assert engine.journal.verify_audit().ok
