"""material.ensure_procedural: a surface of procedural textures, by the name of what it looks like; `patterns.py` has what it is made of."""

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
        description="Name of the material; it is created when there is none of that name."
    )
    pattern: Pattern = Field(
        description="What it looks like. BRICK has mortar joints; PLASTER is mottled, also for concrete, earth or "
        "single bricks. WOOD and BRUSHED_METAL run along the longest side of each object."
    )
    color: Color3 = Field(description="Main colour, linear RGB from 0 to 1.")
    color2: Color3 | None = optional(
        "Second colour: dark rings, patches, veins, threads, and the mortar of BRICK. Left out: a shade of color, or "
        "grey mortar."
    )
    scale: float | None = optional(
        "Features in a metre. Left out: WOOD 25 (rings), STONE 6, MARBLE 3, BRICK 4.5 (bricks in a row), PLASTER 6, "
        "FABRIC 100 (threads), BRUSHED_METAL 120.",
        gt=0.0,
        le=10_000.0,
    )
    roughness: UnitFloat | None = optional("0 for a mirror, 1 for chalk. Left out: that of the pattern.")
    metallic: UnitFloat | None = optional("Left out: 1 for BRUSHED_METAL, else 0.")
    bump: UnitFloat | None = optional("Strength of the relief, 0 for none. Left out: that of the pattern.")

    def style(self) -> Style:
        """The pattern's style with what was asked for in it."""
        asked = {key: getattr(self, key) for key in ("scale", "roughness", "metallic", "bump")}
        return STYLES[self.pattern]._replace(**{key: value for key, value in asked.items() if value is not None})

    def nodes(self) -> Nodes:
        style = self.style()
        if self.color2 is None:
            color2 = second_color(self.pattern, self.color)
        else:
            color2 = self.color2
        return style.nodes(Look(self.color, color2, style.scale, style.bump))


def plain_settings(args: EnsureProceduralArgs, node: Block) -> Settings:
    """What of the Principled BSDF is a plain value."""
    yield Setting(node.inputs["Metallic"], "default_value", args.style().metallic, "/metallic")
    yield Setting(node.inputs["Roughness"], "default_value", args.style().roughness, "/roughness")


def display_settings(args: EnsureProceduralArgs, material: Block) -> Settings:
    """The material's colours for Workbench, which does not look at nodes."""
    yield Setting(material, "diffuse_color", (*args.color, material.diffuse_color[3]), "/color")
    yield Setting(material, "metallic", args.style().metallic, "/metallic")
    yield Setting(material, "roughness", args.style().roughness, "/roughness")


class EnsureProcedural(Tool[EnsureProceduralArgs, MaterialEnsured]):
    """Have a material with a procedural pattern: wood, stone, marble, a brick wall, mottled plaster or concrete, fabric, brushed metal.

    It is made, or changed where it is there, of procedural textures in the object's own space: no UV map is needed, features have their
    size in metres whatever the object's scale, and every object has another cut of the pattern. What is not given is the pattern's
    default. The viewport colour follows. A material whose colour or relief comes from other nodes is refused, not overridden."""

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
        built = any(differences(material.node_tree, node, wanted))
        if built:
            build(scene, scene.edit(material).node_tree, node, wanted)
        changed = write_settings(scene, plain_settings(args, node), owner=material)
        changed = write_settings(scene, display_settings(args, material)) or changed
        return MaterialEnsured(material=args.name, node=node.name, created=created, changed=created or built or changed)

    def verify(self, scene: Scene, args: EnsureProceduralArgs, result: MaterialEnsured) -> Findings:
        material: Block = scene.require(Kind.MATERIAL, args.name, "/name")
        node = principled_nodes(material.node_tree)[0]
        yield from settings_differ(plain_settings(args, node))
        yield from settings_differ(display_settings(args, material))
        for name in differences(material.node_tree, node, args.nodes()):
            yield conflict(f"node '{name}' is not as it was made", AT, "Use another name, or change its nodes.")
