from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from blendwright.tool_api import Args, Block, Example, Findings, Kind, Result, Scene, Tool
from blendwright.tool_api.arguments import InnerName, optional
from blendwright.tool_api.mentions import ObjectName
from blendwright.tool_api.promises import SAFE_IDEMPOTENT_WRITE
from blendwright.tools.armature.binding import (
    BindingProblems,
    attach,
    attachment_differences,
    stale_groups,
    wanted_weights,
)
from blendwright.tools.armature.bones import BoneName
from blendwright.tools.checks import existing_object, invalid, required_object
from blendwright.tools.mesh.vertex_selectors import selector_problems
from blendwright.tools.weights import Weighting, weights_differ, weights_of

RIG = (
    "armature.create",
    {
        "name": "Rig",
        "bones": [
            {"name": "Upper", "head": [0, 0, 0], "tail": [0, 0, 1]},
            {"name": "Lower", "tail": [0, 0, 2], "parent": "Upper", "connected": True},
        ],
    },
)
ROD = (
    "mesh.create_primitive",
    {"kind": "cylinder", "name": "Rod", "radius": 0.2, "depth": 2, "location": [0, 0, 1], "segments": 8},
)
CUT = (
    "mesh.edit",
    {"object": "Rod", "operations": [{"op": "cut", "point": [0, 0, 0], "normal": "+Z"}]},
)
LEFT = ("mesh.create_primitive", {"kind": "cube", "name": "Left", "size": 0.4, "location": [0, 0, 0.4]})
RIGHT = ("mesh.create_primitive", {"kind": "cube", "name": "Right", "size": 0.4, "location": [0, 0, 1.6]})


class BoneWeighting(Weighting):
    bone: BoneName = Field(description="Name of the bone.")


class BoundPart(BaseModel):
    """A mesh to bind."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False, defer_build=True)

    object: ObjectName = Field(description="Name of the mesh object.")
    bone: BoneName | None = optional(
        "With method rigid: the bone that the whole mesh follows. Default: the nearest bone."
    )
    weights: Annotated[list[BoneWeighting], Field(min_length=1, max_length=1000)] | None = optional(
        "With method given: bones, their vertices, and the weights."
    )


class BindArgs(Args):
    armature: ObjectName = Field(description="Name of the armature object.")
    parts: Annotated[list[BoundPart], Field(min_length=1, max_length=1000)] = Field(
        description="The meshes to bind, each at its position for the armature's rest pose."
    )
    method: Literal["rigid", "automatic", "envelope", "given", "groups"] = Field(
        default="rigid",
        description="rigid: full weight for one bone, as for parts of a robot. automatic: smooth weights by bone "
        "heat, as for skin. envelope: by the envelopes of bones. given: the weights of the parts. groups: keep the "
        "existing vertex groups.",
    )
    per: Literal["object", "part", "vertex"] = Field(
        default="object",
        description="With method rigid without bone: the unit that follows its nearest bone: each object, each "
        "connected part, or each vertex.",
    )
    modifier: InnerName = Field(default="Armature", min_length=1, description="Name of the armature modifier.")
    preserve_volume: bool = Field(
        default=False, description="Deform with dual quaternions, which keeps joints from becoming thin."
    )
    parent: bool = Field(
        default=True, description="Also make the armature the parent of each mesh, which keeps its position."
    )

    @model_validator(mode="after")
    def _fits(self) -> BindArgs:
        if self.method != "rigid" and any(part.bone is not None for part in self.parts):
            raise PydanticCustomError("bone_of_rigid", "'bone' of a part works only with method rigid")
        if (self.method == "given") != all(part.weights is not None for part in self.parts):
            raise PydanticCustomError("weights_of_given", "method given needs 'weights' in every part")
        if self.method != "given" and any(part.weights is not None for part in self.parts):
            raise PydanticCustomError("weights_of_given", "'weights' of a part work only with method given")
        return self


class PartBound(Result):
    object: str = Field(description="Name of the mesh object.")
    bones: dict[str, int] = Field(description="Number of vertices that follow each bone.")
    unweighted: int = Field(description="Number of vertices that follow no bone.")


class Bound(Result):
    armature: str = Field(description="Name of the armature object.")
    parts: list[PartBound] = Field(description="The result for each mesh.")
    changed: bool = Field(description="False if everything was already as requested.")


class Bind(Tool[BindArgs, Bound]):
    """Bind meshes to an armature (skin them): rigid parts by bone or nearest bone, automatic or envelope weights, or
    given ones.

    Each mesh gets vertex groups with weights, an armature modifier, and the armature as its parent. Vertex groups with
    names of bones are replaced; other vertex groups stay.
    """

    name = "armature.bind"
    promises = SAFE_IDEMPOTENT_WRITE.writes_to(Kind.OBJECT, Kind.MESH).needs("object_write", "mesh_write")
    examples = (
        Example(
            {"armature": "Rig", "parts": [{"object": "Left", "bone": "Lower"}, {"object": "Right"}]}, RIG, LEFT, RIGHT
        ),
        Example({"armature": "Rig", "parts": [{"object": "Rod"}], "method": "automatic"}, RIG, ROD, CUT),
        Example({"armature": "Rig", "parts": [{"object": "Rod"}], "method": "envelope"}, RIG, ROD, CUT),
        Example({"armature": "Rig", "parts": [{"object": "Rod"}], "per": "vertex", "parent": False}, RIG, ROD, CUT),
        Example(
            {
                "armature": "Rig",
                "method": "given",
                "preserve_volume": True,
                "parts": [
                    {
                        "object": "Rod",
                        "weights": [
                            {"bone": "Upper", "weight": 0.5},
                            {"bone": "Lower", "select": {"normal": "+Z"}, "weight": 0.5},
                        ],
                    }
                ],
            },
            RIG,
            ROD,
        ),
        Example(
            {"armature": "Rig", "parts": [{"object": "Rod"}], "method": "groups", "modifier": "Rigged"},
            RIG,
            ROD,
            ("vertex_group.set", {"object": "Rod", "name": "Lower", "weights": [{"select": {"normal": "+Z"}}]}),
        ),
    )

    def examine(self, args: BindArgs, blender: tuple[int, int, int] | None) -> Findings:
        first_numbers: dict[str, int] = {}
        for number, part in enumerate(args.parts):
            if first_numbers.setdefault(part.object, number) != number:
                message = f"/parts/{first_numbers[part.object]} already binds '{part.object}'"
                yield invalid(message, f"/parts/{number}/object", "Name each object once.")
            for index, entry in enumerate(part.weights or ()):
                yield from selector_problems(entry.select, f"/parts/{number}/weights/{index}/select")

    def check(self, scene: Scene, args: BindArgs) -> Findings:
        armature = yield from existing_object(scene, args.armature, "/armature", "ARMATURE")
        problems = BindingProblems(scene, args.armature, armature, args.modifier, args.parent)
        yield from problems.of_armature(deforms=args.method != "groups")
        for number, part in enumerate(args.parts):
            yield from problems.of_part(part, f"/parts/{number}", weighs=args.method != "groups")

    def apply(self, scene: Scene, args: BindArgs) -> Bound:
        armature = required_object(scene, args.armature, "/armature")
        # Compute all weights first: they depend on the positions before anything is changed.
        weights = [
            wanted_weights(scene, armature, part, args.method, args.per, f"/parts/{number}")
            for number, part in enumerate(args.parts)
        ]
        changed = False
        parts: list[PartBound] = []
        for part, wanted in zip(args.parts, weights, strict=True):
            obj = required_object(scene, part.object)
            if wanted is not None:
                stale = stale_groups(obj, armature, wanted)
                if stale:
                    scene.remove_vertex_groups(obj, stale)
                if any(weights_differ(obj, wanted, "/parts")):
                    scene.write_weights(obj, wanted)
                    changed = True
                changed = changed or bool(stale)
            if any(attachment_differences(scene, obj, armature, args, "/parts")):
                attach(scene, obj, armature, args)
                changed = True
            parts.append(_summary(obj, armature))
        return Bound(armature=args.armature, parts=parts, changed=changed)

    def verify(self, scene: Scene, args: BindArgs, result: Bound) -> Findings:
        armature = required_object(scene, args.armature, "/armature")
        for number, part in enumerate(args.parts):
            at = f"/parts/{number}"
            obj = required_object(scene, part.object)
            yield from attachment_differences(scene, obj, armature, args, at)
            wanted = wanted_weights(scene, armature, part, args.method, args.per, at)
            if wanted is not None:
                yield from weights_differ(obj, wanted, at)


def _summary(obj: Block, armature: Block) -> PartBound:
    weights = weights_of(obj, [bone.name for bone in armature.data.bones if bone.use_deform])
    weighted = {vertex for of_bone in weights.values() for vertex in of_bone}
    counts = {name: len(weights[name]) for name in sorted(weights) if weights[name]}
    return PartBound(object=obj.name, bones=counts, unweighted=len(obj.data.vertices) - len(weighted))
