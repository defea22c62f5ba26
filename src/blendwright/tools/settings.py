"""Single settings of datablocks: written through the port one by one, or at once where all is new, and read back.

Knows nothing of what the settings mean; the tools' own tables say that.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, cast

from blendwright.tool_api.scene import Block, Scene
from blendwright.tools.animation_data import channel_conflicts
from blendwright.tools.readback import differs
from blendwright.values.findings import Finding


@dataclass(frozen=True, slots=True)
class Setting:
    """One property that is to have a value. `at` is the argument that asks for it."""

    target: Block
    attribute: str
    value: Any
    at: str


def write_settings(scene: Scene, settings: Iterable[Setting], *, owner: Block | None = None) -> bool:
    """Write all of them; True when one of them was not so before. `owner` as in `Scene.set`."""
    changed = False
    for setting in settings:
        before = _plain(getattr(setting.target, setting.attribute))
        scene.set(setting.target, setting.attribute, setting.value, owner=owner)
        changed = changed or before != _plain(getattr(setting.target, setting.attribute))
    return changed


def animation_conflicts(scene: Scene, settings: Iterable[Setting]) -> Iterator[Finding]:
    """Where a value would not last, because keyframes or a driver have the property."""
    for setting in settings:
        holder = setting.target.id_data
        if holder.animation_data is not None:
            path = setting.target.path_from_id(setting.attribute)
            yield from channel_conflicts(scene, holder, path, setting.at)


def initialize_settings(settings: Iterable[Setting]) -> None:
    """Write all of them to datablocks that are new, of which nobody has to keep what was before."""
    for setting in settings:
        setattr(setting.target, setting.attribute, setting.value)


def settings_differ(settings: Iterable[Setting]) -> Iterator[Finding]:
    """Where what Blender holds is not what was asked for."""
    for setting in settings:
        label = f"its {setting.attribute.replace('_', ' ')}"
        yield from differs(label, setting.value, _plain(getattr(setting.target, setting.attribute)), setting.at)


def _plain(value: Any) -> Any:
    """A value that stays what it is when the property changes: Blender's arrays are views."""
    if isinstance(value, str) or not hasattr(value, "__len__"):
        return value
    return tuple(cast("Iterable[Any]", value))
