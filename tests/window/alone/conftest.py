"""Played windows for tests: one for each test that may break it, one for a file that only looks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from window.alone.core_client import CoreClient
from window.playing import PlayedWindow


@pytest.fixture(scope="module")
def shared_window(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PlayedWindow]:
    with PlayedWindow(tmp_path_factory.mktemp("window")) as window:
        yield window


@pytest.fixture
def window(shared_window: PlayedWindow) -> PlayedWindow:
    """A window with the factory's scene, as Ctrl-N leaves it."""
    shared_window.open()
    return shared_window


@pytest.fixture
def core(window: PlayedWindow) -> Iterator[CoreClient]:
    """An attached core."""
    with CoreClient(window.note) as client:
        yield client.attached()


@pytest.fixture
def own_window(tmp_path: Path) -> Iterator[PlayedWindow]:
    """A window that the test may end."""
    with PlayedWindow(tmp_path / "window") as window:
        yield window
