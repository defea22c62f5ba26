"""Activities of the user that keep a plan from starting in a window, each with its fix. This module only reads."""

from collections.abc import Iterator
from typing import Any

import bpy

_app: Any = bpy.app
_data: Any = bpy.data
_types: Any = bpy.types

# Modes in which the datablocks hold all data of an object.
CALM_MODES = frozenset({"OBJECT", "POSE"})
JOBS = {"RENDER": "a render", "OBJECT_BAKE": "a bake", "COMPOSITE": "compositing"}
# The largest number of objects that the reasons name.
MAX_LISTED_OBJECTS = 3


def windows() -> list[Any]:
    all_windows: list[Any] = []
    for manager in _data.window_managers:
        all_windows += manager.windows
    return all_windows


def resident_operators() -> frozenset[str]:
    """Return the names of the running modal operators of add-ons.

    They may run in the background all the time. Since they already run when the user presses Connect, plans need not wait for them."""
    names: set[str] = set()
    for window in windows():
        for operator in window.modal_operators:
            if _types.Operator.bl_rna_get_subclass_py(operator.bl_idname) is not None:
                names.add(operator.bl_idname)
    return frozenset(names)


def reasons(resident: frozenset[str]) -> list[str]:
    """Return the reasons why a plan cannot start now, each with its fix. Ignores the operators in `resident`."""
    return [*_modes(_data.objects), *_activities(resident)]


def is_busy(resident: frozenset[str]) -> list[str]:
    """Return the reasons why the next step of a plan cannot run now.

    Unlike `reasons`, checks the mode of active objects only, since a user can change only that between two steps."""
    active = {window.view_layer.objects.active for window in windows()} - {None}
    return [*_modes(active), *_activities(resident)]


def _modes(objects: Any) -> Iterator[str]:
    busy = sorted((obj.name, obj.mode) for obj in objects if obj.mode not in CALM_MODES)
    for name, mode in busy[:MAX_LISTED_OBJECTS]:
        words = mode.replace("_", " ").lower()
        yield f"'{name}' is in {words} mode; go to Object Mode (Tab or Ctrl-Tab)"


def _activities(resident: frozenset[str]) -> Iterator[str]:
    for window in windows():
        for operator in window.modal_operators:
            if operator.bl_idname not in resident:
                yield f"{operator.name or operator.bl_idname} is running in the window; finish or cancel it"
        if window.screen.is_animation_playing:
            yield "the animation is playing; stop it (Space)"
        elif window.screen.is_scrubbing:
            yield "the timeline is being dragged; release it"
    for job, words in JOBS.items():
        if _app.is_job_running(job):
            yield f"{words} is running; wait for it, or cancel it (Esc)"
