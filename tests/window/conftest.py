"""Fixtures: a played window, and a workspace that is attached to it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import blendwright
from blendwright.window.attach import attach
from blendwright.window.connection.rendezvous import DIRECTORY
from support.engine.engine import UNASKED
from window.playing import PlayedWindow


@pytest.fixture(scope="module")
def kept_window(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PlayedWindow]:
    """Return a window for a whole file, because starting a process takes longer than most tests."""
    played = PlayedWindow(tmp_path_factory.mktemp("window"))
    yield played
    played.stop()


@pytest.fixture
def window(kept_window: PlayedWindow, monkeypatch: pytest.MonkeyPatch) -> PlayedWindow:
    """Return the only window of this user, with Blender's start-up scene."""
    monkeypatch.setenv(DIRECTORY, str(kept_window.windows))
    if kept_window.is_running:
        kept_window.open()
        kept_window.answer_next("")
    else:
        kept_window.start()
    return kept_window


@pytest.fixture
def scene(window: PlayedWindow, tmp_path: Path) -> Iterator[blendwright.OpenScene]:
    attach(tmp_path / "workspace")
    with blendwright.open(tmp_path / "workspace", policy=UNASKED) as opened:
        yield opened
