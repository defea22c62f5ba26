"""What the worker can be asked, by method name."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from blendwright.blender.worker import profile
from blendwright.blender.worker.loop import Handler
from blendwright.blender.worker.scene_methods import SceneMethods
from blendwright.tools.catalog import tools
from blendwright.tools.registry import registry_fingerprint

if TYPE_CHECKING:
    from blendwright.blender.confinement import Confinement

TEST_METHODS = "BLENDWRIGHT_TEST_METHODS"


def build(scratch: Path, confinement: Confinement) -> dict[str, Handler]:
    """The methods of this worker."""
    known = dict(tools())
    extra: dict[str, Handler] = {}
    if os.environ.get(TEST_METHODS) == "1":
        from blendwright.blender.worker import trial_tools, trials

        known |= {tool.name: tool for tool in trial_tools.TOOLS}
        extra = trials.METHODS
    catalogue = registry_fingerprint(type(tool) for tool in known.values())

    def hello(params: dict[str, Any]) -> object:
        return {"profile": profile.describe(confinement).model_dump(mode="json"), "catalogue": catalogue}

    return {"hello": hello, "ping": ping} | SceneMethods(scratch, known).handlers() | extra


def ping(params: dict[str, Any]) -> object:
    """Answers with what it was sent."""
    return params
