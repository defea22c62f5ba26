"""The list of all tools. Explicit, so that what is offered is what is written here; a test notices a file that is not on it."""

from __future__ import annotations

from functools import cache

from blendwright.contracts.tool import AnyTool, registry_fingerprint
from blendwright.tools.animation.clear import Clear
from blendwright.tools.animation.set_frame import SetFrame
from blendwright.tools.animation.set_keyframe import SetKeyframe
from blendwright.tools.collection.create import CreateCollection
from blendwright.tools.collection.delete import DeleteCollection
from blendwright.tools.collection.link_object import LinkObject
from blendwright.tools.collection.unlink_object import UnlinkObject
from blendwright.tools.file.export import ExportFile
from blendwright.tools.file.import_ import ImportFile
from blendwright.tools.mesh.create import CreateMesh
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
from blendwright.tools.object.inspect import Inspect
from blendwright.tools.object.rename import Rename
from blendwright.tools.object.set_parent import SetParent
from blendwright.tools.object.set_property import SetProperty
from blendwright.tools.object.set_visibility import SetVisibility
from blendwright.tools.object.transform import Transform

CATALOG: tuple[type[AnyTool], ...] = (
    # animation
    Clear,
    SetFrame,
    SetKeyframe,
    # collection
    CreateCollection,
    DeleteCollection,
    LinkObject,
    UnlinkObject,
    # file
    ExportFile,
    ImportFile,
    # mesh
    CreateMesh,
    CreatePrimitive,
    Measure,
    SetAttribute,
    Shade,
    # modifier
    AddModifier,
    ApplyModifier,
    RemoveModifier,
    SetModifier,
    # object
    CreateEmpty,
    DeleteObject,
    Duplicate,
    Inspect,
    Rename,
    SetParent,
    SetProperty,
    SetVisibility,
    Transform,
)


@cache
def tools() -> dict[str, AnyTool]:
    """Every tool by name."""
    return {tool.name: tool() for tool in sorted(CATALOG, key=lambda tool: tool.name)}


@cache
def fingerprint() -> str:
    """One hash over everything the catalogue promises."""
    return registry_fingerprint(CATALOG)
