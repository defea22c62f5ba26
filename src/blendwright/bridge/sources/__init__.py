"""The kinds of worker sources, and the one place that decides which of them a setting names."""

from __future__ import annotations

from pathlib import Path

from blendwright.bridge.sources.blender_executable import BlenderExecutable
from blendwright.bridge.sources.named_blender import NamedBlender, default_source
from blendwright.bridge.sources.python_environment import PythonEnvironment
from blendwright.bridge.worker_source import WorkerSource

# Asked in this order: a version is no path, and any path can be that of an executable, so that kind comes last.
KINDS: tuple[type[WorkerSource], ...] = (NamedBlender, PythonEnvironment, BlenderExecutable)


def worker_source(blender: str | Path | WorkerSource | None = None) -> WorkerSource:
    """The source that `--blender`, or the argument of that name, stands for.

    Without one: the bpy of this environment, else the newest Blender that was added. It starts nothing.
    """
    if isinstance(blender, WorkerSource):
        return blender
    if blender is None:
        return default_source()
    return next(source for kind in KINDS if (source := kind.from_text(str(blender))) is not None)
