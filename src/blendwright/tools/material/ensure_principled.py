"""material.ensure_principled"""

from __future__ import annotations

from pydantic import Field

from blendwright.tool_api.arguments import Name, Result
from blendwright.tool_api.promises import SAFE_IDEMPOTENT_WRITE
from blendwright.tool_api.scene import Block, Kind, Scene
from blendwright.tool_api.tool import Example, Findings, Tool
from blendwright.tools.checks import conflict
from blendwright.tools.principled_shader import (
    PrincipledValues,
    display_settings,
    principled_nodes,
    socket_settings,
    with_nodes,
)
from blendwright.tools.settings import animation_conflicts, settings_differ, write_settings


class EnsurePrincipledArgs(PrincipledValues):
    name: Name = Field(description="Name of the material; it is created when there is none of that name.")


class MaterialEnsured(Result):
    material: str = Field(description="Name of the material.")
    node: str = Field(description="Name of the Principled BSDF node that holds the values.")
    created: bool = Field(description="True when the material is new.")
    changed: bool = Field(description="False when it was there and everything was as asked already.")


class EnsurePrincipled(Tool[EnsurePrincipledArgs, MaterialEnsured]):
    """Have a material with a Principled BSDF and these values: creates it, or sets the given values on the one there is.

    What is not given stays as it is (Blender's defaults on a new one). The material's viewport colour follows, so that
    Workbench previews show it. A value that comes from another node through a link is refused, not overridden."""

    name = "material.ensure_principled"
    promises = SAFE_IDEMPOTENT_WRITE.writes_to(Kind.MATERIAL).needs("material_write")
    examples = (
        Example({"name": "Red", "base_color": [0.8, 0.05, 0.05], "roughness": 0.4}),
        Example({"name": "Glass", "transmission": 1, "roughness": 0, "ior": 1.45}),
        Example(
            {"name": "Steel", "metallic": 1, "roughness": 0.25},
            ("material.ensure_principled", {"name": "Steel", "base_color": [0.6, 0.6, 0.62]}),
        ),
        Example({"name": "Lamp", "emission_color": [1, 0.8, 0.6], "emission_strength": 5}),
    )

    def check(self, scene: Scene, args: EnsurePrincipledArgs) -> Findings:
        material = scene.find(Kind.MATERIAL, args.name)
        if material is None:
            yield from scene.taken(Kind.MATERIAL, args.name, "/name")
            return
        if scene.version < (5, 0, 0) and not material.use_nodes and material.node_tree is None:
            return
        nodes = principled_nodes(material.node_tree)
        if len(nodes) != 1:
            how_many = "no Principled BSDF reaches" if not nodes else f"{len(nodes)} Principled BSDFs reach"
            cure = "Use another name, or change its nodes."
            yield conflict(f"{how_many} the output of material '{args.name}'", "/name", cure)
            return
        for setting in socket_settings(args, nodes[0]):
            if setting.target.is_linked:
                source = setting.target.links[0].from_node.name
                message = f"the {setting.target.name} of material '{args.name}' comes from its node '{source}'"
                yield conflict(message, setting.at, "Leave it out, or change that node.")
        yield from animation_conflicts(scene, [*socket_settings(args, nodes[0]), *display_settings(args, material)])

    def apply(self, scene: Scene, args: EnsurePrincipledArgs) -> MaterialEnsured:
        material = scene.find(Kind.MATERIAL, args.name)
        created = material is None
        if material is None:
            material = scene.create(Kind.MATERIAL, args.name)
        node = principled_nodes(with_nodes(scene, material).node_tree)[0]
        changed = write_settings(scene, socket_settings(args, node), owner=material)
        changed = write_settings(scene, display_settings(args, material)) or changed
        return MaterialEnsured(material=args.name, node=node.name, created=created, changed=created or changed)

    def verify(self, scene: Scene, args: EnsurePrincipledArgs, result: MaterialEnsured) -> Findings:
        material: Block = scene.require(Kind.MATERIAL, args.name, "/name")
        yield from settings_differ(socket_settings(args, principled_nodes(material.node_tree)[0]))
        yield from settings_differ(display_settings(args, material))
