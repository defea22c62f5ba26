"""Tool material.ensure_procedural: a surface of procedural textures, selected by name. `patterns.py` defines the
patterns.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from blendwright.tool_api import Block, Example, Findings, Kind, Name, Scene, Tool
from blendwright.tool_api.arguments import Args, Color3, UnitFloat, optional
from blendwright.tool_api.mentions import ensures
from blendwright.tool_api.promises import SAFE_IDEMPOTENT_WRITE
from blendwright.tools.checks import conflict
from blendwright.tools.material.ensure_principled import (
    MaterialEnsured,
    lacks_nodes,
    principled_nodes,
    single_principled,
    with_nodes,
)
from blendwright.tools.material.pattern_parts import Look, Nodes
from blendwright.tools.material.pattern_tree import AT, build, differences, foreign_links, value_settings
from blendwright.tools.material.patterns import STYLES, Pattern, Style, second_color
from blendwright.tools.settings import Setting, Settings, animation_conflicts, settings_differ, write_settings


class EnsureProceduralArgs(Args):
    name: Annotated[Name, ensures(Kind.MATERIAL)] = Field(
        description="Name of the material; it is created if it does not exist."
    )
    pattern: Pattern = Field(
        description="Look of the material. BRICK has mortar joints. PLASTER is mottled, also for concrete, earth or "
        "single bricks. WOOD and BRUSHED_METAL run along the longest side of each object."
    )
    color: Color3 = Field(description="Main colour, linear RGB from 0 to 1.")
    color2: Color3 | None = optional(
        "Second colour: dark rings, patches, veins, threads, and the mortar of BRICK. Default: a shade of color, or "
        "grey mortar."
    )
    scale: float | None = optional(
        "Features per metre. Default: WOOD 25 (rings), STONE 6, MARBLE 3, BRICK 4.5 (bricks in a row), PLASTER 6, "
        "FABRIC 100 (threads), BRUSHED_METAL 120.",
        gt=0.0,
        le=10_000.0,
    )
    roughness: UnitFloat | None = optional("0 for a mirror, 1 for chalk. Default: that of the pattern.")
    metallic: UnitFloat | None = optional("0 for non-metals, 1 for metal. Default: 1 for BRUSHED_METAL, else 0.")
    bump: UnitFloat | None = optional("Strength of the relief, 0 for none. Default: that of the pattern.")

    def style(self) -> Style:
        """Return the pattern's style, with the given arguments instead of its defaults."""
        style = STYLES[self.pattern]
        for name in ("scale", "roughness", "metallic", "bump"):
            value = getattr(self, name)
            if value is not None:
                style = style._replace(**{name: value})
        return style

    def nodes(self) -> Nodes:
        """Return the nodes of the pattern with these arguments."""
        style = self.style()
        if self.color2 is None:
            color2 = second_color(self.pattern, self.color)
        else:
            color2 = self.color2
        return style.nodes(Look(self.color, color2, style.scale, style.bump))


def plain_settings(args: EnsureProceduralArgs, node: Block) -> Settings:
    """Yield the plain values of the Principled BSDF."""
    yield Setting(node.inputs["Metallic"], "default_value", args.style().metallic, "/metallic")
    yield Setting(node.inputs["Roughness"], "default_value", args.style().roughness, "/roughness")


def display_settings(args: EnsureProceduralArgs, material: Block) -> Settings:
    """Yield the material's viewport settings, which Workbench uses instead of nodes."""
    yield Setting(material, "diffuse_color", (*args.color, material.diffuse_color[3]), "/color")
    yield Setting(material, "metallic", args.style().metallic, "/metallic")
    yield Setting(material, "roughness", args.style().roughness, "/roughness")


class EnsureProcedural(Tool[EnsureProceduralArgs, MaterialEnsured]):
    """Ensure a material with a procedural pattern: wood, stone, marble, brick wall, mottled plaster or concrete,
    fabric, brushed metal.

    The material is created or changed. Its textures use the object's local space: no UV map is needed, features have
    their size in metres at any object scale, and every object shows another part of the pattern. Arguments that are
    left out have the pattern's defaults. The viewport colour is changed too. A material with colour or relief from
    other nodes is refused, not overridden.
    """

    name = "material.ensure_procedural"
    promises = SAFE_IDEMPOTENT_WRITE.writes_to(Kind.MATERIAL).needs("material_write")
    examples = (
        Example({"name": "Oak", "pattern": "WOOD", "color": [0.45, 0.24, 0.1]}),
        Example(
            {"name": "Wall", "pattern": "BRICK", "color": [0.35, 0.06, 0.03], "color2": [0.6, 0.57, 0.5], "scale": 4}
        ),
        Example({"name": "Concrete", "pattern": "PLASTER", "color": [0.4, 0.4, 0.38], "bump": 0.2}),
        Example({"name": "Rock", "pattern": "STONE", "color": [0.3, 0.29, 0.27]}),
        Example({"name": "Counter", "pattern": "MARBLE", "color": [0.85, 0.84, 0.82], "roughness": 0.05}),
        Example({"name": "Steel", "pattern": "BRUSHED_METAL", "color": [0.6, 0.6, 0.62]}),
        Example(
            {"name": "Cover", "pattern": "FABRIC", "color": [0.1, 0.2, 0.4], "scale": 60},
            ("material.ensure_procedural", {"name": "Cover", "pattern": "PLASTER", "color": [0.4, 0.3, 0.2]}),
        ),
    )

    def check(self, scene: Scene, args: EnsureProceduralArgs) -> Findings:
        material = scene.find(Kind.MATERIAL, args.name)
        if material is None:
            yield from scene.name_conflicts(Kind.MATERIAL, args.name, "/name")
            return
        if lacks_nodes(scene, material):
            return
        node = yield from single_principled(material)
        if node is None:
            return
        tree, wanted = material.node_tree, args.nodes()
        if any(differences(tree, node, wanted)):
            yield from foreign_links(tree, node, args.name)
        settings = (*plain_settings(args, node), *display_settings(args, material), *value_settings(tree, wanted))
        yield from animation_conflicts(scene, settings)

    def apply(self, scene: Scene, args: EnsureProceduralArgs) -> MaterialEnsured:
        material = scene.find(Kind.MATERIAL, args.name)
        created = material is None
        if material is None:
            material = scene.create(Kind.MATERIAL, args.name)
        node = principled_nodes(with_nodes(scene, material).node_tree)[0]
        wanted = args.nodes()
        rebuilds = any(differences(material.node_tree, node, wanted))
        if rebuilds:
            build(scene, scene.edit(material).node_tree, node, wanted)
        changed = write_settings(scene, plain_settings(args, node), owner=material)
        changed = write_settings(scene, display_settings(args, material)) or changed
        return MaterialEnsured(
            material=args.name, node=node.name, created=created, changed=created or rebuilds or changed
        )

    def verify(self, scene: Scene, args: EnsureProceduralArgs, result: MaterialEnsured) -> Findings:
        material: Block = scene.require(Kind.MATERIAL, args.name, "/name")
        node = principled_nodes(material.node_tree)[0]
        yield from settings_differ(plain_settings(args, node))
        yield from settings_differ(display_settings(args, material))
        for name in differences(material.node_tree, node, args.nodes()):
            yield conflict(
                f"node '{name}' differs from the pattern's node", AT, "Use another name, or change its nodes."
            )
