"""A window that is played, and a workspace that is attached to it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import blendwright
from blendwright.app.attach_commands import attach
from blendwright.bridge.windows.rendezvous import DIRECTORY
from engine import UNASKED
from window.playing import PlayedWindow


@pytest.fixture
def window(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[PlayedWindow]:
    """The only window of this user, with the scene that Blender starts with."""
    played = PlayedWindow(tmp_path / "window")
    monkeypatch.setenv(DIRECTORY, str(played.windows))
    with played:
        yield played


@pytest.fixture
def scene(window: PlayedWindow, tmp_path: Path) -> Iterator[blendwright.OpenScene]:
    attach(tmp_path / "workspace")
    with blendwright.open(tmp_path / "workspace", policy=UNASKED) as opened:
        yield opened
