"""The sidebar panel "Blendwright": it shows the status that the core sent, and passes the user's answers to the core."""

import logging
import textwrap
import time
import webbrowser
from typing import Any

import bpy

from .open_window import this_window
from .pump import MAX_PLANS
from .rendezvous import NotPrivate

_types: Any = bpy.types
_props: Any = bpy.props

MAX_APPROVALS = 3
MAX_LINE_CHARACTERS = 60
# The number of lines for a question. The user cannot approve a longer question here, since the panel does not show all of it.
MAX_QUESTION_LINES = 24
LOCAL = ("http://127.0.0.1:", "http://localhost:", "http://[::1]:")
ICONS = {"succeeded": "CHECKMARK", "failed": "ERROR", "refused": "CANCEL", "running": "PLAY", "not finished": "ERROR"}


class BlendwrightPreferences(_types.AddonPreferences):
    bl_idname = __package__

    connect_on_start: _props.BoolProperty(  # pyright: ignore
        name="Connect on start", description="Connect automatically whenever Blender starts", default=False
    )

    def draw(self, context: Any) -> None:
        self.layout.prop(self, "connect_on_start")


def connect_on_start() -> None:
    """Connect if the user has enabled this in the preferences. A timer calls it once after Blender started."""
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
    """Base class of operators that need an attached core."""

    @classmethod
    def poll(cls, context: Any) -> bool:
        return this_window.session is not None


class BLENDWRIGHT_OT_answer(_ForCore):
    """Approve or decline this operation as shown"""

    bl_idname = "blendwright.answer"
    bl_label = "Answer"

    approval: _props.StringProperty(options={"SKIP_SAVE"})  # pyright: ignore
    answer: _props.EnumProperty(  # pyright: ignore
        items=[("approve", "Approve", "Run this operation once"), ("decline", "Decline", "Do not run this operation")],
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
            # The link works once. It is not a property of an operator, since Blender would write that into its log.
            if not webbrowser.open(session.console_page()):
                raise OSError("no browser was found")
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
    """Draw the complete panel for the current state of the window."""
    if not this_window.is_connected:
        layout.label(text="Not connected", icon="UNLINKED")
        layout.operator("blendwright.connect")
        return

    session, former_plans = this_window.session, this_window.former_plans
    if session is None:
        layout.label(text="Waiting for blendwright", icon="LINKED")
        layout.operator("blendwright.disconnect")
        _draw_plans(layout, former_plans)
        return

    status = session.status
    _draw_core(layout, status.core)
    layout.operator("blendwright.disconnect")
    if session.ended is not None:
        layout.label(text=_line(session.ended), icon="INFO")
        return
    for approval in status.approvals[:MAX_APPROVALS]:
        _draw_approval(layout.box(), approval)
    _draw_running(layout, status)
    _draw_plans(layout, [*status.plans, *former_plans])


def _draw_core(layout: Any, core: dict[str, Any]) -> None:
    layout.label(text=_line(f"{core.get('name') or 'blendwright'} (pid {core.get('pid')})"), icon="LINKED")
    if core.get("workspace"):
        layout.label(text=_line(core["workspace"]), icon="FILE_FOLDER")
    if core.get("console_key") and str(core.get("console")).startswith(LOCAL):
        layout.operator("blendwright.open_console", icon="URL")


def _draw_approval(box: Any, approval: dict[str, Any]) -> None:
    question = _wrapped(approval.get("question") or "Allow this operation?")
    lines = [*question, *_wrapped(approval.get("detail") or "")]
    box.label(text=question[0], icon="QUESTION")
    for line in lines[1:MAX_QUESTION_LINES]:
        box.label(text=line)

    answers = [("approve", "Approve"), ("decline", "Decline")]
    if len(lines) > MAX_QUESTION_LINES:
        # A user must not approve a text that the panel does not show completely.
        del answers[0]
        box.label(text="The text is too long for this panel. Show it with:", icon="INFO")
        box.label(text="blendwright approve")
    row = box.row()
    for answer, text in answers:
        button = row.operator("blendwright.answer", text=text)
        button.approval, button.answer = _line(approval.get("id")), answer


def _draw_running(layout: Any, status: Any) -> None:
    if status.running or status.turn:
        layout.label(text=_line(status.activity()), icon="PLAY")


def _draw_plans(layout: Any, plans: list[dict[str, Any]]) -> None:
    for plan in plans[:MAX_PLANS]:
        state = str(plan.get("state") or "")
        words = f"{_clock(plan.get('time'))} {plan.get('label') or 'a plan'}: {state}".strip()
        layout.label(text=_line(words), icon=ICONS.get(state, "DOT"))
    if plans:
        # Each plan is a single undo step, and the journal follows Blender's undo.
        layout.operator("ed.undo", text="Undo Last Plan", icon="LOOP_BACK")


def _clock(timestamp: Any) -> str:
    """Return the local time of day for seconds since the epoch. A string is returned unchanged."""
    if isinstance(timestamp, int | float) and not isinstance(timestamp, bool):
        try:
            return time.strftime("%H:%M", time.localtime(timestamp))
        except (ValueError, OverflowError, OSError):
            return ""
    return str(timestamp or "")


def _line(text: Any, longest: int = MAX_LINE_CHARACTERS) -> str:
    """Return a value from a core as a single line, cut to the width of the panel."""
    line = _printable(" ".join(str(text).split()))
    if len(line) <= longest:
        return line
    return f"{line[: longest - 1]}…"


def _wrapped(text: Any) -> list[str]:
    """Return a text as lines of the panel. More than MAX_QUESTION_LINES lines mean that the text is too long and may be cut."""
    lines: list[str] = []
    for line in str(text).splitlines():
        lines += textwrap.wrap(_printable(line.expandtabs(4)), MAX_LINE_CHARACTERS, drop_whitespace=False) or [""]
        if len(lines) > MAX_QUESTION_LINES:
            break
    return lines or [""]


def _printable(text: str) -> str:
    """Replace invisible characters, characters that change the direction of writing, and characters that Blender does not accept."""
    if text.isprintable():
        return text
    characters: list[str] = []
    for character in text:
        if character.isprintable():
            characters.append(character)
        else:
            characters.append("\N{REPLACEMENT CHARACTER}")
    return "".join(characters)


CLASSES = (
    BlendwrightPreferences,
    BLENDWRIGHT_OT_connect,
    BLENDWRIGHT_OT_disconnect,
    BLENDWRIGHT_OT_answer,
    BLENDWRIGHT_OT_open_console,
    VIEW3D_PT_blendwright,
)
