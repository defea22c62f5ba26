"""What keeps a plan from beginning in a window: what the person is in the middle of, in words that tell the cure. Reads only."""

from collections.abc import Iterator
from typing import Any

import bpy

_app: Any = bpy.app
_data: Any = bpy.data
_types: Any = bpy.types

# In these nothing of an object is kept elsewhere than in its datablocks.
CALM_MODES = frozenset({"OBJECT", "POSE"})
JOBS = {"RENDER": "a render", "OBJECT_BAKE": "a bake", "COMPOSITE": "compositing"}
MOST_NAMES = 3


def windows() -> list[Any]:
    return [window for manager in _data.window_managers for window in manager.windows]


def resident_operators() -> frozenset[str]:
    """Modal operators of add-ons that run now, beside whatever the person does: pressing Connect while they run says so."""
    running = {operator.bl_idname for window in windows() for operator in window.modal_operators}
    return frozenset(name for name in running if _types.Operator.bl_rna_get_subclass_py(name) is not None)


def reasons(resident: frozenset[str]) -> list[str]:
    """Why a plan cannot begin now; empty when it can."""
    return [*_modes(_data.objects), *_activities(resident)]


def is_busy(resident: frozenset[str]) -> list[str]:
    """As `reasons`, by looking at active objects only: what a person can begin between two steps."""
    active = {window.view_layer.objects.active for window in windows()} - {None}
    return [*_modes(active), *_activities(resident)]


def _modes(objects: Any) -> Iterator[str]:
    busy = sorted((obj.name, obj.mode) for obj in objects if obj.mode not in CALM_MODES)
    for name, mode in busy[:MOST_NAMES]:
        words = mode.replace("_", " ").lower()
        yield f"'{name}' is in {words} mode; go to Object Mode (Tab or Ctrl-Tab)"


def _activities(resident: frozenset[str]) -> Iterator[str]:
    for window in windows():
        for operator in window.modal_operators:
            if operator.bl_idname not in resident:
                yield f"{operator.name or operator.bl_idname} is going on in the window; finish or cancel it"
        if window.screen.is_animation_playing:
            yield "the animation is playing; stop it (Space)"
        elif window.screen.is_scrubbing:
            yield "the timeline is being dragged; let go of it"
    for job, words in JOBS.items():
        if _app.is_job_running(job):
            yield f"{words} is running; wait for it, or cancel it (Esc)"
