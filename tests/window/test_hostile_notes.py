"""Hostile files in the directory of the windows' notes: nothing hangs, and only a window's data is trusted."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from blendwright.values.errors import EnvironmentUnfit
from blendwright.window.connection import window as windows
from blendwright.window.connection.rendezvous import DIRECTORY, open_windows
from blendwright.wire import frames
from blendwright.wire.package_version import this_package

NOBODY = 65534
HOSTILE = "a\u202eb\x1b[31m\n{0}%s" + "x" * 10_000
as_root = pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can be somebody else")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "w"
    path.mkdir(mode=0o700)
    monkeypatch.setenv(DIRECTORY, str(path))
    return path


def leave(place: Path, name: str | None = None, **other: Any) -> Path:
    """Write a valid note with the given fields replaced, and return its path."""
    note = {
        "protocol": 1, "pid": os.getpid(), "blender": "5.2.0", "python": sys.version.split()[0], "binary": "", "file": "",
        "socket": str(place / "s"), "port": None, "token": "t", "started": 1.0,
    } | other  # fmt: skip
    path = place / (name or f"{note['pid']}.json")
    path.touch(0o600)
    path.write_text(json.dumps(note), "utf-8")
    return path


def test_what_is_no_note_is_passed_over(place: Path, tmp_path: Path) -> None:
    os.mkfifo(place / "1.json", 0o600)  # opening it would wait for ever
    (place / "2.json").touch(0o600)
    (place / "2.json").write_text("[" * 16_000)
    leave(place, pid=10**30)
    leave(place, pid=-1)
    leave(place, pid=True, name="True.json")
    leave(place, name="3.json")  # a note of another process than its name says
    (place / "4.json").symlink_to(leave(tmp_path, name="elsewhere.json", pid=4))
    (place / "5.json").mkdir(mode=0o700)
    for value in (10**400, float("nan"), float("inf"), -1):
        leave(place, started=value)
        assert open_windows() == []
    for port in (0, 1 << 16, 10**30):
        leave(place, socket=None, port=port)
        assert open_windows() == []
    leave(place).chmod(0o644)  # others could have read the token
    assert open_windows() == []
    (place / f"{os.getpid()}.json").chmod(0o600)
    assert [window.pid for window in open_windows()] == [os.getpid()]


def test_a_window_has_a_name_of_one_line(place: Path) -> None:
    leave(place, file=f"/home/{HOSTILE[:3000]}", blender=HOSTILE[:3000])
    [window] = open_windows()
    assert window.name.isprintable() and len(window.name) <= 300


@as_root
def test_a_directory_that_somebody_else_made_first_is_not_believed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    above = tmp_path / "blendwright-0"
    directory = above / "windows"
    directory.mkdir(parents=True, mode=0o700)
    above.chmod(0o700)
    leave(directory)
    monkeypatch.setenv(DIRECTORY, str(directory))
    assert len(open_windows()) == 1
    os.chown(above, NOBODY, NOBODY)
    with pytest.raises(EnvironmentUnfit, match="other users can write"):
        open_windows()
    os.chown(above, 0, 0)
    os.chown(directory, NOBODY, NOBODY)
    with pytest.raises(EnvironmentUnfit, match="other users can write"):
        open_windows()
    os.chown(directory, 0, 0)
    os.chown(directory / f"{os.getpid()}.json", NOBODY, NOBODY)
    assert open_windows() == []


SPY = """
import os, socket, sys
os.setgroups([]); os.setgid(65534); os.setuid(65534)
place, note, address = sys.argv[1:]
tries = [lambda: os.listdir(place), lambda: open(note), lambda: socket.socket(socket.AF_UNIX).connect(address)]
for attempt in tries:
    try: attempt()
    except PermissionError: print('refused')
"""


@as_root
def test_another_user_sees_neither_note_nor_socket(tmp_path: Path) -> None:
    with tempfile.TemporaryDirectory() as parent:
        Path(parent).chmod(0o755)  # as the directory for temporary files is
        directory = Path(parent) / "windows"
        directory.mkdir(mode=0o700)
        note, address = leave(directory), directory / "s"
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(str(address))
            listening.listen(1)
            for _ in range(2):
                ran = subprocess.run(
                    [sys.executable, "-c", SPY, str(directory), str(note), str(address)],
                    capture_output=True, text=True, check=True,
                )  # fmt: skip
                assert ran.stdout.split() == ["refused"] * (3 if directory.stat().st_mode & 0o077 == 0 else 2)
                # Were the directory open by mistake, the modes of both would still hold.
                address.chmod(0o600)
                directory.chmod(0o755)


# ---------------------------------------------------------------------- windows that lie before they have said hello


class FakeWindow:
    """A socket that answers each request with the next of these bytes, and keeps the connection open."""

    def __init__(self, place: Path, *answers: bytes) -> None:
        self._listening = socket.socket(socket.AF_UNIX)
        self._listening.bind(str(place / "s"))
        self._listening.listen(1)
        self._answers = answers
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        connection, _ = self._listening.accept()
        with connection, connection.makefile("rb") as reader:
            try:
                for answer in self._answers:
                    frames.read_frame(reader)  # pyright: ignore[reportArgumentType]
                    connection.sendall(answer)
                reader.read()
            except OSError:
                pass

    def close(self) -> None:
        self._listening.close()


def frame(answer: Any) -> bytes:
    body = json.dumps(answer).encode()
    return frames.header(body) + body


ATTACHED = frame({"id": 1, "result": {"ok": True}})
HELLO: dict[str, Any] = {"protocol": frames.PROTOCOL, "package": this_package(), "profile": {}, "catalogue": "x"}
LIES: dict[str, tuple[bytes, ...]] = {
    "no JSON": (b"\0\0\0\3abc",),
    "announces too much": (b"\xff\xff\xff\xff",),
    "half a frame": (b"\0\0\1\0abc",),
    "nothing": (b"",),
    "the answer to another request": (frame({"id": 7, "result": {}}),),
    "two answers": (ATTACHED + ATTACHED,),
    "an answer without an id": (frame({"id": None, "error": {"code": "x", "message": HOSTILE}}),),
    "an error of many lines": (frame({"id": 1, "error": {"code": HOSTILE, "message": HOSTILE}}),),
    "a hello that is a list": (ATTACHED, frame({"id": 2, "result": []})),
    "a hello that is null": (ATTACHED, frame({"id": 2, "result": None})),
    "a hello of another package": (ATTACHED, frame({"id": 2, "result": HELLO | {"package": HOSTILE}})),
    "a package of lists": (ATTACHED, frame({"id": 2, "result": HELLO | {"package": {"version": [HOSTILE]}}})),
    "a profile of nothing": (ATTACHED, frame({"id": 2, "result": HELLO})),
    "a profile that is deep": (ATTACHED, frame({"id": 2, "result": HELLO | {"profile": json.loads("[" * 500 + "]" * 500)}})),
    "a profile of hostile text": (ATTACHED, frame({"id": 2, "result": HELLO | {"profile": {HOSTILE: HOSTILE}}})),
}  # fmt: skip


@pytest.fixture
def fake(place: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeWindow]:
    monkeypatch.setattr(windows, "HELLO_SECONDS", 0.3)
    leave(place)
    window = FakeWindow(place, *LIES[request.param])
    yield window
    window.close()


@pytest.mark.parametrize("fake", LIES, indirect=True)
def test_a_window_that_lies_is_refused_in_one_line(fake: FakeWindow) -> None:
    [window] = open_windows()
    with pytest.raises(EnvironmentUnfit) as refused:
        windows.connect(window)
    assert refused.value.message.isprintable() and len(refused.value.message) < 1000
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("blendwright-window")]
