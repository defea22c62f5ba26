"""The list of all tools, and scores that rank tools for the words of a request.

The list is explicit, so that a new file alone offers no tool. A test reports files that the list lacks.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from blendwright.tool_api.tool import AnyTool
from blendwright.tools.lazy_tools import LazyTools, tool_class
from blendwright.tools.registry import registry_fingerprint

# The tool `noun.verb` is in the file tools/<noun>/<verb>.py. Each noun starts a new row.
NAMES = (
    "animation.add_strip", "animation.assign_action", "animation.clear", "animation.inspect", "animation.set_curves",
    "animation.set_frame", "animation.set_keyframe", "animation.set_keyframes",
    "armature.bind", "armature.create", "armature.edit",
    "asset.add", "asset.fetch", "asset.search",
    "camera.create", "camera.frame_objects", "camera.look_at", "camera.set_active", "camera.set",
    "camera.turntable",
    "collection.create", "collection.delete", "collection.link_object", "collection.move_objects",
    "collection.unlink_object",
    "constraint.add", "constraint.remove", "constraint.set",
    "curve.create",
    "driver.remove", "driver.set",
    "file.export", "file.import", "file.link", "file.make_local",
    "geonodes.gates", "geonodes.inspect", "geonodes.node_tree", "geonodes.patch", "geonodes.set_modifier_input",
    "geonodes.verify",
    "image.create", "image.load", "image.save",
    "light.create", "light.expose", "light.set",
    "material.assign", "material.delete", "material.ensure_principled", "material.ensure_procedural", "material.from_textures",
    "material.replace",
    "mesh.boolean", "mesh.clean", "mesh.create_backdrop", "mesh.create", "mesh.create_primitive", "mesh.edit",
    "mesh.measure", "mesh.set_attribute", "mesh.shade",
    "modifier.add", "modifier.apply", "modifier.remove", "modifier.set",
    "nodes.apply_tree", "nodes.gates", "nodes.inspect", "nodes.patch",
    "object.apply_transform", "object.create_empty", "object.delete", "object.duplicate", "object.duplicate_grid",
    "object.inspect", "object.instance_collection", "object.join", "object.rename", "object.set_origin",
    "object.set_parent", "object.set_property", "object.set_visibility", "object.transform",
    "physics.drape", "physics.simulate",
    "place.align", "place.around", "place.distribute", "place.on_surface", "place.scatter",
    "pose.set",
    "python.run",
    "render.animation", "render.annotations", "render.bake", "render.compare", "render.preview", "render.still",
    "scene.audit", "scene.expect", "scene.find", "scene.purge", "scene.snapshot", "scene.set_color_management",
    "scene.set_frame_range", "scene.set_output", "scene.set_passes", "scene.set_render", "scene.set_sky", "scene.set_units",
    "scene.set_world",
    "shape_key.create", "shape_key.remove", "shape_key.set",
    "text.create",
    "uv.check", "uv.pack", "uv.unwrap",
    "vertex_group.remove", "vertex_group.set",
)  # fmt: skip


@cache
def tools() -> LazyTools:
    """Return every tool by name. Each tool is loaded on its first use."""
    return LazyTools(NAMES)


@cache
def tool_classes() -> tuple[type[AnyTool], ...]:
    """Return the class of every tool, in the order of the list."""
    return tuple(map(tool_class, NAMES))


@cache
def fingerprint() -> str:
    """Return one hash over the declarations of all tools."""
    return registry_fingerprint(tools())


# ---------------------------------------------------------------------- ranking for planners; `search` finds tools by words


def words_of(text: str) -> list[str]:
    """Return the words of a text in lower case."""
    return re.findall(r"[a-z0-9]+", text.lower())


def score(tool: AnyTool, words: Sequence[str]) -> int:
    """Return how well a tool's name, description and arguments match words; 0 is no match."""
    return _score(*_texts(tool.__class__), words)


def _score(name: str, description: str, arguments: str, words: Sequence[str]) -> int:
    total = 0
    for word in words:
        stem = word
        if len(word) > 3 and word.endswith("s"):
            stem = word[:-1]
        if stem in name:
            total += 9
        if stem in description:
            total += 3
        if stem in arguments:
            total += 1
    return total


@cache
def _texts(tool: type[AnyTool]) -> tuple[str, str, str]:
    return tool.name.lower(), (tool.__doc__ or "").lower(), _arguments(tool.args_schema().get("properties", {}))


def _arguments(fields: Mapping[str, Any]) -> str:
    descriptions = [str(field.get("description", "")) for field in fields.values()]
    return " ".join([*fields, *descriptions]).lower()
