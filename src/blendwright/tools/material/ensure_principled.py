"""material.ensure_principled, and what a Principled BSDF is made of: its arguments, its sockets, how it is found in a node tree.

Covers plain values and image textures: other nodes are the business of node patches.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Annotated

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
    unlink_cure,
)
from blendwright.tools.settings import Setting, Settings, animation_conflicts, settings_differ, write_settings
from blendwright.values.findings import Finding

PRINCIPLED = "ShaderNodeBsdfPrincipled"
GRAIN = ("image.create", {"name": "Grain", "size": [8, 8], "type": "COLOR_GRID"})
ROUGH = ("image.create", {"name": "Rough", "size": [8, 8], "color": [0.5, 0.5, 1], "color_space": "Non-Color"})

# Argument -> socket, the same from Blender 4.0 on.
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
# Values that textures take the place of.
TEXTURED: dict[str, tuple[str, ...]] = {
    "base_color": ("base_color",),
    "metallic": ("metallic",),
    "roughness": ("roughness", "gloss"),
    "alpha": ("alpha",),
    "emission_color": ("emission",),
}


class PrincipledValues(Args):
    """The values of a Principled BSDF; what is left out stays as it is."""

    base_color: Color3 | None = optional("Surface colour, linear RGB from 0 to 1.")
    metallic: UnitFloat | None = optional("0 for plastic, wood or glass, 1 for metal.")
    roughness: UnitFloat | None = optional("0 for a mirror, 1 for chalk.")
    emission_color: Color3 | None = optional("Colour of its own light, linear RGB from 0 to 1.")
    emission_strength: float | None = optional(
        "Strength of its own light; 1 when only emission_color is given and it is 0.", ge=0.0, le=1e6
    )
    alpha: UnitFloat | None = optional("Opacity: 0 is invisible, 1 is solid.")
    ior: float | None = optional("Index of refraction: water 1.33, glass 1.45.", ge=1.0, le=100.0)
    transmission: UnitFloat | None = optional("How much light passes through: 1 for glass.")


def principled_nodes(tree: Block | None) -> list[Block]:
    """The Principled BSDF nodes whose shader reaches the active output's surface, nearest first."""
    if tree is not None:
        output = tree.get_output_node("ALL")
    else:
        output = None
    if output is None:
        return []
    nodes: list[Block] = []
    ahead = [output.inputs["Surface"]]
    seen: set[str] = set()
    while ahead:
        for link in ahead.pop(0).links:
            node = link.from_node
            if node.name in seen:
                continue
            seen.add(node.name)
            if node.bl_idname == PRINCIPLED:
                nodes.append(node)
            else:
                ahead += [
                    socket for socket in node.inputs if socket.type == "SHADER" or node.bl_idname == "NodeReroute"
                ]
    return nodes


def single_principled(material: Block) -> Generator[Finding, None, Block | None]:
    """The one Principled BSDF of a material that has nodes; a finding and None where there is none, or another one."""
    nodes = principled_nodes(material.node_tree)
    if len(nodes) == 1:
        return nodes[0]
    if not nodes:
        how_many = "no Principled BSDF reaches"
    else:
        how_many = f"{len(nodes)} Principled BSDFs reach"
    cure = "Use another name, or change its nodes."
    yield conflict(f"{how_many} the output of material '{material.name}'", "/name", cure)
    return None


def socket_settings(args: PrincipledValues, node: Block) -> Settings:
    """The sockets' values that were asked for."""
    for argument, name in SOCKETS.items():
        value = getattr(args, argument)
        if value is not None:
            colour = isinstance(value, tuple)
            yield Setting(node.inputs[name], "default_value", (*value, 1.0) if colour else value, f"/{argument}")
    textures = getattr(args, "textures", None)
    glows = args.emission_color is not None or (textures is not None and textures.emission is not None)
    if glows and args.emission_strength is None:
        socket = node.inputs["Emission Strength"]
        if socket.default_value == 0.0:
            yield Setting(socket, "default_value", 1.0, "/emission_color")


def display_settings(args: PrincipledValues, material: Block) -> Settings:
    """The material's colours for Workbench, which does not look at nodes."""
    if args.base_color is not None or args.alpha is not None:
        display_color = material.diffuse_color
        if args.base_color is not None:
            colour = args.base_color
        else:
            colour = tuple(display_color[:3])
        if args.alpha is not None:
            alpha = args.alpha
        else:
            alpha = display_color[3]
        yield Setting(material, "diffuse_color", (*colour, alpha), "/base_color")
    if args.metallic is not None:
        yield Setting(material, "metallic", args.metallic, "/metallic")
    if args.roughness is not None:
        yield Setting(material, "roughness", args.roughness, "/roughness")


def lacks_nodes(scene: Scene, material: Block) -> bool:
    """Whether a material has no tree yet, and gets Blender's default one by `with_nodes`."""
    return scene.version < (5, 0, 0) and not material.use_nodes and material.node_tree is None


def with_nodes(scene: Scene, block: Block) -> Block:
    """A material or world that has its node tree; one without gets Blender's default tree, with its stable node names."""
    # From 5.0 on every material and world has its tree, and asking for `use_nodes` is deprecated.
    if scene.version < (5, 0, 0) and not block.use_nodes:
        scene.edit(block).use_nodes = True
    return block


class EnsurePrincipledArgs(PrincipledValues):
    name: Annotated[Name, ensures(Kind.MATERIAL)] = Field(
        description="Name of the material; it is created when there is none of that name."
    )
    textures: Textures | None = optional("Images in the place of values, by the objects' UV maps.")

    @model_validator(mode="after")
    def _value_or_texture(self) -> EnsurePrincipledArgs:
        for value, roles in TEXTURED.items():
            textured = self.textures is not None and any(getattr(self.textures, role) is not None for role in roles)
            if textured and getattr(self, value) is not None:
                raise PydanticCustomError("textured", "{value} has a texture; leave the value out", {"value": value})
        return self


class MaterialEnsured(Result):
    material: str = Field(description="Name of the material.")
    node: str = Field(description="Name of the Principled BSDF node that holds the values.")
    created: bool = Field(description="True when the material is new.")
    changed: bool = Field(description="False when it was there and everything was as asked already.")


class EnsurePrincipled(Tool[EnsurePrincipledArgs, MaterialEnsured]):
    """Have a material with a Principled BSDF and these values and image textures: made, or changed where it is there.

    What is not given stays as it is (Blender's defaults on a new one). The material's viewport colour follows, so that
    Workbench previews show it. A value that comes from other nodes than image
    textures is refused, not overridden."""

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
                yield conflict(message, setting.at, unlink_cure(args.name, setting.target))
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
        for socket, role in texture_differences(args.textures, node) if args.textures is not None else ():
            yield conflict(f"the texture of {socket} is another one", f"/textures/{role}", "Change its nodes.")
