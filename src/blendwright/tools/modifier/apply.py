"""Tool modifier.apply"""

from __future__ import annotations

from contextlib import ExitStack

from pydantic import Field

from blendwright.tool_api.arguments import Args, Name, Result, optional
from blendwright.tool_api.mentions import ObjectName, RemovedModifierName
from blendwright.tool_api.promises import DESTRUCTIVE_WRITE, Determinism
from blendwright.tool_api.scene import Block, Kind, Scene
from blendwright.tool_api.tool import Example, Findings, Tool
from blendwright.tools.checks import conflict, differs, existing_object, invalid, not_evaluated, required_object
from blendwright.tools.modifier import blender_settings
from blendwright.tools.modifier.settings import ModifierType
from blendwright.tools.node_trees.properties import nested_trees
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding

CUBE = ("mesh.create_primitive", {"kind": "cube", "name": "Box"})
BALL = ("mesh.create_primitive", {"kind": "ico_sphere", "name": "Ball", "location": [1, 1, 1]})
ROW = ("modifier.add", {"object": "Box", "name": "Row", "settings": {"type": "ARRAY", "count": 3}})
SMOOTH = ("modifier.add", {"object": "Box", "name": "Smooth", "settings": {"type": "SUBSURF", "levels": 1}})
CUT = ("modifier.add", {"object": "Box", "name": "Cut", "settings": {"type": "BOOLEAN", "object": "Ball"}})

# Measured on Blender 5.0: the same boolean or bevel in two processes numbers its edges or corners differently.
UNSTABLE: frozenset[str] = frozenset({"BOOLEAN", "BEVEL"})
UNSTABLE_NODES = frozenset({"GeometryNodeMeshBoolean"})

# Kinds of geometry that a mesh cannot contain, and the nodes that convert each of them to a mesh.
REALIZE = "End the tree with a Realize Instances node (GeometryNodeRealizeInstances)"
CURES = {
    "curves": "Make a mesh of them with a Curve to Mesh node (GeometryNodeCurveToMesh)",
    "points": "Make a mesh of them with a Points to Vertices node (GeometryNodePointsToVertices)",
    "volumes": "Make a mesh of them with a Volume to Mesh node (GeometryNodeVolumeToMesh)",
    "strokes": "Make a mesh of them by way of Grease Pencil to Curves and Curve to Mesh nodes",
}


class ApplyModifierArgs(Args):
    object: ObjectName = Field(description="Name of the mesh object.")
    modifier: RemovedModifierName = Field(
        description="Name of the modifier. Apply or remove the modifiers before it first."
    )
    type: ModifierType = Field(
        description="Type of the modifier. It determines in advance whether the result is the same in every run."
    )
    make_single_user: bool = Field(
        default=False, description="If other objects share the mesh: give this object a copy of it."
    )
    mesh_name: Name | None = optional(
        "If other objects share the mesh: name of this object's copy. Default: the object's name."
    )


class ModifierApplied(Result):
    """A mesh object after a modifier was applied to it."""

    object: str = Field(description="Name of the object.")
    mesh: str = Field(description="Name of its mesh.")
    vertices: int = Field(description="Number of vertices after applying.")
    faces: int = Field(description="Number of faces after applying.")
    stack: list[str] = Field(description="Names of the remaining modifiers.")


class ApplyModifier(Tool[ApplyModifierArgs, ModifierApplied]):
    """Apply the first modifier of a mesh object: its result becomes the mesh, and the modifier is removed.

    The mesh keeps its name, materials and custom properties. The tool refuses geometry nodes whose result a mesh cannot
    contain (instances, curves, points, volumes), because applying would lose it. Booleans and bevels number their
    elements differently from run to run, so Blendwright stores their result instead of computing it again.
    """

    name = "modifier.apply"
    promises = (
        DESTRUCTIVE_WRITE.but(determinism=Determinism.NONDETERMINISTIC, replayable=False)
        .writes_to(Kind.OBJECT, Kind.MESH, *blender_settings.REFERRED_KINDS)
        .needs("modifier_write", "mesh_write")
    )
    examples = (
        Example({"object": "Box", "modifier": "Row", "type": "ARRAY"}, CUBE, ROW, SMOOTH),
        Example({"object": "Box", "modifier": "Cut", "type": "BOOLEAN"}, CUBE, BALL, CUT),
    )

    def determinism_for(self, args: ApplyModifierArgs) -> Determinism:
        if args.type in UNSTABLE:
            return Determinism.NONDETERMINISTIC
        return Determinism.DETERMINISTIC

    def replayable_for(self, args: ApplyModifierArgs) -> bool:
        return args.type not in UNSTABLE

    def check(self, scene: Scene, args: ApplyModifierArgs) -> Findings:
        obj = yield from existing_object(scene, args.object, "/object", "MESH")
        if obj is None:
            return
        yield from not_evaluated(scene, obj, "/object")
        yield from _mesh_problems(scene, obj, args)
        modifier = obj.modifiers.get(args.modifier)
        if modifier is None:
            yield from blender_settings.missing_modifier(obj, args.modifier, "/modifier")
            return
        yield from blender_settings.wrong_type(modifier, args.type, "/type")
        if modifier.type == "NODES" and modifier.node_group is not None:
            yield from _unstable_nodes(modifier.node_group)
        index = obj.modifiers.find(args.modifier)
        earlier = [previous.name for previous in obj.modifiers[:index] if previous.show_viewport]
        if earlier:
            message = f"{', '.join(repr(name) for name in earlier)} must be applied before '{args.modifier}'"
            yield conflict(message, "/modifier", f"Apply or remove '{earlier[0]}' first.")
        elif modifier.type == "NODES":
            yield from _lost_parts(scene, obj, modifier)

    def apply(self, scene: Scene, args: ApplyModifierArgs) -> ModifierApplied:
        obj = required_object(scene, args.object, "/object")
        old = obj.data
        shared = bool(_mesh_sharers(scene, obj))
        new = scene.applied_mesh(obj, args.modifier)
        for key, value in old.items():
            new[key] = value
        scene.edit(obj)
        obj.data = new
        obj.modifiers.remove(obj.modifiers[args.modifier])
        name = old.name
        if shared:
            name = _copy_name(args)
        else:
            new.use_fake_user = old.use_fake_user
            scene.remove(old)
        scene.rename(new, name)
        return ModifierApplied(
            object=args.object,
            mesh=name,
            vertices=len(new.vertices),
            faces=len(new.polygons),
            stack=[modifier.name for modifier in obj.modifiers],
        )

    def verify(self, scene: Scene, args: ApplyModifierArgs, result: ModifierApplied) -> Findings:
        obj = required_object(scene, args.object, "/object")
        yield from differs("the presence of the modifier", False, args.modifier in obj.modifiers, "/modifier")
        yield from differs("the name of the mesh", result.mesh, obj.data.name, "/object")
        yield from differs("its number of vertices", result.vertices, len(obj.data.vertices), "/modifier")


def _mesh_sharers(scene: Scene, obj: Block) -> list[str]:
    """Return the sorted names of the other objects that share the object's mesh."""
    # `users` also counts fake users and pre-images, so it only shows when no search is needed.
    if obj.data.users < 2:
        return []
    return sorted(user.name for user in scene.users(obj.data) if user != obj)


def _mesh_problems(scene: Scene, obj: Block, args: ApplyModifierArgs) -> Findings:
    if obj.data.shape_keys is not None:
        message = f"the mesh of '{obj.name}' has shape keys, which a modifier cannot be applied to"
        yield conflict(message, "/object", "Remove the shape keys first.")
    sharers = _mesh_sharers(scene, obj)
    if sharers and not args.make_single_user:
        message = f"the mesh '{obj.data.name}' is shared with {', '.join(repr(name) for name in sharers[:5])}"
        cure = "Set 'make_single_user' to give the object its own copy of the mesh."
        yield conflict(message, "/make_single_user", cure)
    elif sharers:
        yield from scene.name_conflicts(Kind.MESH, _copy_name(args), "/mesh_name")
    elif args.mesh_name not in (None, obj.data.name):
        cure = "Leave mesh_name out; object.rename with rename_data renames object and mesh."
        yield invalid(f"no other object uses the mesh '{obj.data.name}', so it keeps its name", "/mesh_name", cure)


def _unstable_nodes(tree: Block) -> Findings:
    """Yield findings for nodes, also in nested groups, whose result differs from run to run."""
    for inner in nested_trees(tree):
        for node in inner.nodes:
            if node.bl_idname in UNSTABLE_NODES:
                message = f"node '{node.name}' of '{inner.name}' numbers its result differently from run to run"
                cure = "Leave the modifier unapplied, or use a BOOLEAN modifier instead of the node."
                yield Finding(Fault.NONDETERMINISTIC_REFUSED, message, "/modifier", cure)


def _lost_parts(scene: Scene, obj: Block, modifier: Block) -> Findings:
    """Yield findings for geometry that a mesh cannot contain, because applying would lose it silently."""
    with ExitStack() as other_modifiers_hidden:
        for candidate in obj.modifiers:
            shown = scene.temporarily(candidate, show_viewport=candidate == modifier)
            other_modifiers_hidden.enter_context(shown)
        facts = scene.geometry_facts(obj)
    if facts is None:
        return
    parts = {"instances": facts.loose_instances} | {name: getattr(facts, name) for name in CURES}
    for name, count in parts.items():
        if count:
            cure = f"{CURES.get(name, REALIZE)}, or leave the modifier unapplied."
            yield conflict(f"'{modifier.name}' makes {count} {name}, which a mesh cannot contain", "/modifier", cure)
            if name == "instances":
                return  # the other counts include the geometry inside instances


def _copy_name(args: ApplyModifierArgs) -> str:
    return args.mesh_name or args.object
