"""Plans in a window: when they start, what a single undo reverts, and which requests are refused after the user moved on."""

from __future__ import annotations

from typing import Any

import pytest

from window.alone.core_client import CoreClient, WindowError, step
from window.playing import PlayedWindow

OBJECTS = "sorted(o.name for o in bpy.data.objects)"
FACTORY = ["Camera", "Cube", "Light"]


def code_of(client: CoreClient, method: str, **params: object) -> str:
    with pytest.raises(WindowError) as refused:
        client.call(method, **params)
    return refused.value.code


def make(client: CoreClient, name: str) -> None:
    answer = client.step("mesh.create_primitive", kind="cube", name=name)
    assert answer["ok"], answer["message"]


def test_one_undo_takes_back_one_plan(window: PlayedWindow, core: CoreClient) -> None:
    window.do("bpy.data.objects['Cube'].location.x = 3")
    before = core.begin("two boxes")
    assert before["hash"] == window.fingerprint() and before["reasons"] == []
    make(core, "One")
    make(core, "Two")
    after = core.end("two boxes")
    assert after == window.fingerprint() != before["hash"]
    window.undo()
    assert window.fingerprint() == before["hash"]
    window.redo()
    assert window.fingerprint() == after
    window.undo()
    window.undo()
    assert window.ask("bpy.data.objects['Cube'].location.x") == 0, "the next undo is that of the edit by hand"
    assert core.begin()["moved"] == 4


def test_a_plan_that_changed_nothing_leaves_no_undo_step(window: PlayedWindow, core: CoreClient) -> None:
    window.do("bpy.data.objects['Cube'].location.x = 3")
    before = core.begin()["hash"]
    core.step("scene.snapshot")
    assert core.end(changed=False) == before
    window.undo()
    assert window.ask("bpy.data.objects['Cube'].location.x") == 0


def test_taking_back_leads_to_where_the_plan_began(window: PlayedWindow, core: CoreClient) -> None:
    before = core.begin()
    make(core, "One")
    assert core.step("object.delete", object="Cube")["ok"]
    assert core.call("window.take_back") == {"hash": before["hash"]}
    assert window.ask(OBJECTS) == FACTORY
    # The turn stays open, and what is done now starts from there.
    make(core, "Two")
    after = core.end()
    assert after == window.fingerprint()
    assert core.begin()["moved"] == before["moved"], "our own undo is nobody's edit"
    core.end(changed=False)
    window.undo()
    assert window.fingerprint() == before["hash"]


def test_taking_back_never_takes_an_edit_by_hand_with_it(window: PlayedWindow, core: CoreClient) -> None:
    core.begin()
    make(core, "One")
    window.do("bpy.data.objects['Cube'].location.x = 3")
    make(core, "Two")
    here = window.fingerprint()
    assert code_of(core, "window.take_back") == "cannot_take_back"
    assert window.fingerprint() == here
    core.end()
    # The same where Blender makes no undo step of an edit.
    window.do("bpy.data.objects['Cube'].location.y = 4", push=False)
    core.begin()
    make(core, "Three")
    here = window.fingerprint()
    assert code_of(core, "window.take_back") == "cannot_take_back"
    assert window.fingerprint() == here


@pytest.mark.parametrize("mode", ["EDIT", "SCULPT", "WEIGHT_PAINT"])
def test_no_plan_begins_in_the_middle_of_something(window: PlayedWindow, core: CoreClient, mode: str) -> None:
    window.mode("Cube", mode)
    before = window.ask("len(bpy.data.meshes)")
    answer = core.begin(wait=0.05)
    assert answer["hash"] == "" and "'Cube' is in" in answer["reasons"][0] and "Object Mode" in answer["reasons"][0]
    assert code_of(core, "scene.step", **step("scene.snapshot")) == "no_turn"
    # It waits for the person to finish, and Blender goes on meanwhile.
    core.send("window.begin", label="later", wait=30)
    assert window.ask("len(bpy.data.meshes)") == before
    window.mode("Cube", "OBJECT")
    assert core.answer()["hash"] == window.fingerprint()


def test_a_step_waits_for_edit_mode_to_end(window: PlayedWindow, core: CoreClient) -> None:
    core.begin()
    make(core, "One")
    window.mode("Cube", "EDIT")
    core.send("scene.step", **step("mesh.create_primitive", kind="cube", name="Two"))
    assert "Two" not in window.ask(OBJECTS)
    window.mode("Cube", "OBJECT")
    assert core.answer()["ok"] and "Two" in window.ask(OBJECTS)
    window.ask("setattr(__import__('blendwright.blender.window.turns', fromlist=['x']), 'PATIENCE_SECONDS', 0.05)")
    try:
        window.mode("Cube", "EDIT")
        refused = step("mesh.create_primitive", kind="cube", name="Three")
        assert code_of(core, "scene.step", **refused) == "window_busy"
        assert code_of(core, "window.take_back") == "window_busy"
        assert code_of(core, "window.save", path=str(window.directory / "busy.blend")) == "window_busy"
        window.mode("Cube", "OBJECT")
        assert core.end() == window.fingerprint()
    finally:
        window.ask("setattr(__import__('blendwright.blender.window.turns', fromlist=['x']), 'PATIENCE_SECONDS', 5.0)")


@pytest.mark.parametrize("way", ["undo", "redo"])
def test_what_is_queued_behind_a_foreign_undo_is_refused(window: PlayedWindow, core: CoreClient, way: str) -> None:
    window.do("bpy.data.objects['Cube'].location.x = 3")
    if way == "redo":
        window.undo()
    core.begin()
    if way == "undo":
        make(core, "One")
    getattr(window, way)()
    here = window.fingerprint()
    another = step("mesh.create_primitive", kind="cube", name="Two")
    assert code_of(core, "scene.step", **another) == "window_moved"
    assert code_of(core, "scene.bulk", steps=[another], epoch=1) == "window_moved"
    assert code_of(core, "scene.redo", steps=[{**another, "after": "x"}]) == "window_moved"
    assert code_of(core, "window.take_back") == "window_moved"
    assert code_of(core, "window.end", label="x", changed=True) == "window_moved"
    assert window.fingerprint() == here
    assert core.begin()["hash"] == here
    make(core, "Two")
    assert core.end() == window.fingerprint()


def test_undo_and_redo_do_what_the_keys_do(window: PlayedWindow, core: CoreClient) -> None:
    before = core.begin()["hash"]
    make(core, "One")
    assert code_of(core, "window.undo") == "turn_open"
    after = core.end()
    assert core.call("window.undo") == {"hash": before} and window.ask(OBJECTS) == FACTORY
    assert core.call("window.redo") == {"hash": after}
    assert core.begin()["moved"] == 0


def test_outside_a_turn_nothing_is_changed(core: CoreClient) -> None:
    make_one = step("mesh.create_primitive", kind="cube", name="One")
    for method, params in (
        ("scene.step", make_one),
        ("scene.bulk", {"steps": [make_one], "epoch": 1}),
        ("window.end", {"label": "x", "changed": True}),
        ("window.take_back", {}),
    ):
        assert code_of(core, method, **params) == "no_turn"


@pytest.mark.parametrize("name", ["reset", "open", "swap", "export", "relocate_files", "read_back"])
def test_nothing_replaces_what_the_person_has_open(core: CoreClient, name: str) -> None:
    core.begin()
    assert code_of(core, f"scene.{name}", path="x.blend") == "not_in_a_window"
    memfile = {**step("mesh.create_primitive", kind="cube", name="One"), "rehearse": "memfile"}
    assert code_of(core, "scene.step", **memfile) == "not_in_a_window"


def test_no_code_runs_in_a_window(window: PlayedWindow, core: CoreClient) -> None:
    core.begin()
    for mode in ("safe", "trusted"):
        code = step("python.run", code="bpy.data.objects['Cube'].name = 'Gone'", mode=mode)
        assert code_of(core, "scene.step", **code) == "not_in_a_window"
    assert window.ask(OBJECTS) == FACTORY


def test_another_file_ends_the_session_and_the_next_core_starts_anew(window: PlayedWindow, core: CoreClient) -> None:
    core.begin()
    make(core, "One")
    window.open()
    with CoreClient(window.note) as second_core:
        # Nobody has to wait for a core that has not noticed yet.
        assert second_core.attached().begin()["hash"] == window.fingerprint()
    with pytest.raises((EOFError, ConnectionError)):
        core.call("ping")


def test_a_core_is_told_that_another_file_was_opened(window: PlayedWindow, core: CoreClient) -> None:
    core.begin()
    window.open()
    with pytest.raises(WindowError, match="another file") as refused:
        core.call("scene.step", **step("scene.snapshot"))
    assert refused.value.code == "detached"
    with pytest.raises((EOFError, ConnectionError)):
        core.call("ping")
    assert window.ask(OBJECTS) == FACTORY


def test_what_a_lost_core_has_done_goes_with_one_undo(window: PlayedWindow) -> None:
    with CoreClient(window.note) as core:
        before = core.attached().begin()["hash"]
        make(core, "One")
        make(core, "Two")
    with CoreClient(window.note) as core:
        here = core.attached().begin()["hash"]
        assert here == window.fingerprint() != before
        core.end(changed=False)
        window.undo()
        assert core.begin()["hash"] == before


def test_what_nobody_waits_for_any_more_is_not_run(window: PlayedWindow, core: CoreClient) -> None:
    core.begin()
    make(core, "One")
    # The window is busy with the person meanwhile, so that all of it is queued.
    core.send("scene.step", **step("mesh.create_primitive", kind="cube", name="Two"))
    window.mode("Cube", "EDIT")
    for number in range(20):
        core.send("scene.step", **step("mesh.create_primitive", kind="cube", name=f"More{number}"))
    core.send("window.drop")
    core.send("ping", n=7)
    answers: list[Any] = []
    for _ in range(23):
        try:
            answers.append(core.answer())
        except WindowError as refused:
            answers.append(refused.code)
    begun = [answer for answer in answers if answer != "dropped" and "ok" in answer]
    assert len(begun) <= 1 and answers[len(begun) : 21] == ["dropped"] * (21 - len(begun)), "in order"
    dropped, ping = answers[21:]
    assert dropped["dropped"] <= 21 - len(begun) and ping == {"n": 7}
    window.mode("Cube", "OBJECT")
    assert not [name for name in window.ask(OBJECTS) if name.startswith("More")]
    make(core, "Three")
    assert core.end() == window.fingerprint()


def test_malformed_requests_change_nothing(window: PlayedWindow, core: CoreClient) -> None:
    for params in ({}, {"label": ""}, {"label": "x", "wait": -1}, {"label": "x", "wait": "long"}, {"label": 7}):
        assert code_of(core, "window.begin", **params) == "malformed_request"
    assert code_of(core, "window.save", path="relative.blend") == "malformed_request"
    core.begin()
    assert code_of(core, "window.end", label="x", changed="yes") == "malformed_request"
    assert core.end(changed=False) == window.fingerprint()


def test_an_undo_that_brings_back_something_of_ours_is_cleaned_up(window: PlayedWindow, core: CoreClient) -> None:
    core.begin()
    assert core.step("object.delete", object="Cube")["ok"]
    window.do("bpy.data.objects['Light'].location.x = 3")  # an undo step in the middle, with our tombstone in it
    core.end()
    window.undo()
    assert window.ask("any(m.name.startswith('~bw~') for m in bpy.data.objects)")
    core.begin()
    assert not window.ask("any(b.name.startswith('~bw~') for b in [*bpy.data.objects, *bpy.data.meshes])")
    core.end(changed=False)
    window.do("bpy.data.objects['Camera'].name = '~bw~mine'")
    assert "'~bw~mine' is a reserved name" in core.begin()["reasons"][0]
