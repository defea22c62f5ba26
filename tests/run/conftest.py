"""One engine per module: starting Blender is what costs."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from blendwright.policy.policy import Policy
from engine import Engine
from run.approval_calls import Clock


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
    assert engine.journal.audit.verify().ok


@pytest.fixture
def asking(engine: Engine) -> Iterator[Engine]:
    """The engine under the default policy: what destroys is asked about."""
    with engine.under(Policy()):
        yield engine


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)
