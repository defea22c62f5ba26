"""Attaching to a window: which clients are admitted, and what happens to a window whose core misbehaves."""

from __future__ import annotations

import os
import socket
import struct
from pathlib import Path

import pydantic
import pytest

from blendwright.wire import frames
from window.alone.core_client import CoreClient, WindowError
from window.playing import PACKAGE, PlayedWindow


def refusal(client: CoreClient, method: str = "window.attach", **params: object) -> str:
    """Return the code of the only answer, and check that the window then hangs up."""
    with pytest.raises(WindowError) as refused:
        client.call(method, **params)
    with pytest.raises((EOFError, ConnectionError)):
        client.answer()
    return refused.value.code


def attach_code(client: CoreClient, **other: object) -> str:
    with pytest.raises(WindowError) as refused:
        client.attach(**other)
    with pytest.raises((EOFError, ConnectionError)):
        client.answer()
    return refused.value.code


def test_without_the_token_nobody_is_let_in(window: PlayedWindow) -> None:
    note = window.note
    for token in ("", "0" * 64, note["token"][:-1], None):
        with CoreClient(note) as stranger:
            assert attach_code(stranger, token=token) == "wrong_token"
    with CoreClient(note) as stranger:
        assert refusal(stranger, "hello", protocol=2) == "malformed_request"
    with CoreClient(note) as core:
        assert core.attached().call("ping", n=1) == {"n": 1}


def test_a_stranger_who_announces_much_is_hung_up_on(window: PlayedWindow) -> None:
    with socket.socket(socket.AF_UNIX) as stranger:
        stranger.connect(window.note["socket"])
        stranger.settimeout(20)
        stranger.sendall(struct.pack(">I", 16 << 20))
        assert b"malformed_request" in stranger.recv(4096)
        assert stranger.recv(1) == b""


def test_a_stranger_who_says_nothing_is_hung_up_on(own_window: PlayedWindow) -> None:
    own_window.do("import blendwright_extension.connection as c; c.FIRST_SECONDS = 0.2", push=False)
    with socket.socket(socket.AF_UNIX) as stranger:
        stranger.connect(own_window.note["socket"])
        stranger.settimeout(20)
        stranger.sendall(b"\0")
        assert stranger.recv(1) == b""


def test_a_second_core_is_refused_and_the_first_does_not_notice(window: PlayedWindow, core: CoreClient) -> None:
    begun = core.begin()
    with CoreClient(window.note) as second, pytest.raises(WindowError, match=f"pid {os.getpid()}") as refused:
        second.attach()
    assert refused.value.code == "window_taken"
    assert core.end(changed=False) == begun["hash"]


def test_the_next_core_is_let_in_as_soon_as_the_first_has_hung_up(window: PlayedWindow) -> None:
    for number in range(5):
        with CoreClient(window.note) as core:
            assert core.attached().call("ping", n=number) == {"n": number}


def test_a_window_says_hello_as_a_worker_does(window: PlayedWindow) -> None:
    with CoreClient(window.note) as core:
        attached = core.attach()
        assert (attached["ok"], attached["pid"]) == (True, window.pid)
        with pytest.raises(WindowError, match="handshake_required"):
            core.call("ping")
        with pytest.raises(WindowError, match=r"package_mismatch: .*; restart Blender"):
            core.call("hello", protocol=2, package={"version": "0", "hash": "0", "python": "3"})
        profile = core.greet()["profile"]
        assert profile["confinement"]["level"] == "none" and profile["pid"] == window.pid
        scratch = Path(attached["scratch"])
        assert scratch.stat().st_mode & 0o777 == 0o700
    with CoreClient(window.note) as core:
        core.attached()
        assert not scratch.exists()


def test_another_package_than_the_loaded_one_is_refused(window: PlayedWindow, tmp_path: Path) -> None:
    with CoreClient(window.note) as core:
        core.attached()
    (tmp_path / "blendwright").mkdir()
    (tmp_path / "blendwright" / "__init__.py").touch()
    with CoreClient(window.note) as second_core:
        assert attach_code(second_core, package=str(tmp_path / "blendwright")) == "package_mismatch"
    with CoreClient(window.note) as core:
        assert core.attached(package=str(PACKAGE)).call("ping") == {}


def test_a_package_that_is_not_there_is_refused(own_window: PlayedWindow, tmp_path: Path) -> None:
    with CoreClient(own_window.note) as core:
        assert attach_code(core, package=str(tmp_path / "blendwright")) == "cannot_load"
    with CoreClient(own_window.note) as core:
        assert attach_code(core, package=7) == "malformed_request"
    with CoreClient(own_window.note) as core:
        assert core.attached().call("ping") == {}


def test_pydantic_finds_its_own_parts_and_numpy_is_blenders(own_window: PlayedWindow, tmp_path: Path) -> None:
    """Check the load with an older `typing_extensions`, as on the path of Debian's Blender or loaded by an add-on."""
    packages, system = tmp_path / "packages", tmp_path / "system"
    packages.mkdir()
    system.mkdir()
    site = Path(pydantic.__file__).parents[1]
    for name in ("pydantic", "pydantic_core", "annotated_types", "typing_inspection", "typing_extensions.py"):
        (packages / name).symlink_to(site / name)
    (packages / "numpy").mkdir()
    (packages / "numpy" / "__init__.py").write_text("raise ImportError('not this one')")
    (system / "typing_extensions.py").write_text("older = True")
    forget = "[sys.modules.pop(name) for name in list(sys.modules) if name.partition('.')[0] in ('pydantic', 'typing_extensions')]"
    own_window.do(f"import sys; {forget}; sys.path.insert(0, {str(system)!r}); import typing_extensions", push=False)
    assert own_window.ask("typing_extensions.older")
    with CoreClient(own_window.note) as core:
        core.attached(packages=[str(packages)]).begin()
        assert core.step("mesh.create_primitive", kind="cube", name="One")["ok"]
    assert own_window.ask(f"sys.modules['pydantic'].__file__.startswith({str(packages)!r})")
    assert own_window.ask("sys.path[0]") == str(system) and own_window.ask("sys.path[-1]") == str(packages)


def test_a_core_that_hangs_up_does_not_end_blender(window: PlayedWindow) -> None:
    for _ in range(3):
        core = CoreClient(window.note).attached()
        text = "x" * 100_000
        for _ in range(40):
            core.send("ping", text=text)
        core.close()
        assert window.ask("1 + 1") == 2
    assert window.ask("__import__('signal').getsignal(__import__('signal').SIGPIPE).name") == "SIG_IGN"
    assert window.is_running


def test_what_breaks_the_wire_drops_the_core_and_not_the_window(window: PlayedWindow) -> None:
    with CoreClient(window.note) as core:
        core.attached().send_bytes(struct.pack(">I", 1 << 31))
        with pytest.raises((EOFError, ConnectionError)):
            core.answer()
    with CoreClient(window.note) as core:
        core.attached().send_bytes(frames.header(b"no json") + b"no json")
        with pytest.raises(WindowError, match="malformed_request"):
            core.answer()
        assert core.call("ping") == {}


def test_a_core_that_takes_no_answers_is_dropped(window: PlayedWindow) -> None:
    with CoreClient(window.note) as core:
        core.attached().send("ping", text="x" * (16 << 20))
        # Blender waits a few seconds for it, and goes on.
        while not lets_in(window):
            assert window.ask("1 + 1") == 2


def lets_in(window: PlayedWindow) -> bool:
    with CoreClient(window.note) as second_core:
        try:
            return second_core.attached().call("ping") == {}
        except WindowError as refused:
            assert refused.code == "window_taken"
            return False
