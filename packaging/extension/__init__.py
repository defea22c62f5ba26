"""Blendwright in an open Blender: lets the `blendwright` command on this computer work in this window, once the person says Connect.

The extension is thin: it listens, and runs the package of the core that attaches.
"""

from typing import Any


def register() -> None:
    import bpy

    from . import panel

    for cls in panel.CLASSES:
        bpy.utils.register_class(cls)
    if bpy.app.background:
        return
    addon: Any = bpy.context.preferences.addons.get(__package__)
    if addon is not None and addon.preferences is not None and addon.preferences.connect_on_start:
        panel.this_window.connect()


def unregister() -> None:
    import bpy

    from . import panel

    panel.this_window.disconnect()
    for cls in reversed(panel.CLASSES):
        bpy.utils.unregister_class(cls)
