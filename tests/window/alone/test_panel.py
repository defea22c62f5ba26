"""The panel: what a user sees of a core, and which answers reach the core. A real Blender draws it onto a layout that records."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from window.alone.core_client import CoreClient
from window.playing import PlayedWindow

SHOWN: dict[str, Any] = {
    "plans": [
        {"label": "two boxes", "state": "succeeded", "time": "12:30"},
        {"label": "a roof\nwith tiles " + "x" * 200, "state": "failed", "time": 0},
    ],
    "running": {"label": "a hundred trees", "operation": "mesh.create_primitive", "done": 37, "total": 100},
    "approvals": [{"id": "q1", "question": "Delete 'House'?", "detail": "It has 12 children."}, {"id": "q2"}],
    "core": {
        "pid": 7,
        "name": "blendwright serve",
        "workspace": "/home/me/house",
        "console": "http://127.0.0.1:1/",
        "console_key": "k",
    },
}
# Everything that a layout is asked to show; operators give back what their properties are set to.
RECORDING = """
import importlib
class Operator:
    def __init__(self, lines, name): self.__dict__.update(lines=lines, name=name)
    def __setattr__(self, key, value): self.lines.append(f'{self.name} {key}={value}')
class Layout:
    def __init__(self): self.lines = []
    def label(self, text='', icon='NONE'):
        assert icon in bpy.types.UILayout.bl_rna.functions['label'].parameters['icon'].enum_items, icon
        self.lines.append(text)
    def operator(self, name, text='', icon='NONE'):
        getattr(getattr(bpy.ops, name.split('.')[0]), name.split('.')[1]).get_rna_type()
        self.lines.append(text or name); return Operator(self.lines, name)
    def prop(self, owner, name): self.lines.append(name)
    def box(self): return self
    def row(self): return self
def panel_lines():
    layout = Layout(); importlib.import_module('blendwright_extension.panel').draw(layout); return layout.lines
"""
WAITING = ["Waiting for blendwright", "blendwright.disconnect"]


@pytest.fixture
def panel(window: PlayedWindow) -> PlayedWindow:
    """Return the shared window with the extension registered."""
    window.do(
        "import blendwright_extension\n"
        "if not hasattr(bpy.types, 'VIEW3D_PT_blendwright'): blendwright_extension.register()\n" + RECORDING
    )
    return window


def lines(window: PlayedWindow) -> list[str]:
    return window.ask("panel_lines()")


def core_is_gone(window: PlayedWindow) -> None:
    """Wait until the window has processed the connection's end."""
    while window.ask("session() is not None"):
        time.sleep(0.01)


def test_a_window_that_is_not_connected_offers_to_connect(panel: PlayedWindow) -> None:
    panel.disconnect()
    try:
        assert lines(panel) == ["Not connected", "blendwright.connect"]
    finally:
        panel.connect()
    assert lines(panel) == WAITING


def test_the_panel_shows_what_the_core_has_sent(panel: PlayedWindow, core: CoreClient) -> None:
    core.begin("first things")
    assert "first things" in lines(panel)
    core.end(changed=False)
    assert core.call("window.show", **SHOWN) == {"answers": []}
    shown = lines(panel)
    for line in (
        *("blendwright serve (pid 7)", "/home/me/house", "Delete 'House'?", "It has 12 children."),
        *("a hundred trees, 37 of 100, mesh.create_primitive", "12:30 two boxes: succeeded", "Undo Last Plan"),
        *("blendwright.open_console", "blendwright.answer approval=q1", "blendwright.answer answer=decline"),
    ):
        assert line in shown, line
    assert all(len(line) <= 60 and "\n" not in line for line in shown)
    core.call("window.show", plans=[], running={}, approvals=[], core={})
    assert not [line for line in lines(panel) if "trees" in line or "House" in line]


def test_what_was_done_stays_in_the_panel_when_the_core_is_gone(panel: PlayedWindow) -> None:
    redrawn = "redrawn = []; display = importlib.import_module('blendwright.blender.window.display')\n"
    with CoreClient(panel.note) as core:
        core.attached().call("window.show", **(SHOWN | {"running": {}, "approvals": []}))
        panel.do(redrawn + "real_redraw = display._redraw_panels; display._redraw_panels = lambda: redrawn.append(1)")
    try:
        core_is_gone(panel)
        assert panel.ask("len(redrawn)") > 0, "or the person would see the core that is gone"
    finally:
        panel.do("display._redraw_panels = real_redraw", push=False)
    first = [*WAITING, "12:30 two boxes: succeeded"]
    assert lines(panel)[:3] == first and lines(panel)[-1] == "Undo Last Plan"
    with CoreClient(panel.note) as core:
        core.attached().begin("three boxes")
        assert "12:30 two boxes: succeeded" in lines(panel)
        assert core.step("mesh.create_primitive", kind="cube", name="Half")["ok"]
    core_is_gone(panel)
    assert [line[6:] for line in lines(panel)[2:4]] == ["three boxes: not finished", "two boxes: succeeded"]
    with CoreClient(panel.note) as core:
        core.attached().begin("looks only")
    core_is_gone(panel)
    assert "looks only" not in str(lines(panel)), "nothing of it is there to be told"
    panel.undo()
    assert not panel.ask("'Half' in bpy.data.objects")
    panel.open()
    assert lines(panel) == WAITING, "another file has had no plans"


def test_plans_of_a_file_that_is_not_open_any_more_are_not_shown(panel: PlayedWindow) -> None:
    with CoreClient(panel.note) as core:
        core.attached().call("window.show", **(SHOWN | {"running": {}, "approvals": []}))
        panel.open()
    core_is_gone(panel)
    assert lines(panel) == WAITING


def test_long_work_is_told_in_the_status_bar(panel: PlayedWindow) -> None:
    panel.do(
        "told = []; real = bpy.types.WorkSpace.status_text_set\n"
        "bpy.types.WorkSpace.status_text_set = lambda workspace, text: told.append(text)",
        push=False,
    )
    try:
        with CoreClient(panel.note) as core:
            core.attached().call("window.show", **SHOWN)
            assert set(panel.ask("told")) == {"Blendwright: a hundred trees, 37 of 100, mesh.create_primitive"}
            panel.do("told.clear()", push=False)
            core.call("window.show", **(SHOWN | {"running": {}}))
            core.call("window.show", **(SHOWN | {"running": {}}))
            assert panel.ask("told == [None] * len(bpy.data.workspaces)"), (
                "cleared once: it may be somebody else's then"
            )
            core.call("window.show", **SHOWN)
            panel.do("told.clear()", push=False)
        panel.disconnect()
        assert panel.ask("set(told) == {None}"), "whoever ends it"
        panel.connect()
    finally:
        panel.do("bpy.types.WorkSpace.status_text_set = real", push=False)


def test_what_was_pressed_is_told_once(panel: PlayedWindow, core: CoreClient) -> None:
    core.call("window.show", **SHOWN)
    panel.do("bpy.ops.blendwright.answer(approval='q1', answer='approve')", push=False)
    panel.do("bpy.ops.blendwright.answer(approval='q2', answer='approve')", push=False)
    panel.do("bpy.ops.blendwright.answer(approval='q2', answer='decline')", push=False)
    assert "Delete 'House'?" not in lines(panel), "what was answered is not asked again"
    pressed = core.call("window.show", **SHOWN)
    assert pressed["answers"] == [{"id": "q1", "answer": "approve"}, {"id": "q2", "answer": "decline"}]
    assert core.call("window.show", **SHOWN) == {"answers": []}


ODD: list[dict[str, Any]] = [
    {},
    {"plans": 7, "approvals": "x", "running": [], "core": None},
    {"plans": [7, {}], "approvals": [{}]},
    {
        "plans": [{"time": 1e300, "label": "a\u202eb\ud800\0\x1b[31m"}, {"time": -1e300}],
        "core": {"name": "\ud800" * 9, "pid": []},
    },
    {"approvals": [{"id": "\ud800", "question": "\u202e\0" * 999, "detail": "\n" * 9_999}] * 99},
]


@pytest.mark.parametrize("odd", ODD)
def test_whatever_a_core_sends_can_be_drawn(panel: PlayedWindow, core: CoreClient, odd: dict[str, Any]) -> None:
    core.call("window.show", **odd)
    drawn = lines(panel)
    assert 0 < len(drawn) < 200 and all(line.isprintable() and len(line) <= 100 for line in drawn)


def test_nothing_is_approved_that_is_not_shown_whole(panel: PlayedWindow, core: CoreClient) -> None:
    code = "\n".join(f"line_{number} = {number}  # {'x' * 60}" for number in range(8))
    approval = {"id": "q1", "question": "python.run " + "y" * 90, "detail": code}
    core.call("window.show", plans=[], running={}, approvals=[approval], core={})
    shown = lines(panel)
    seen = "".join(shown)
    assert all(part in seen for part in ("y" * 30, *(f"line_{number} = {number}" for number in range(8))))
    assert "".join(shown).count("x") >= 8 * 60 and "blendwright.answer answer=approve" in shown
    core.call("window.show", plans=[], running={}, approvals=[approval | {"detail": code * 4}], core={})
    shown = lines(panel)
    assert "blendwright.answer answer=approve" not in shown and "blendwright.answer answer=decline" in shown


@pytest.mark.parametrize(
    "url", ["file:///etc/passwd", "https://elsewhere.example/", "javascript:1", "http://127.0.0.1.example/"]
)
def test_a_console_is_on_this_machine(panel: PlayedWindow, core: CoreClient, url: str) -> None:
    core.call("window.show", plans=[], running={}, approvals=[], core={"console": url, "console_key": "k"})
    assert not [line for line in lines(panel) if "console" in line]


def test_the_extension_is_registered_and_gone_again(own_window: PlayedWindow, tmp_path: Path) -> None:
    classes = "sorted(n for n in dir(bpy.types) if 'blendwright' in n.lower())"
    assert own_window.ask(classes) == []
    own_window.do("import blendwright_extension; blendwright_extension.register()", push=False)
    assert "VIEW3D_PT_blendwright" in own_window.ask(classes) and own_window.ask(
        "hasattr(bpy.ops.blendwright, 'connect')"
    )
    assert own_window.ask("bpy.types.VIEW3D_PT_blendwright.bl_category") == "Blendwright"
    own_window.do("blendwright_extension.unregister()", push=False)
    assert own_window.ask(classes) == [] and list(own_window.windows.iterdir()) == []
