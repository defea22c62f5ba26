"""The list of all tools, and finding one by words. Explicit, so that what is offered is what is written here; a test notices a
file that is not on it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from blendwright.tool_api.tool import AnyTool
from blendwright.tools.animation.clear import Clear
from blendwright.tools.animation.set_frame import SetFrame
from blendwright.tools.animation.set_keyframe import SetKeyframe
from blendwright.tools.animation.set_keyframes import SetKeyframes
from blendwright.tools.camera.create import CreateCamera
from blendwright.tools.camera.frame_objects import FrameObjects
from blendwright.tools.camera.look_at import LookAt
from blendwright.tools.camera.set import SetCamera
from blendwright.tools.camera.set_active import SetActiveCamera
from blendwright.tools.collection.create import CreateCollection
from blendwright.tools.collection.delete import DeleteCollection
from blendwright.tools.collection.link_object import LinkObject
from blendwright.tools.collection.move_objects import MoveObjects
from blendwright.tools.collection.unlink_object import UnlinkObject
from blendwright.tools.curve.create import CreateCurve
from blendwright.tools.file.export import ExportFile
from blendwright.tools.file.import_ import ImportFile
from blendwright.tools.geonodes.gates import Gates
from blendwright.tools.geonodes.inspect import InspectTree
from blendwright.tools.geonodes.node_tree import NodeTree
from blendwright.tools.geonodes.patch import Patch
from blendwright.tools.geonodes.set_modifier_input import SetModifierInput
from blendwright.tools.geonodes.verify import Verify
from blendwright.tools.light.create import CreateLight
from blendwright.tools.light.expose import Expose
from blendwright.tools.light.set import SetLight
from blendwright.tools.material.assign import AssignMaterial
from blendwright.tools.material.delete import DeleteMaterial
from blendwright.tools.material.ensure_principled import EnsurePrincipled
from blendwright.tools.mesh.create import CreateMesh
from blendwright.tools.mesh.create_backdrop import CreateBackdrop
from blendwright.tools.mesh.create_primitive import CreatePrimitive
from blendwright.tools.mesh.measure import Measure
from blendwright.tools.mesh.set_attribute import SetAttribute
from blendwright.tools.mesh.shade import Shade
from blendwright.tools.modifier.add import AddModifier
from blendwright.tools.modifier.apply import ApplyModifier
from blendwright.tools.modifier.remove import RemoveModifier
from blendwright.tools.modifier.set import SetModifier
from blendwright.tools.object.create_empty import CreateEmpty
from blendwright.tools.object.delete import DeleteObject
from blendwright.tools.object.duplicate import Duplicate
from blendwright.tools.object.duplicate_grid import DuplicateGrid
from blendwright.tools.object.inspect import Inspect
from blendwright.tools.object.rename import Rename
from blendwright.tools.object.set_parent import SetParent
from blendwright.tools.object.set_property import SetProperty
from blendwright.tools.object.set_visibility import SetVisibility
from blendwright.tools.object.transform import Transform
from blendwright.tools.place.align import Align
from blendwright.tools.place.around import PlaceAround
from blendwright.tools.place.distribute import Distribute
from blendwright.tools.place.on_surface import OnSurface
from blendwright.tools.place.scatter import Scatter
from blendwright.tools.python.run import RunPython
from blendwright.tools.registry import registry_fingerprint
from blendwright.tools.render.preview import Preview
from blendwright.tools.render.still import Still
from blendwright.tools.scene.expect import Expect
from blendwright.tools.scene.find import FindObjects
from blendwright.tools.scene.set_frame_range import SetFrameRange
from blendwright.tools.scene.set_render import SetRender
from blendwright.tools.scene.set_sky import SetSky
from blendwright.tools.scene.set_units import SetUnits
from blendwright.tools.scene.set_world import SetWorld
from blendwright.tools.scene.snapshot import TakeSnapshot
from blendwright.tools.text.create import CreateText

# A row for each noun.
CATALOG: tuple[type[AnyTool], ...] = (
    Clear, SetFrame, SetKeyframe, SetKeyframes,
    CreateCamera, FrameObjects, LookAt, SetActiveCamera, SetCamera,
    CreateCollection, DeleteCollection, LinkObject, MoveObjects, UnlinkObject,
    CreateCurve,
    ExportFile, ImportFile,
    Gates, InspectTree, NodeTree, Patch, SetModifierInput, Verify,
    CreateLight, Expose, SetLight,
    AssignMaterial, DeleteMaterial, EnsurePrincipled,
    CreateBackdrop, CreateMesh, CreatePrimitive, Measure, SetAttribute, Shade,
    AddModifier, ApplyModifier, RemoveModifier, SetModifier,
    CreateEmpty, DeleteObject, Duplicate, DuplicateGrid, Inspect, Rename, SetParent, SetProperty, SetVisibility, Transform,
    Align, PlaceAround, Distribute, OnSurface, Scatter,
    RunPython,
    Preview, Still,
    Expect, FindObjects, TakeSnapshot, SetFrameRange, SetRender, SetSky, SetUnits, SetWorld,
    CreateText,
)  # fmt: skip


@cache
def tools() -> dict[str, AnyTool]:
    """Every tool by name."""
    return {tool.name: tool() for tool in sorted(CATALOG, key=lambda tool: tool.name)}


@cache
def fingerprint() -> str:
    """One hash over everything the catalogue promises."""
    return registry_fingerprint(CATALOG)


# ---------------------------------------------------------------------- which tools a planner is told of; `search` finds one by words


def words_of(text: str) -> list[str]:
    return re.findall(r"[a-z0-9]+", text.lower())


def score(tool: AnyTool, words: Sequence[str]) -> int:
    return _score(*_texts(type(tool)), words)


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
