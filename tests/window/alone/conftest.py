"""Fixtures with played windows: a private one for each test that may break it, and a shared one for each file that does not."""

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
    """Return the shared window with the factory scene, as Ctrl-N leaves it."""
    shared_window.open()
    return shared_window


@pytest.fixture
def core(window: PlayedWindow) -> Iterator[CoreClient]:
    """Return a core that is attached to the shared window."""
    with CoreClient(window.note) as client:
        yield client.attached()


@pytest.fixture
def own_window(tmp_path: Path) -> Iterator[PlayedWindow]:
    """Return a private window, which the test may end."""
    with PlayedWindow(tmp_path / "window") as window:
        yield window
