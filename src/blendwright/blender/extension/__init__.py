"""The Blender extension: it lets the `blendwright` command on this computer work in this window after the user presses Connect.

The extension is small: it listens for a core, and runs the package of the core that attaches.
"""


def register() -> None:
    import bpy

    from . import panel

    for cls in panel.CLASSES:
        bpy.utils.register_class(cls)
    # By a timer, because the scene is not accessible while Blender starts.
    bpy.app.timers.register(panel.connect_on_start, first_interval=0.1, persistent=True)


def unregister() -> None:
    import bpy

    from . import panel

    if bpy.app.timers.is_registered(panel.connect_on_start):
        bpy.app.timers.unregister(panel.connect_on_start)
    panel.this_window.disconnect()
    for cls in reversed(panel.CLASSES):
        bpy.utils.unregister_class(cls)
