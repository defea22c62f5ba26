"""What every tool declares about the datablocks that its arguments name is whole. That it is what tools do is in `test_catalogue.py`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from pydantic import BaseModel

from blendwright.tool_api.arguments import Name
from blendwright.tool_api.mentions import (
    ANY_KIND,
    CONSTRAINT,
    INSIDE_OBJECTS,
    Mention,
    Names,
    Role,
    metadata_of,
    models_in,
)
from blendwright.tool_api.physics_port import BODIES
from blendwright.tool_api.scene import Kind
from blendwright.tool_api.tool import AnyTool
from blendwright.tools.catalog import tools
from support.suite.in_one_test import in_one_test

# Names that are no datablock of the scene: keys of custom properties, attributes, sockets, what a file calls it, beginnings of names.
# A world and a mesh that are named only on a condition are left out as well, and what `mentions_for` says by itself.
OTHER_NAMES = {
    *((tool, f"{at}/{part}") for tool, at in (
        ("animation.clear", ""), ("animation.set_curves", ""), ("animation.set_keyframe", ""), ("animation.set_keyframes", "/keys"),
    ) for part in ("property", "modifier", "shape_key", "node", "input")),
    ("animation.clear", "/track"), ("animation.assign_action", "/slot"),
    ("asset.add", "/name"), ("file.link", "/link/name"), ("file.import", "/append/name"), ("geonodes.set_modifier_input", "/attribute"),
    ("geonodes.node_tree", "/operations/name"), ("geonodes.node_tree", "/operations/inputs/name"),
    ("geonodes.node_tree", "/operations/outputs/name"), ("geonodes.node_tree", "/operations/inputs/panel"),
    ("geonodes.node_tree", "/operations/outputs/panel"),
    ("geonodes.patch", "/ops/inputs/name"), ("geonodes.patch", "/ops/outputs/name"),
    ("geonodes.patch", "/ops/inputs/panel"), ("geonodes.patch", "/ops/outputs/panel"), ("geonodes.patch", "/ops/name"),
    ("modifier.apply", "/mesh_name"), ("object.apply_transform", "/data_name"), ("object.set_origin", "/data_name"),
    ("object.duplicate_grid", "/prefix"), ("place.scatter", "/prefix"),
    ("scene.audit", "/may_overlap"), ("scene.expect", "/expectations/name"), ("scene.find", "/property/key"),
    ("scene.purge", "/keep"),
    *((f"nodes.{tool}", f"/target/{part}") for tool in ("apply_tree", "gates", "inspect", "patch")
      for part in ("material", "world", "light", "compositor", "group")),
    *(("nodes.apply_tree", f"/operations/{part}") for part in
      ("name", "inputs/name", "outputs/name", "inputs/panel", "outputs/panel")),
    *((tool, f"/target/{part}_name") for tool in ("geonodes.node_tree", "geonodes.patch") for part in ("object", "modifier", "node_group")),
}  # fmt: skip


@in_one_test(tools())
def test_every_argument_that_is_a_name_says_what_it_names(tool: AnyTool) -> None:
    unmarked = {(tool.name, place) for place in unmarked_names(tool.args_model)}
    assert unmarked <= OTHER_NAMES, "say with a mark of tool_api/mentions.py what these name, or list them here"


def unmarked_names(model: type[BaseModel], at: str = "") -> Iterator[str]:
    checks: set[Any] = set(cast("Any", Name).__metadata__)
    for name, info in model.model_fields.items():
        metadata = [*info.metadata, *metadata_of(info.annotation)]
        if checks & {one for one in metadata if one.__hash__} and not any(isinstance(one, Names) for one in metadata):
            yield f"{at}/{name}"
        for inner in models_in(info.annotation):
            if inner is not model:
                yield from unmarked_names(inner, f"{at}/{name}")


def test_every_place_points_at_the_name_in_the_arguments() -> None:
    for tool in tools().values():
        for example in tool.examples:
            for mention in tool.mentions_for(tool.args_model.model_validate(example.args)):
                named_after = mention.kind == Kind.ACTION.blocks and mention.role in (Role.MAKES, Role.ENSURES)
                # No argument gives the name of the collection that Blender keeps bodies in.
                if mention.at != "/prefix" and not named_after and mention.name != BODIES:
                    # What is in a bone is named with it, since two bones may have equal names for it.
                    named = _at(tool.args_model.model_validate(example.args).model_dump(), mention)
                    bone = example.args.get("bone")
                    assert mention.name == (f"{bone}: {named}" if bone and mention.kind == CONSTRAINT else named)
                assert mention.kind in (ANY_KIND, *INSIDE_OBJECTS) or Kind(mention.kind)


def _at(value: Any, mention: Mention) -> Any:
    for part in mention.at.split("/")[1:]:
        value = value[int(part) if part.isdigit() else part]
    return value
