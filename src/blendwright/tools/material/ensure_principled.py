"""Tool material.ensure_principled, and the Principled BSDF: its arguments, its sockets, and its lookup in a node tree.

Covers plain values and image textures. Other nodes need tools that patch node trees.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Annotated, Any, cast

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from blendwright.tool_api import Block, Example, Findings, Kind, Name, Result, Scene, Tool
from blendwright.tool_api.arguments import Args, Color3, UnitFloat, optional
from blendwright.tool_api.mentions import ensures
from blendwright.tool_api.promises import SAFE_IDEMPOTENT_WRITE
from blendwright.tools.checks import conflict
from blendwright.tools.material.textures import (
    Textures,
    build_textures,
    texture_differences,
    texture_problems,
    unlink_fix,
)
from blendwright.tools.settings import Setting, Settings, animation_conflicts, settings_differ, write_settings
from blendwright.values.findings import Finding

PRINCIPLED = "ShaderNodeBsdfPrincipled"
GRAIN = ("image.create", {"name": "Grain", "size": [8, 8], "type": "COLOR_GRID"})
ROUGH = ("image.create", {"name": "Rough", "size": [8, 8], "color": [0.5, 0.5, 1], "color_space": "Non-Color"})

# Argument -> socket name, the same since Blender 4.0.
SOCKETS: dict[str, str] = {
    "base_color": "Base Color",
    "metallic": "Metallic",
    "roughness": "Roughness",
    "ior": "IOR",
    "alpha": "Alpha",
    "transmission": "Transmission Weight",
    "emission_color": "Emission Color",
    "emission_strength": "Emission Strength",
}
# Value argument -> texture arguments that replace it.
TEXTURED: dict[str, tuple[str, ...]] = {
    "base_color": ("base_color",),
    "metallic": ("metallic",),
    "roughness": ("roughness", "gloss"),
    "alpha": ("alpha",),
    "emission_color": ("emission",),
}


class PrincipledValues(Args):
    """The values of a Principled BSDF. Values that are left out stay unchanged."""

    base_color: Color3 | None = optional("Surface colour, linear RGB from 0 to 1.")
    metallic: UnitFloat | None = optional("0 for plastic, wood or glass, 1 for metal.")
    roughness: UnitFloat | None = optional("0 for a mirror, 1 for chalk.")
    emission_color: Color3 | None = optional("Colour of emitted light, linear RGB from 0 to 1.")
    emission_strength: float | None = optional(
        "Strength of emitted light. Default: unchanged, but 1 if emission_color is given and the strength is 0.",
        ge=0.0,
        le=1e6,
    )
    alpha: UnitFloat | None = optional("Opacity: 0 is invisible, 1 is solid.")
    ior: float | None = optional("Index of refraction: water 1.33, glass 1.45.", ge=1.0, le=100.0)
    transmission: UnitFloat | None = optional("Part of the light that passes through: 1 for glass.")


def principled_nodes(tree: Block | None) -> list[Block]:
    """Return the Principled BSDF nodes that lead to the surface of the active output, nearest first."""
    output = None
    if tree is not None:
        output = tree.get_output_node("ALL")
    if output is None:
        return []
    nodes: list[Block] = []
    pending = [output.inputs["Surface"]]
    seen: set[str] = set()
    while pending:
        for link in pending.pop(0).links:
            node = link.from_node
            if node.name in seen:
                continue
            seen.add(node.name)
            if node.bl_idname == PRINCIPLED:
                nodes.append(node)
            elif node.bl_idname == "NodeReroute":
                pending += node.inputs
            else:
                pending += [socket for socket in node.inputs if socket.type == "SHADER"]
    return nodes


def single_principled(material: Block) -> Generator[Finding, None, Block | None]:
    """Return the material's only Principled BSDF, or yield a finding and return None if there is none or more than one."""
    nodes = principled_nodes(material.node_tree)
    if len(nodes) == 1:
        return nodes[0]
    if not nodes:
        subject = "no Principled BSDF reaches"
    else:
        subject = f"{len(nodes)} Principled BSDFs reach"
    fix = "Use another name, or change its nodes."
    yield conflict(f"{subject} the output of material '{material.name}'", "/name", fix)
    return None


def socket_settings(args: PrincipledValues, node: Block) -> Settings:
    """Yield the requested socket values. Emission without a strength sets the strength to 1 if it is 0."""
    for argument, name in SOCKETS.items():
        value: Any = getattr(args, argument)
        if value is None:
            continue
        if isinstance(value, tuple):
            value = (*cast("Color3", value), 1.0)
        yield Setting(node.inputs[name], "default_value", value, f"/{argument}")
    textures = getattr(args, "textures", None)
    has_emission = args.emission_color is not None or (textures is not None and textures.emission is not None)
    if has_emission and args.emission_strength is None:
        socket = node.inputs["Emission Strength"]
        if socket.default_value == 0.0:
            yield Setting(socket, "default_value", 1.0, "/emission_color")


def display_settings(args: PrincipledValues, material: Block) -> Settings:
    """Yield the material's viewport settings, which Workbench uses instead of nodes."""
    if args.base_color is not None or args.alpha is not None:
        red, green, blue, alpha = material.diffuse_color
        colour = args.base_color or (red, green, blue)
        if args.alpha is not None:
            alpha = args.alpha
        yield Setting(material, "diffuse_color", (*colour, alpha), "/base_color")
    if args.metallic is not None:
        yield Setting(material, "metallic", args.metallic, "/metallic")
    if args.roughness is not None:
        yield Setting(material, "roughness", args.roughness, "/roughness")


def lacks_nodes(scene: Scene, material: Block) -> bool:
    """Return True if a material has no node tree yet. `with_nodes` then creates Blender's default tree."""
    return scene.version < (5, 0, 0) and not material.use_nodes and material.node_tree is None


def with_nodes(scene: Scene, block: Block) -> Block:
    """Return a material or world that has a node tree; create Blender's default tree, with its stable node names, if it
    is missing.
    """
    # Since Blender 5.0 every material and world has a tree, and `use_nodes` is deprecated.
    if scene.version < (5, 0, 0) and not block.use_nodes:
        scene.edit(block).use_nodes = True
    return block


class EnsurePrincipledArgs(PrincipledValues):
    name: Annotated[Name, ensures(Kind.MATERIAL)] = Field(
        description="Name of the material; it is created if it does not exist."
    )
    textures: Textures | None = optional("Images instead of values, mapped by the objects' UV maps.")

    @model_validator(mode="after")
    def _value_or_texture(self) -> EnsurePrincipledArgs:
        for value, roles in TEXTURED.items():
            textured = self.textures is not None and any(getattr(self.textures, role) is not None for role in roles)
            if textured and getattr(self, value) is not None:
                raise PydanticCustomError(
                    "textured", "{value} has a texture; leave out either the value or the texture", {"value": value}
                )
        return self


class MaterialEnsured(Result):
    material: str = Field(description="Name of the material.")
    node: str = Field(description="Name of the Principled BSDF node.")
    created: bool = Field(description="True if the material is new.")
    changed: bool = Field(description="False if the material already existed exactly as requested.")


class EnsurePrincipled(Tool[EnsurePrincipledArgs, MaterialEnsured]):
    """Ensure that a material with a Principled BSDF has these values and image textures; create or change it as needed.

    Arguments that are left out change nothing (a new material has Blender's defaults). The viewport colour is changed
    too, so that Workbench previews show it. A value that comes from nodes other than image textures is refused, not
    overridden.
    """

    name = "material.ensure_principled"
    promises = SAFE_IDEMPOTENT_WRITE.writes_to(Kind.MATERIAL).needs("material_write")
    examples = (
        Example({"name": "Red", "base_color": [0.8, 0.05, 0.05], "roughness": 0.4}),
        Example({"name": "Glass", "transmission": 1, "roughness": 0, "ior": 1.45}),
        Example(
            {"name": "Steel", "metallic": 1, "roughness": 0.25},
            ("material.ensure_principled", {"name": "Steel", "base_color": [0.6, 0.6, 0.62]}),
        ),
        Example({"name": "Wood", "textures": {"base_color": "Grain", "roughness": "Rough", "repeat": 2}}, GRAIN, ROUGH),
        Example({"name": "Wood", "textures": {"base_color": "Grain", "projection": "BOX", "repeat": 0.5}}, GRAIN),
        Example(
            {
                "name": "Wood",
                "textures": {
                    "base_color": "Grain",
                    "alpha": "Grain",
                    "gloss": "Rough",
                    "normal": "Rough",
                    "normal_directx": True,
                    "height": "Rough",
                    "ambient_occlusion": "Grain",
                    "emission": "Grain",
                },
            },
            GRAIN,
            ROUGH,
            ("material.ensure_principled", {"name": "Wood", "textures": {"base_color": "Rough", "normal": "Rough"}}),
        ),
        Example({"name": "Lamp", "emission_color": [1, 0.8, 0.6], "emission_strength": 5}),
    )

    def check(self, scene: Scene, args: EnsurePrincipledArgs) -> Findings:
        material = scene.find(Kind.MATERIAL, args.name)
        if material is None:
            yield from scene.name_conflicts(Kind.MATERIAL, args.name, "/name")
            if args.textures is not None:
                yield from texture_problems(scene, args.textures, None, args.name)
            return
        if lacks_nodes(scene, material):
            return
        node = yield from single_principled(material)
        if node is None:
            return
        if args.textures is not None:
            yield from texture_problems(scene, args.textures, node, args.name)
        for setting in socket_settings(args, node):
            if setting.target.is_linked:
                source = setting.target.links[0].from_node.name
                message = f"the {setting.target.name} of material '{args.name}' comes from its node '{source}'"
                yield conflict(message, setting.at, unlink_fix(args.name, setting.target))
        yield from animation_conflicts(scene, [*socket_settings(args, node), *display_settings(args, material)])

    def apply(self, scene: Scene, args: EnsurePrincipledArgs) -> MaterialEnsured:
        material = scene.find(Kind.MATERIAL, args.name)
        created = material is None
        if material is None:
            material = scene.create(Kind.MATERIAL, args.name)
        node = principled_nodes(with_nodes(scene, material).node_tree)[0]
        textured = args.textures is not None and any(texture_differences(args.textures, node))
        if args.textures is not None and textured:
            tree = scene.edit(material).node_tree
            build_textures(scene, args.textures, tree, node)
        changed = write_settings(scene, socket_settings(args, node), owner=material)
        changed = write_settings(scene, display_settings(args, material)) or changed
        changed = created or textured or changed
        return MaterialEnsured(material=args.name, node=node.name, created=created, changed=changed)

    def verify(self, scene: Scene, args: EnsurePrincipledArgs, result: MaterialEnsured) -> Findings:
        material: Block = scene.require(Kind.MATERIAL, args.name, "/name")
        node = principled_nodes(material.node_tree)[0]
        yield from settings_differ(socket_settings(args, node))
        yield from settings_differ(display_settings(args, material))
        if args.textures is None:
            return
        for socket, role in texture_differences(args.textures, node):
            yield conflict(f"the texture of {socket} is a different one", f"/textures/{role}", "Change its nodes.")
