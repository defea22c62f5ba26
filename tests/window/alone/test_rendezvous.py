"""The rendezvous directory of a window: it is private and complete, and its files disappear with the window."""

from __future__ import annotations

import importlib
import json
import os
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from window.alone.core_client import CoreClient, notes
from window.playing import PlayedWindow, copy_extension


@pytest.fixture(scope="module")
def rendezvous(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Return the extension's module, imported as Blender would import it."""
    parent = copy_extension(tmp_path_factory.mktemp("extension"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", [str(parent), *sys.path])
        yield importlib.import_module("blendwright_extension.rendezvous")


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


def test_only_the_owner_may_look(rendezvous: Any, tmp_path: Path) -> None:
    directory = tmp_path / "blendwright" / "windows"
    opened = rendezvous.Rendezvous(directory)
    opened.write({"file": "/a.blend"})
    try:
        assert [mode(tmp_path / "blendwright"), mode(directory)] == [0o700, 0o700]
        assert {name: mode(directory / name) for name in notes(directory)} == {
            f"{os.getpid()}.json": 0o600,
            f"{os.getpid()}.sock": 0o600,
        }
        note = json.loads((directory / f"{os.getpid()}.json").read_text())
        assert note["file"] == "/a.blend" and note["pid"] == os.getpid() and len(note["token"]) == 64
    finally:
        opened.close()
    assert notes(directory) == []


def test_a_directory_that_is_not_private_is_refused(rendezvous: Any, tmp_path: Path) -> None:
    (tmp_path / "open").mkdir(mode=0o755)
    (tmp_path / "private").mkdir(mode=0o700)
    (tmp_path / "link").symlink_to(tmp_path / "private")
    (tmp_path / "file").touch(0o600)
    for name in ("open", "link", "file"):
        with pytest.raises(rendezvous.NotPrivate):
            rendezvous.Rendezvous(tmp_path / name)
    # What is above it counts where it is ours by name.
    (tmp_path / "blendwright-1").mkdir(mode=0o777)
    (tmp_path / "blendwright-1").chmod(0o777)
    with pytest.raises(rendezvous.NotPrivate):
        rendezvous.Rendezvous(tmp_path / "blendwright-1" / "windows")


def test_what_a_killed_blender_left_is_removed(rendezvous: Any, tmp_path: Path) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    tmp_path.chmod(0o700)
    for pid in (ended.pid, os.getppid()):
        (tmp_path / f"{pid}.json").touch()
        (tmp_path / f"{pid}.sock").touch()
    rendezvous.remove_dead(tmp_path)
    assert notes(tmp_path) == [f"{os.getppid()}.json", f"{os.getppid()}.sock"]


def test_where_no_socket_fits_it_listens_on_loopback(rendezvous: Any, tmp_path: Path) -> None:
    directory = tmp_path / ("long" * 30)
    opened = rendezvous.Rendezvous(directory)
    opened.write({})
    try:
        note = json.loads((directory / f"{os.getpid()}.json").read_text())
        assert note["socket"] is None
        socket.create_connection(("127.0.0.1", note["port"])).close()
        assert opened.listener.getsockname()[0] == "127.0.0.1"
    finally:
        opened.close()


def test_the_directory_follows_the_environment(rendezvous: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", "/run/user/7")
    assert rendezvous.directory() == Path("/run/user/7/blendwright/windows")
    monkeypatch.setenv("BLENDWRIGHT_WINDOWS", "/elsewhere")
    assert rendezvous.directory() == Path("/elsewhere")
    monkeypatch.delenv("BLENDWRIGHT_WINDOWS")
    monkeypatch.delenv("XDG_RUNTIME_DIR")
    assert rendezvous.directory().parent.name == f"blendwright-{os.getuid()}"


def test_a_window_says_which_file_it_has_open_and_goes_without_a_trace(
    own_window: PlayedWindow, tmp_path: Path
) -> None:
    assert own_window.note["file"] == ""
    own_window.save(tmp_path / "mine.blend")
    assert own_window.note["file"] == str(tmp_path / "mine.blend")
    own_window.open()
    assert own_window.note["file"] == ""
    own_window.disconnect()
    assert notes(own_window.windows) == []
    own_window.connect()
    with CoreClient(own_window.note) as core:
        core.attached()
        own_window.stop()
        with pytest.raises((EOFError, ConnectionError)):
            core.call("ping")
    assert notes(own_window.windows) == []
