"""What the person sees and presses: the N-panel "Blendwright". It shows what the core has sent, and passes on what was pressed."""

import logging
import textwrap
import time
import webbrowser
from typing import Any

import bpy

from .open_window import this_window
from .pump import MOST_PLANS
from .rendezvous import NotPrivate

_types: Any = bpy.types
_props: Any = bpy.props

MOST_APPROVALS = 3
LONGEST_LINE = 60
# What is asked is shown whole, or it cannot be approved here. A core cuts its texts beyond what these lines hold.
MOST_ASKED_LINES = 24
LOCAL = ("http://127.0.0.1:", "http://localhost:", "http://[::1]:")
ICONS = {"succeeded": "CHECKMARK", "failed": "ERROR", "refused": "CANCEL", "running": "PLAY", "not finished": "ERROR"}


class BlendwrightPreferences(_types.AddonPreferences):
    bl_idname = __package__

    connect_on_start: _props.BoolProperty(  # pyright: ignore
        name="Connect on start", description="Let blendwright find every Blender that is started", default=False
    )

    def draw(self, context: Any) -> None:
        self.layout.prop(self, "connect_on_start")


def connect_on_start() -> None:
    """Called once when Blender has started, with a screen or without one."""
    addon = bpy.context.preferences.addons.get(__package__)
    if addon is None or not addon.preferences.connect_on_start:
        return
    try:
        this_window.connect()
    except (OSError, NotPrivate):
        logging.getLogger(__name__).exception("blendwright cannot listen")


class BLENDWRIGHT_OT_connect(_types.Operator):
    """Let blendwright on this computer work in this window"""

    bl_idname = "blendwright.connect"
    bl_label = "Connect"

    def execute(self, context: Any) -> set[str]:
        try:
            this_window.connect()
        except (OSError, NotPrivate) as error:
            self.report({"ERROR"}, f"Blendwright cannot listen: {error}")
            return {"CANCELLED"}
        return {"FINISHED"}


class BLENDWRIGHT_OT_disconnect(_types.Operator):
    """Hang up on blendwright; the scene stays as it is"""

    bl_idname = "blendwright.disconnect"
    bl_label = "Disconnect"

    def execute(self, context: Any) -> set[str]:
        this_window.disconnect()
        return {"FINISHED"}


class _ForCore(_types.Operator):
    """Passes something on to the attached core."""

    @classmethod
    def poll(cls, context: Any) -> bool:
        return this_window.session is not None


class BLENDWRIGHT_OT_answer(_ForCore):
    """Allow or refuse this one operation, as it is shown"""

    bl_idname = "blendwright.answer"
    bl_label = "Answer"

    approval: _props.StringProperty(options={"SKIP_SAVE"})  # pyright: ignore
    answer: _props.EnumProperty(  # pyright: ignore
        items=[("approve", "Approve", "Do it, this once"), ("decline", "Decline", "Do not do it")],
        options={"SKIP_SAVE"},
    )

    def execute(self, context: Any) -> set[str]:
        session = this_window.session
        if session is None:
            return {"CANCELLED"}
        session.status.answer(self.approval, self.answer)
        return {"FINISHED"}


class BLENDWRIGHT_OT_open_console(_ForCore):
    """Open the console of the attached blendwright in the browser"""

    bl_idname = "blendwright.open_console"
    bl_label = "Open Console"

    def execute(self, context: Any) -> set[str]:
        session = this_window.session
        if session is None:
            return {"CANCELLED"}
        try:
            # A link that is good once, asked for now: it is in no property of an operator, which Blender would write into its log.
            if not webbrowser.open(session.console_page()):
                raise OSError("there is no browser to open it with")
        except (OSError, webbrowser.Error) as error:
            self.report({"ERROR"}, f"The console cannot be opened: {_line(error)}")
            return {"CANCELLED"}
        return {"FINISHED"}


class VIEW3D_PT_blendwright(_types.Panel):
    bl_label = "Blendwright"
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "Blendwright"

    def draw(self, context: Any) -> None:
        draw(self.layout)


def draw(layout: Any) -> None:
    """The whole panel."""
    if not this_window.is_connected:
        layout.label(text="Not connected", icon="UNLINKED")
        layout.operator("blendwright.connect")
        return
    session, former = this_window.session, this_window.former_plans
    if session is None:
        layout.label(text="Waiting for blendwright", icon="LINKED")
        layout.operator("blendwright.disconnect")
        _draw_plans(layout, former)
        return
    status = session.status
    _draw_core(layout, status.core)
    layout.operator("blendwright.disconnect")
    if session.ended is not None:
        layout.label(text=_line(session.ended), icon="INFO")
        return
    for approval in status.approvals[:MOST_APPROVALS]:
        _draw_approval(layout.box(), approval)
    _draw_running(layout, status)
    _draw_plans(layout, [*status.plans, *former])


def _draw_core(layout: Any, core: dict[str, Any]) -> None:
    layout.label(text=_line(f"{core.get('name') or 'blendwright'} (pid {core.get('pid')})"), icon="LINKED")
    if core.get("workspace"):
        layout.label(text=_line(core["workspace"]), icon="FILE_FOLDER")
    if core.get("console_key") and str(core.get("console")).startswith(LOCAL):
        layout.operator("blendwright.open_console", icon="URL")


def _draw_approval(box: Any, approval: dict[str, Any]) -> None:
    asked = _wrapped(approval.get("question") or "May this be done?")
    lines = [*asked, *_wrapped(approval.get("detail") or "")]
    box.label(text=asked[0], icon="QUESTION")
    for line in lines[1:MOST_ASKED_LINES]:
        box.label(text=line)
    answers = [("approve", "Approve"), ("decline", "Decline")]
    if len(lines) > MOST_ASKED_LINES:
        # Nobody approves what they have not seen.
        del answers[0]
        box.label(text="It is longer than fits here. See it whole with:", icon="INFO")
        box.label(text="blendwright approve")
    row = box.row()
    for answer, text in answers:
        button = row.operator("blendwright.answer", text=text)
        button.approval, button.answer = _line(approval.get("id")), answer


def _draw_running(layout: Any, status: Any) -> None:
    if status.running or status.turn:
        layout.label(text=_line(status.activity()), icon="PLAY")


def _draw_plans(layout: Any, plans: list[dict[str, Any]]) -> None:
    for plan in plans[:MOST_PLANS]:
        state = str(plan.get("state") or "")
        words = f"{_clock(plan.get('time'))} {plan.get('label') or 'a plan'}: {state}".strip()
        layout.label(text=_line(words), icon=ICONS.get(state, "DOT"))
    if plans:
        # One plan is one undo step, and the journal follows: Blender's own undo is all it takes.
        layout.operator("ed.undo", text="Undo Last Plan", icon="LOOP_BACK")


def _clock(when: Any) -> str:
    """The time of the day, of seconds since the epoch; a text stays what it is."""
    if isinstance(when, int | float) and not isinstance(when, bool):
        try:
            return time.strftime("%H:%M", time.localtime(when))
        except (ValueError, OverflowError, OSError):
            return ""
    return str(when or "")


def _line(text: Any, longest: int = LONGEST_LINE) -> str:
    """One line of the panel, whatever a core sends."""
    line = _seen(" ".join(str(text).split()))
    if len(line) <= longest:
        return line
    return f"{line[: longest - 1]}…"


def _wrapped(text: Any) -> list[str]:
    """All of a text, in lines of the panel; one more than there is room for says that there is more."""
    lines: list[str] = []
    for line in str(text).splitlines():
        lines += textwrap.wrap(_seen(line.expandtabs(4)), LONGEST_LINE, drop_whitespace=False) or [""]
        if len(lines) > MOST_ASKED_LINES:
            break
    return lines or [""]


def _seen(text: str) -> str:
    """Without what turns the direction of writing, shows as nothing, or is no text to Blender."""
    if text.isprintable():
        return text
    return "".join(sign if sign.isprintable() else "\N{REPLACEMENT CHARACTER}" for sign in text)


CLASSES = (
    BlendwrightPreferences,
    BLENDWRIGHT_OT_connect,
    BLENDWRIGHT_OT_disconnect,
    BLENDWRIGHT_OT_answer,
    BLENDWRIGHT_OT_open_console,
    VIEW3D_PT_blendwright,
)
