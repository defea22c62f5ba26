"""Malicious or broken cores that have the token: the user's Blender keeps running and loses nothing."""

from __future__ import annotations

import json
import os
from pathlib import Path
from time import sleep
from typing import Any

import pytest

from blendwright.wire import frames
from window.alone.core_client import CoreClient, WindowError
from window.playing import PlayedWindow


def code_of(core: CoreClient, method: str, **params: Any) -> str:
    with pytest.raises(WindowError) as refused:
        core.call(method, **params)
    return refused.value.code


@pytest.mark.slow
def test_a_core_that_takes_its_answers_bit_by_bit_is_hung_up_on(own_window: PlayedWindow) -> None:
    own_window.do("import blendwright_extension.connection as c; c.SEND_SECONDS = 1", push=False)
    size = 16 << 20
    with CoreClient(own_window.note) as core:
        core.attached().send("ping", n="x" * size)
        received = 0
        # All of it would take half a minute at this pace.
        while part := core.receive_bytes(32 << 10):
            received += len(part)
            sleep(0.05)
    assert received < size
    assert own_window.ask("1 + 1") == 2
    with CoreClient(own_window.note) as core:
        core.attached()


def test_a_token_that_is_no_text_is_a_wrong_one(window: PlayedWindow) -> None:
    body = b'{"id": 1, "method": "window.attach", "params": {"token": "\\ud800", "package": "/"}}'
    with CoreClient(window.note) as stranger:
        stranger.send_bytes(frames.header(body) + body)
        with pytest.raises(WindowError) as refused:
            stranger.answer()
    assert refused.value.code == "wrong_token"


@pytest.mark.parametrize("broken", ["close", pytest.param("take", marks=pytest.mark.slow)])
def test_whatever_fails_in_a_session_the_next_core_is_served(own_window: PlayedWindow, broken: str) -> None:
    fails = f"session.{broken} = lambda *_: 1 / 0"
    with CoreClient(own_window.note) as core:
        core.attached()
        own_window.do("import blendwright_extension.open_window as o; session = o.this_window.session\n" + fails)
        core.send("ping", n=1)
        if broken == "take":
            with pytest.raises((EOFError, ConnectionError)):
                core.answer()
        else:
            assert core.answer() == {"n": 1}
    with CoreClient(own_window.note) as core:
        assert core.attached().call("ping", n=2) == {"n": 2}


def test_a_core_saves_over_nothing_and_waits_for_no_pipe(window: PlayedWindow, tmp_path: Path) -> None:
    mine = tmp_path / "mine.blend"
    window.save(mine)
    before = mine.read_bytes()
    with CoreClient(window.note) as again:
        again.attached(scratch=str(tmp_path))
        window.do("bpy.data.objects['Cube'].location.x = 9")
        os.mkfifo(tmp_path / "pipe.blend")
        (tmp_path / "link.blend").symlink_to(tmp_path / "nowhere.blend")
        for path in (mine, tmp_path / "pipe.blend", tmp_path / "link.blend"):
            assert code_of(again, "window.save", path=str(path)) == "malformed_request"
        # The directory that a core names is not where it works.
        again.call("scene.save", path="mine.blend")
        begun = again.begin()
        pipe = str(tmp_path / "pipe.blend")
        assert code_of(again, "window.bring", path=pipe, changes=[], after=begun["hash"]) == "malformed_request"
        again.end(changed=False)
        assert code_of(again, "window.load", path=pipe) == "malformed_request"
    assert mine.read_bytes() == before and not (tmp_path / "nowhere.blend").exists()


def test_what_was_not_saved_is_kept_when_another_scene_is_brought_in(
    window: PlayedWindow, core: CoreClient, tmp_path: Path
) -> None:
    core.call("window.save", path=str(tmp_path / "restored.blend"))
    window.do("bpy.data.objects['Cube'].name = 'Unsaved'")
    core.call("window.load", path=str(tmp_path / "restored.blend"))
    assert window.ask("'Cube' in bpy.data.objects")
    window.do("bpy.data.objects['Cube'].name = 'Unsaved too'")
    core.call("window.load", path=str(tmp_path / "restored.blend"))
    for file_name, name in (("restored-before.blend", "Unsaved"), ("restored-before1.blend", "Unsaved too")):
        window.open(tmp_path / file_name)
        assert window.ask(f"{name!r} in bpy.data.objects")


def test_a_file_that_cannot_be_opened_leaves_the_window_ready(
    window: PlayedWindow, core: CoreClient, tmp_path: Path
) -> None:
    broken = tmp_path / "broken.blend"
    broken.write_bytes(b"BLENDER-v402" + b"x" * 300)
    before = core.begin()["hash"]
    core.end(changed=False)
    assert code_of(core, "window.load", path=str(broken)) == "internal_error"
    with pytest.raises(AssertionError, match="failed"):
        window.open(broken)
    begun = core.begin()
    assert begun["reasons"] == [] and begun["hash"] == before
    core.end(changed=False)


HOSTILE = "a\u202eb\ud800c\0d\x1b[31m\n{0}%s%n" + "x" * 10_000


def test_hostile_labels_are_names_of_undo_steps_all_the_same(window: PlayedWindow, core: CoreClient) -> None:
    window.do("bpy.data.objects['Cube'].location.x = 3")
    core.begin(HOSTILE)
    core.step("object.delete", name="Cube")
    running = {"label": HOSTILE, "operation": HOSTILE, "done": 1, "total": 2}
    core.call("window.show", plans=[{"label": HOSTILE}], running=running, approvals=[], core={})
    window.do("import blendwright_extension.open_window as o", push=False)
    activity = window.ask("o.this_window.session.status.activity()")
    core.end(HOSTILE)
    assert not window.ask("'Cube' in bpy.data.objects") and activity.isprintable() and len(activity) < 500
    window.undo()
    assert window.ask("'Cube' in bpy.data.objects")


def test_requests_of_every_shape_are_answered(window: PlayedWindow, core: CoreClient) -> None:
    """Check requests that a real core would never send: the conversation continues after each of them."""
    core.begin()
    odd: list[Any] = [None, 7, [], {}, "x", [[]], [["objects"]], [[{}, [], 3]], [["objects", "Cube", "removed", "x"]]]
    file = str(window.directory / "odd.blend")
    if not Path(file).exists():
        core.call("window.save", path=file)
    for value in odd:
        assert isinstance(answered(core, "window.bring", path=file, changes=value, after=value), dict | str)
        for method in ("scene.step", "scene.bulk", "scene.redo", "scene.hash", "window.begin", "window.end"):
            answered(core, method, steps=value, tool=value, label=value, full=value, changed=value)
    for body in (b"", b"{", b"[" * 100_000, b'{"id": 1e400}', json.dumps({"id": True}).encode()):
        core.send_bytes(frames.header(body) + body)
        with pytest.raises(WindowError):
            core.answer()
    assert core.call("ping", n=1) == {"n": 1}


def answered(core: CoreClient, method: str, **params: Any) -> Any:
    try:
        return core.call(method, **params)
    except WindowError as error:
        return error.code
