"""The entry point of this package for the core. `workspace/scene_hosts.py` finds this module by name."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from blendwright.bridge.worker_source import WorkerSource
from blendwright.values.events import Observer
from blendwright.window.attach import attach_if_open as attach_workspace_if_open
from blendwright.window.attached_scene import WindowScene
from blendwright.window.binding import WindowBinding, connect_bound, spare_source
from blendwright.window.connection.rendezvous import OpenWindow, open_windows
from blendwright.window.panel import WindowPanel
from blendwright.workspace.scene_hosts import SceneParts

__all__ = ["attach_if_open", "bound_host", "open_windows"]


class BoundWindowHost:
    """The window to which a workspace is bound, with the panel in its sidebar."""

    def __init__(self, workspace: Path, window: OpenWindow, core: Mapping[str, Any]) -> None:
        self._workspace = workspace
        self._core = core
        self._window = window
        self.prompt = WindowPanel(dict(core))

    @property
    def observers(self) -> tuple[Observer, ...]:
        return (self.prompt,)

    def worker_source(self, blender: str | Path | WorkerSource | None) -> WorkerSource:
        return spare_source(self._window, blender)

    def open_scene(self, parts: SceneParts) -> WindowScene:
        scene = WindowScene(
            lambda: connect_bound(self._workspace, self._core),
            WindowBinding(self._workspace),
            parts.pool,
            parts.journal,
            parts.catalogue,
            scratch=parts.scratch,
            externals=parts.externals,
            background=parts.background,
            observe=parts.observe,
        )
        self.prompt.show_in(scene)
        return scene


def bound_host(workspace: Path, core: Mapping[str, Any]) -> BoundWindowHost | None:
    """Return the host for the window to which a workspace is bound, or None. Raises EnvironmentUnfit when the
    window is closed.
    """
    window = WindowBinding(workspace).window()
    if window is None:
        return None
    return BoundWindowHost(workspace, window, core)


def attach_if_open(workspace: str | Path, which: str, *, blender: str | Path | None = None) -> OpenWindow | None:
    """Bind a workspace to a window. `auto` takes the only open window, and returns None when none is open."""
    attached = attach_workspace_if_open(workspace, which, blender=blender)
    if attached is None:
        return None
    return attached.window
