"""The list of all tools, and finding one by words. Explicit, so that what is offered is what is written here; a test notices a
file that is not on it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from blendwright.tool_api.tool import AnyTool
from blendwright.tools.lazy_tools import LazyTools, tool_class
from blendwright.tools.registry import registry_fingerprint

# The tool `noun.verb` is in the file tools/<noun>/<verb>.py. A row for each noun.
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
    """Return every tool by name. A tool is loaded when it is looked up."""
    return LazyTools(NAMES)


@cache
def tool_classes() -> tuple[type[AnyTool], ...]:
    """The class of every tool, in the order of the list."""
    return tuple(map(tool_class, NAMES))


@cache
def fingerprint() -> str:
    """One hash over everything the catalogue promises."""
    return registry_fingerprint(tools())


# ---------------------------------------------------------------------- which tools a planner is told of; `search`
# finds one by words


def words_of(text: str) -> list[str]:
    return re.findall(r"[a-z0-9]+", text.lower())


def score(tool: AnyTool, words: Sequence[str]) -> int:
    return _score(*_texts(tool.__class__), words)


def _score(name: str, description: str, arguments: str, words: Sequence[str]) -> int:
    total = 0
    for word in words:
        stem = word[:-1] if len(word) > 3 and word.endswith("s") else word
        total += 9 * (stem in name) + 3 * (stem in description) + (stem in arguments)
    return total


@cache
def _texts(tool: type[AnyTool]) -> tuple[str, str, str]:
    return tool.name.lower(), (tool.__doc__ or "").lower(), _arguments(tool.args_schema().get("properties", {}))


def _arguments(fields: Mapping[str, Any]) -> str:
    return " ".join([*fields, *(str(field.get("description", "")) for field in fields.values())]).lower()
