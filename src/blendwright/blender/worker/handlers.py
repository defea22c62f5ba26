"""What the worker can be asked, by method name."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from blendwright.blender.worker import profile
from blendwright.blender.worker.extensions import load_extensions
from blendwright.blender.worker.loop import Handler
from blendwright.blender.worker.scene_methods import SceneMethods
from blendwright.tool_api.tool import AnyTool
from blendwright.tools.catalog import tools
from blendwright.tools.registry import registry_fingerprint

if TYPE_CHECKING:
    from blendwright.blender.confinement import Confinement


def build(scratch: Path, confinement: Confinement) -> dict[str, Handler]:
    """The methods of this worker."""
    extensions = load_extensions()
    catalogue: dict[str, AnyTool] = {
        **tools(),
        **{tool.name: tool for each in extensions for tool in getattr(each, "TOOLS", ())},
    }
    more_methods: dict[str, Handler] = {
        name: handler for each in extensions for name, handler in getattr(each, "METHODS", {}).items()
    }
    fingerprint = registry_fingerprint(type(tool) for tool in catalogue.values())

    def hello(params: dict[str, Any]) -> object:
        return {"profile": profile.describe(confinement).model_dump(mode="json"), "catalogue": fingerprint}

    return {"hello": hello, "ping": ping} | SceneMethods(scratch, catalogue).handlers() | more_methods


def ping(params: dict[str, Any]) -> object:
    """Answers with what it was sent."""
    return params
