"""What every tool declares about the datablocks that its arguments name is what it does on real Blender."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, cast

import pytest
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
from conformance.cases import Case, cases

if TYPE_CHECKING:
    from conformance.play import Play

# What other calls can name. Data behind an object is made and renamed along with it, and nearly nothing names it.
NAMED = {
    kind.blocks for kind in (Kind.OBJECT, Kind.COLLECTION, Kind.MATERIAL, Kind.WORLD, Kind.NODE_GROUP, Kind.TEXTURE)
}
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
    ("scene.expect", "/expectations/name"), ("scene.find", "/property/key"),
    ("scene.purge", "/keep"),
    *((f"nodes.{tool}", f"/target/{part}") for tool in ("apply_tree", "gates", "inspect", "patch")
      for part in ("material", "world", "light", "compositor", "group")),
    *(("nodes.apply_tree", f"/operations/{part}") for part in
      ("name", "inputs/name", "outputs/name", "inputs/panel", "outputs/panel")),
    *((tool, f"/target/{part}_name") for tool in ("geonodes.node_tree", "geonodes.patch") for part in ("object", "modifier", "node_group")),
}  # fmt: skip


def declared(case: Case, *roles: Role, surely: bool = False) -> set[tuple[str, str]]:
    mentions = [one for one in case.tool.mentions_for(case.parsed) if one.surely or not surely]
    return {(one.kind, one.name) for one in mentions if one.role in roles and one.kind in NAMED}


def datablocks(scene: Any) -> set[tuple[str, str]]:
    return {(kind.blocks, block.name) for kind in Kind if kind.blocks in NAMED for block in scene.blocks(kind)}


@cases(lambda case: not case.tool.makes_others)
def test_what_a_tool_makes_removes_and_looks_up_is_what_it_declares(
    play: Play, case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    from blendwright.blender.scene import BpyScene

    looked_up: set[tuple[str, str]] = set()

    def recording(method: Any) -> Any:
        def recorded(self: Any, kind: Kind, name: str, *more: Any) -> Any:
            looked_up.add((kind.blocks, name))
            return method(self, kind, name, *more)

        return recorded

    play.set(case)
    before = datablocks(play.state)
    with monkeypatch.context() as patched:
        for method in ("find", "missing"):
            patched.setattr(BpyScene, method, recording(getattr(BpyScene, method)))
        if case.tool.name.startswith("render."):
            play.check(case)  # a picture takes its time, and names nothing that the check has not looked up
        else:
            play.run(case)
    after = datablocks(play.state)

    made, makes = after - before, declared(case, Role.MAKES)
    # A world of the scene may be made without a name in the arguments.
    unnamed = {("worlds", "World")} if case.tool.name == "scene.set_world" else set[tuple[str, str]]()
    assert makes <= after
    assert made - unnamed <= makes | declared(case, Role.ENSURES)

    removes = declared(case, Role.REMOVES)
    # What goes along with something else: children, objects of a collection.
    gone_along = {"object.delete": "children", "collection.delete": "objects"}.get(case.tool.name, "")
    assert removes <= before - after
    assert before - after == removes or getattr(case.parsed, gone_along, None) == "delete"

    mentioned = {(one.kind, one.name) for one in case.tool.mentions_for(case.parsed)}
    arguments = set(texts(case.args))
    assert {one for one in looked_up & before if one[1] in arguments and one[0] in NAMED} <= mentioned
    assert declared(case, Role.USES, Role.REMOVES, surely=True) <= looked_up & before


def texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    whole = cast("dict[str, Any]", value).values() if isinstance(value, dict) else value
    for part in cast("list[Any]", whole if not isinstance(whole, str | int | float | None) else ()):
        yield from texts(part)


@pytest.mark.parametrize("tool", tools().values(), ids=lambda tool: tool.name)
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
