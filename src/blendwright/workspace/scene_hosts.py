"""The registration point for scene hosts other than the core's own worker process.

A workspace may be bound to a window that a person has open, which its file `window.json` records. The package
`window` can open such a workspace. The core asks for this package only for a bound workspace, and works without it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from blendwright.bridge.worker_source import WorkerSource
from blendwright.capabilities import Point
from blendwright.engine.scene.background_checkpoints import BackgroundCheckpoints
from blendwright.engine.scene.external_files import Externals
from blendwright.engine.scene.host import SceneHost
from blendwright.journal import Journal
from blendwright.values.approval import ApprovalPrompt
from blendwright.values.errors import EnvironmentUnfit
from blendwright.values.events import Observer
from blendwright.wire.worker_port import WorkerPool

WINDOW_BINDING = "window.json"


@dataclass(frozen=True, slots=True)
class SceneParts:
    """The parts of an opened workspace from which a host is made."""

    pool: WorkerPool
    journal: Journal
    catalogue: str
    scratch: Path
    externals: Externals
    background: BackgroundCheckpoints | None
    observe: Observer


class BoundHost(Protocol):
    """The window that a workspace is bound to, before the workspace is open."""

    @property
    def observers(self) -> Sequence[Observer]:
        """The observers of the session that show events in the window."""
        ...

    @property
    def prompt(self) -> ApprovalPrompt:
        """The prompt that asks the person in the window."""
        ...

    def worker_source(self, blender: str | Path | WorkerSource | None) -> WorkerSource:
        """Return the source of headless Blenders of the window's version."""
        ...

    def open_scene(self, parts: SceneParts) -> SceneHost: ...


class AttachedWindow(Protocol):
    """A window after it was attached."""

    @property
    def name(self) -> str: ...


class WindowCapability(Protocol):
    """The functions of `blendwright.window.hosting`."""

    def bound_host(self, workspace: Path, core: Mapping[str, Any]) -> BoundHost | None:
        """Return the window that a workspace is bound to, if any. `core` is the information about Blendwright for its
        sidebar.

        Raise EnvironmentUnfit when the window no longer exists.
        """
        ...

    def attach_if_open(
        self, workspace: str | Path, which: str, *, blender: str | Path | None = None
    ) -> AttachedWindow | None:
        """Bind a workspace to a window. `auto` takes the only open window, and returns None when none is open."""
        ...

    def open_windows(self) -> Sequence[AttachedWindow]:
        """Return the windows that offer a connection."""
        ...


_WINDOW: Point[WindowCapability] = Point("scene_host")


def window_capability() -> WindowCapability | None:
    """Return the package `window`, or None if this installation does not have it."""
    return _WINDOW.offer()


def require_window_capability(what_needs_it: str, *, otherwise: str = "") -> WindowCapability:
    """Return the package `window`.

    Raise EnvironmentUnfit when it is missing; `otherwise` is a fix that does without it.
    """
    capability = window_capability()
    if capability is None:
        raise EnvironmentUnfit(
            f"{what_needs_it}, and this installation has no blendwright.window",
            cure=" ".join(filter(None, ("Install a Blendwright that includes it.", otherwise))),
        )
    return capability


def is_bound(workspace: Path) -> bool:
    """Return whether the workspace is bound to a window."""
    return os.path.lexists(workspace / WINDOW_BINDING)


def bound_host(workspace: Path, core: Mapping[str, Any]) -> BoundHost | None:
    """Return the window that the workspace is bound to, or None. Raise EnvironmentUnfit when it cannot be used."""
    if not is_bound(workspace):
        return None
    otherwise = f"To work without the window, remove {WINDOW_BINDING} from the workspace."
    capability = require_window_capability("the workspace is attached to a window", otherwise=otherwise)
    return capability.bound_host(workspace, core)


def require_unbound(workspace: Path) -> None:
    """Raise EnvironmentUnfit when the workspace is bound to a window: its scene comes from the window, not from a
    file.
    """
    if is_bound(workspace):
        message = "the workspace is attached to a window, so it cannot start from a file"
        raise EnvironmentUnfit(message, cure="Leave the scene out, or run `blendwright detach` first.")
