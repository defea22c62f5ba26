"""Fleets for tests: every test here is marked `fleet`, and has an empty database of a PostgreSQL that runs for all of them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from blendwright.fleet.address import VARIABLE, Address
from blendwright.fleet.database import Database
from fleet.cluster import Cluster, running_cluster
from fleet.machines import Machines

_numbers = count(1)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if item.path.is_relative_to(here):
            item.add_marker(pytest.mark.fleet)
            item.add_marker(pytest.mark.real_starts)
            item.add_marker(pytest.mark.timeout(3600))


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    with running_cluster() as cluster:
        yield cluster


@pytest.fixture
def database_url(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> str:
    """Of an empty database; commands find it in the environment."""
    url = cluster.new_database(f"fleet_{next(_numbers)}")
    monkeypatch.setenv(VARIABLE, url)
    return url


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    database = Database(Address("the database", database_url)).open()
    yield database
    database.close()


@pytest.fixture
def machines(tmp_path: Path, database_url: str) -> Iterator[Machines]:
    machines = Machines(tmp_path)
    yield machines
    machines.end()
