"""The kinds of worker sources, and the choice of the kind that a setting names."""

from __future__ import annotations

from pathlib import Path

from blendwright.bridge.sources.blender_executable import BlenderExecutable
from blendwright.bridge.sources.named_blender import NamedBlender, default_source
from blendwright.bridge.sources.python_environment import PythonEnvironment
from blendwright.bridge.worker_source import WorkerSource

# The kinds in the order in which they parse a value. Any path may be an executable, so that kind comes last.
KINDS: tuple[type[WorkerSource], ...] = (NamedBlender, PythonEnvironment, BlenderExecutable)


def worker_source(blender: str | Path | WorkerSource | None = None) -> WorkerSource:
    """Return the source for a `--blender` value or an equivalent argument. This starts no process.

    For None, return the bpy of this environment, otherwise the newest Blender that the user has added.
    """
    if isinstance(blender, WorkerSource):
        return blender
    if blender is None:
        return default_source()
    for kind in KINDS:
        source = kind.from_text(str(blender))
        if source is not None:
            return source
    raise AssertionError("BlenderExecutable accepts any path")
