"""What the person sees and presses: the N-panel "Blendwright", and the preferences of the extension."""

from typing import Any

import bpy

from .open_window import this_window
from .rendezvous import NotPrivate

_types: Any = bpy.types
_props: Any = bpy.props


class BlendwrightPreferences(_types.AddonPreferences):
    bl_idname = __package__

    connect_on_start: _props.BoolProperty(  # pyright: ignore
        name="Connect on start", description="Let blendwright find every Blender that is started", default=False
    )

    def draw(self, context: Any) -> None:
        self.layout.prop(self, "connect_on_start")


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


class VIEW3D_PT_blendwright(_types.Panel):
    bl_label = "Blendwright"
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "Blendwright"

    def draw(self, context: Any) -> None:
        layout = self.layout
        if not this_window.is_connected:
            layout.label(text="Not connected")
            layout.operator("blendwright.connect")
            return
        core = this_window.core
        if core is None:
            layout.label(text="Waiting for blendwright")
        else:
            layout.label(text=f"{core.about.get('name') or 'A core'} (pid {core.about.get('pid')})")
        layout.operator("blendwright.disconnect")


CLASSES = (BlendwrightPreferences, BLENDWRIGHT_OT_connect, BLENDWRIGHT_OT_disconnect, VIEW3D_PT_blendwright)
