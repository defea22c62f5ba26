"""A window on a system without Unix sockets and other Unix features, as on Windows: a local port and the token."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

import blendwright
from blendwright.values.errors import EnvironmentUnfit
from blendwright.window.attach import attach
from blendwright.window.connection import rendezvous
from blendwright.window.connection.rendezvous import DIRECTORY, window_of
from blendwright.window.connection.window import connect
from window.playing import PlayedWindow
from window.test_stories import cubes, in_step


def test_nobody_is_sent_a_signal_where_signals_are_other_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    note = {
        "protocol": rendezvous.PROTOCOL, "pid": 4_000_000, "blender": "5.2.0", "python": "3.13.0", "binary": "", "file": "",
        "token": "x", "started": 1.0, "socket": None, "port": 9,
    }  # fmt: skip
    directory = tmp_path / "windows"
    directory.mkdir(mode=0o700)
    file = directory / "4000000.json"
    file.write_text(json.dumps(note))
    file.chmod(0o600)
    monkeypatch.setenv(DIRECTORY, str(directory))
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr(rendezvous, "os", SimpleNamespace(**{**vars(os), "name": "nt", "kill": None}))
        assert [window.pid for window in rendezvous.open_windows()] == [4_000_000]
    assert rendezvous.open_windows() == [], "here it is known to be gone"


def test_a_window_without_unix_sockets_is_worked_in_over_a_port(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with PlayedWindow(tmp_path / "window", elsewhere=True) as window:
        monkeypatch.setenv(DIRECTORY, str(window.windows))
        assert window.note["socket"] is None and not list(window.windows.glob("*.sock"))
        info = window_of(window.pid)
        assert info is not None and info.port == window.note["port"]
        with pytest.raises(EnvironmentUnfit, match="token"):
            connect(replace(info, token="0" * 64))
        attach(tmp_path / "workspace")
        with blendwright.open(tmp_path / "workspace") as scene:
            before = window.fingerprint()
            assert scene.run(cubes("boxes", *[f"Box{number}" for number in range(40)])).status == "succeeded"
            assert in_step(window, scene)
            with pytest.raises(EnvironmentUnfit, match="attached"):
                attach(tmp_path / "second")
            window.undo()
            assert window.fingerprint() == before
        # A core that has hung up makes way for the next one.
        with blendwright.open(tmp_path / "workspace") as scene:
            assert scene.run(cubes("again", "Again")).status == "succeeded" and in_step(window, scene)
