"""Windows that lie after `hello`: no scene without a headless check, no followed link, and no forged approval is accepted."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import blendwright
from blendwright.values.errors import BlendwrightError
from blendwright.window.attach import attach
from blendwright.window.connection.rendezvous import DIRECTORY
from window.playing import PlayedWindow
from window.tampering import TamperedWindow

Change = Callable[[dict[str, Any], dict[str, Any]], dict[str, Any] | None]


@pytest.fixture
def tampered(window: PlayedWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[TamperedWindow]:
    with TamperedWindow(window, tmp_path / "t") as between:
        monkeypatch.setenv(DIRECTORY, str(between.windows))
        attach(tmp_path / "workspace")
        yield between


def changing(method: str, change: Change) -> Callable[[str, dict[str, Any], dict[str, Any]], dict[str, Any]]:
    """Return a tamper function for the answers to one method. `change` receives the parameters and the result."""

    def tamper(asked: str, params: dict[str, Any], answer: dict[str, Any]) -> dict[str, Any]:
        if asked == method and "result" in answer:
            return {**answer, "result": change(params, answer["result"]) or answer["result"]}
        return answer

    return tamper


def put(make: Callable[[Path], object]) -> Change:
    """Return a change that replaces the file that the window has saved by one from `make`."""

    def change(params: dict[str, Any], result: dict[str, Any]) -> None:
        path = Path(params["path"])
        path.unlink()
        make(path)

    return change


SECRET = "not for the journal"
SAVED: dict[str, Callable[[Path], object]] = {
    "nothing": lambda path: None,
    "a pipe": lambda path: os.mkfifo(path),
    "a link": lambda path: path.symlink_to(path.parents[3] / "secret"),
    "a directory": lambda path: path.mkdir(),
    "a bomb": lambda path: (path.touch(), os.truncate(path, 9 << 30)),
    "garbage": lambda path: path.write_bytes(b"BLENDER-v502" + b"x" * 999),
}


def test_what_a_window_saves_and_says_is_checked(
    window: PlayedWindow, tampered: TamperedWindow, tmp_path: Path
) -> None:
    (tmp_path / "secret").write_text(SECRET)
    with blendwright.open(tmp_path / "workspace") as scene:
        before = scene.journal.head
        window.do("bpy.data.objects['Cube'].location.x = 5")
        lies = [changing("window.save", put(make)) for make in SAVED.values()]
        lies += [
            changing("window.begin", lambda _, result: {**result, "hash": result["hash"][:-4] + "beef"}),
            changing("window.begin", lambda _, result: {**result, "hash": "x" * 10_000}),
            changing("window.begin", lambda _, result: {**result, "more": 1}),
        ]
        for lie in lies:
            tampered.tamper = lie
            with pytest.raises(BlendwrightError):
                scene.call("scene.snapshot")
            assert scene.journal.head == before
        assert not [file for file in (tmp_path / "workspace").rglob("*") if _holds(file, SECRET)]
        tampered.tamper = lambda method, params, answer: answer
        scene.call("scene.snapshot")
        head = scene.journal.head
        assert head is not None and head.hash_after == window.fingerprint() and head.tool == "window.edit"
        window.do("bpy.data.objects['Cube'].name = 'a\\u202eb\\n{0}%s\\x1b[31m'")
        scene.call("scene.snapshot")
        assert scene.journal.head is not None and str(scene.journal.head.receipt["summary"]).isprintable()


def _holds(file: Path, text: str) -> bool:
    return file.is_file() and not file.is_symlink() and text.encode() in file.read_bytes()


def test_an_answer_to_another_question_is_none(window: PlayedWindow, tampered: TamperedWindow, tmp_path: Path) -> None:
    """Check that an answer never applies to a later question or another session, since ids are random."""
    question_ids: list[str] = []
    made_up: list[dict[str, Any]] = [{"id": each, "answer": "approve"} for each in ("", None, 0)]
    made_up += [{"id": [], "answer": []}, {}]
    of_no_kind: list[Any] = [[], {}, None, True]

    def answers(params: dict[str, Any], result: dict[str, Any]) -> dict[str, Any] | None:
        if not params["approvals"]:
            return None
        question_ids.append(params["approvals"][0]["id"])
        # At last a no, so that the question ends.
        last = [{"id": question_ids[-1], "answer": "decline"}] if question_ids.count(question_ids[-1]) > 2 else []
        replayed = [{"id": earlier, "answer": "approve"} for earlier in set(question_ids) - {question_ids[-1]}]
        session = {"id": question_ids[-1], "answer": "session"}
        return {
            "answers": [
                *made_up,
                *replayed,
                *({"id": question_ids[-1], "answer": each} for each in of_no_kind),
                session,
                *last,
            ]
        }

    with blendwright.open(tmp_path / "workspace") as scene:
        tampered.tamper = changing("window.show", answers)
        for _ in range(2):
            assert not scene.outcome("object.delete", {"object": "Light"}).ok
    with blendwright.open(tmp_path / "workspace") as scene:
        assert not scene.outcome("object.delete", {"object": "Light"}).ok
    assert len(set(question_ids)) == 3 and window.ask("'Light' in bpy.data.objects")


def test_a_yes_counts_for_the_scene_that_was_asked_about(
    window: PlayedWindow, tampered: TamperedWindow, tmp_path: Path
) -> None:
    def edit_and_approve(params: dict[str, Any], result: dict[str, Any]) -> dict[str, Any] | None:
        if not params["approvals"]:
            return None
        window.do("bpy.data.objects['Cube']['edited'] = 1")
        return {"answers": [{"id": params["approvals"][0]["id"], "answer": "approve"}]}

    with blendwright.open(tmp_path / "workspace") as scene:
        tampered.tamper = changing("window.show", edit_and_approve)
        assert not scene.outcome("object.delete", {"object": "Light"}).ok
    assert window.ask("'Light' in bpy.data.objects")
