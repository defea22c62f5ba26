from __future__ import annotations

from typing import Annotated

from pydantic import Field

from blendwright.tool_api import Args, Example, Findings, Kind, Scene, Tool
from blendwright.tool_api.arguments import InnerName
from blendwright.tool_api.mentions import ObjectName
from blendwright.tool_api.promises import DESTRUCTIVE_WRITE
from blendwright.tools.checks import conflict, differs, existing_object, invalid, required_object
from blendwright.tools.shape_key.shapes import (
    ShapeKeysChanged,
    existing_key,
    find_key,
    held_values,
    key_blocks,
    reports,
)

BOX = ("mesh.create_primitive", {"kind": "cube", "name": "Box"})
WIDE = (
    "shape_key.create",
    {"object": "Box", "name": "Wide", "operations": [{"op": "transform", "select": "all", "scale": [2, 1, 1]}]},
)
TALL = (
    "shape_key.create",
    {"object": "Box", "name": "Tall", "relative_to": "Wide", "value": 1, "offsets": [[0, 0, 1]] * 8},
)
Names = Annotated[list[Annotated[InnerName, Field(min_length=1)]], Field(min_length=1, max_length=1000)]


class RemoveShapeKeysArgs(Args):
    object: ObjectName = Field(description="Name of the mesh object; objects that share its mesh change too.")
    names: Names = Field(description="Names of the shape keys. The basis can only be removed together with all others.")


class RemoveShapeKeys(Tool[RemoveShapeKeysArgs, ShapeKeysChanged]):
    """Remove shape keys.

    If all are removed, the mesh has no shape keys any more and keeps the shape of its basis.
    """

    name = "shape_key.remove"
    # An action that only the keys used gets a fake user.
    promises = DESTRUCTIVE_WRITE.writes_to(Kind.MESH, Kind.SHAPE_KEY, Kind.OBJECT, Kind.ACTION).needs("mesh_write")
    examples = (
        Example({"object": "Box", "names": ["Wide"]}, BOX, WIDE, TALL),
        Example({"object": "Box", "names": ["Basis", "Wide"]}, BOX, WIDE),
    )

    def check(self, scene: Scene, args: RemoveShapeKeysArgs) -> Findings:
        obj = yield from existing_object(scene, args.object, "/object", "MESH")
        if obj is None:
            return
        for number, name in enumerate(args.names):
            at = f"/names/{number}"
            if name in args.names[:number]:
                yield invalid(f"'{name}' is named twice", at, "Name each shape key once.")
            key = yield from existing_key(obj, name, at)
            if key is not None:
                yield from held_values(scene, key, at)
                is_basis = key == obj.data.shape_keys.reference_key
                if is_basis and set(args.names) < {block.name for block in key_blocks(obj)}:
                    message = f"'{name}' is the basis that the other shape keys need"
                    yield conflict(message, at, "Leave it out, or name all shape keys.")

    def apply(self, scene: Scene, args: RemoveShapeKeysArgs) -> ShapeKeysChanged:
        obj = required_object(scene, args.object, "/object")
        scene.remove_shape_keys(obj, args.names)
        obj.data.update()
        return ShapeKeysChanged(object=args.object, shape_keys=reports(obj), changed=True)

    def verify(self, scene: Scene, args: RemoveShapeKeysArgs, result: ShapeKeysChanged) -> Findings:
        obj = required_object(scene, args.object, "/object")
        for number, name in enumerate(args.names):
            yield from differs(f"the presence of '{name}'", False, find_key(obj, name) is not None, f"/names/{number}")
