"""A workspace with a history, and a worker for its past."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from blendwright.engine.moves.navigation import History
from blendwright.engine.scene.rebuild import take_worker
from blendwright.wire.remote_scene import RemoteScene
from engine.moves.past import PLAN, TRIANGLE
from support.engine.engine import Engine


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """A history with all sorts of commits: a plan, an export, which changes nothing, and an import, which cannot be redone."""
    with Engine(tmp_path_factory.mktemp("history")) as engine:
        assert engine.run(PLAN).ok
        engine.do("light.create", {"name": "Key", "type": "POINT"})
        engine.do("file.export", {"path": str(engine.place / "out.stl")})
        (engine.place / "triangle.obj").write_text(TRIANGLE)
        engine.do("file.import", {"path": str(engine.place / "triangle.obj")})
        engine.do("object.transform", {"name": "Box a", "location": [1, 2, 3]})
        yield engine


@pytest.fixture
def history(engine: Engine) -> Iterator[History]:
    """Whatever a test does to HEAD, the next one finds it at the last commit of the first line."""
    last = engine.head()
    history = engine.scene.history()
    yield history
    if engine.head() != last:
        history.checkout(last.number)


@pytest.fixture(scope="module")
def worker(engine: Engine) -> RemoteScene:
    """One for all rebuilds of other commits than HEAD."""
    return take_worker(engine.pool, engine.catalogue)
