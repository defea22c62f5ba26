"""Blendwright in an open Blender: lets the `blendwright` command on this computer work in this window, once the person says Connect.

The extension is thin: it listens, and runs the package of the core that attaches.
"""


def register() -> None:
    import bpy

    from . import panel

    for cls in panel.CLASSES:
        bpy.utils.register_class(cls)
    # Later: while Blender starts, the scene is out of reach.
    bpy.app.timers.register(panel.connect_on_start, first_interval=0.1, persistent=True)


def unregister() -> None:
    import bpy

    from . import panel

    if bpy.app.timers.is_registered(panel.connect_on_start):
        bpy.app.timers.unregister(panel.connect_on_start)
    panel.this_window.disconnect()
    for cls in reversed(panel.CLASSES):
        bpy.utils.unregister_class(cls)
