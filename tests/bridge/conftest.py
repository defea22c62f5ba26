"""Real workers for the tests of the bridge."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from blendwright.bridge.pool import Pool
from blendwright.bridge.sources.python_environment import PythonEnvironment
from blendwright.bridge.spawn import WorkerSettings
from blendwright.bridge.worker import WorkerProcess
from support.engine.engine import TRIALS


@pytest.fixture(scope="session")
def settings(tmp_path_factory: pytest.TempPathFactory) -> WorkerSettings:
    """Workers with the methods that misbehave on purpose."""
    return WorkerSettings(tmp_path_factory.mktemp("scratch"), environment=TRIALS)


@pytest.fixture
def own_settings(tmp_path: Path) -> WorkerSettings:
    """The same, with a scratch root that no other test uses."""
    return WorkerSettings(tmp_path / "scratch", environment=TRIALS)


@pytest.fixture(scope="session")
def pool(settings: WorkerSettings) -> Iterator[Pool]:
    """Shared by the tests that end a worker: the next one starts while the last one is in use."""
    with PythonEnvironment().open_pool(settings) as pool:
        yield pool


@pytest.fixture(scope="session")
def worker(pool: Pool) -> WorkerProcess:
    """Shared by the tests that leave a worker as it was."""
    return pool.take()


@pytest.fixture
def mortal(pool: Pool) -> WorkerProcess:
    """A worker that the test may kill."""
    worker = pool.take()
    pool.warm()
    return worker
