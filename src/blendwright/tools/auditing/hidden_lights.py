"""Rule for lights that a closed surface surrounds, such as a lamp in a closed shade or inside a wall."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from blendwright.tool_api.scene import Block, Scene
from blendwright.tool_api.surfaces import Point, Surfaces
from blendwright.tools.auditing.flaws import Flaw
from blendwright.tools.auditing.mesh_rules import objects_of_scene
from blendwright.tools.auditing.parts import Part
from blendwright.tools.auditing.scene_rules import shader_nodes, shines
from blendwright.tools.world_space import world_matrix

# Shaders that transmit light with any settings.
CLEAR = frozenset(
    f"ShaderNode{name}"
    for name in (
        "BsdfGlass", "BsdfHair", "BsdfHairPrincipled", "BsdfRefraction", "BsdfTranslucent", "BsdfTransparent", "Group",
        "SubsurfaceScattering", "VolumeAbsorption", "VolumePrincipled", "VolumeScatter",
    )
)  # fmt: skip
PRINCIPLED = "ShaderNodeBsdfPrincipled"


def hidden_light_flaws(
    scene: Scene, parts: Sequence[Part], surfaces: Surfaces, names: Collection[str] | None
) -> Iterator[Flaw]:
    """Yield lights whose light no closed surface around them lets through.

    If `names` is given, report only flaws that concern these objects.
    """
    camera = scene.active.camera
    viewpoint = None
    if camera is not None:
        viewpoint = _position(scene, camera)
    lamps = [obj for obj in objects_of_scene(scene) if obj.type == "LIGHT"]
    for lamp in lamps:
        if lamp.hide_render or lamp.data.type == "SUN" or lamp.data.energy <= 0.0:
            continue
        position = _position(scene, lamp)
        enclosing = [part for part in parts if _is_around(part, position) and _is_dark(scene, part.obj)]
        shade = next((part for part in enclosing if _shuts_in(part, parts, surfaces, position, viewpoint)), None)
        if shade is not None and (names is None or lamp.name in names or shade.name in names):
            yield Flaw("hidden_light", lamp.name, {}, shade.name)


def _position(scene: Scene, obj: Block) -> Point:
    x, y, z = world_matrix(scene, obj).translation
    return x, y, z


def _is_around(part: Part, position: Point) -> bool:
    low, high = part.box.low, part.box.high
    # Written out per axis for speed: this runs for every pair of a light and a part.
    is_within_xy = low[0] < position[0] < high[0] and low[1] < position[1] < high[1]
    return is_within_xy and low[2] < position[2] < high[2] and part.has_faces


def _shuts_in(part: Part, parts: Sequence[Part], surfaces: Surfaces, position: Point, viewpoint: Point | None) -> bool:
    return surfaces.shuts_in(part.obj, position) and not _is_room(part, parts, surfaces, viewpoint)


def _is_room(part: Part, parts: Sequence[Part], surfaces: Surfaces, viewpoint: Point | None) -> bool:
    """Return True if the viewpoint is inside the part too; without a camera, if another object's centre is."""
    if viewpoint is not None:
        return _is_around(part, viewpoint) and surfaces.shuts_in(part.obj, viewpoint)
    return any(part_inside is not part and _is_around(part, part_inside.box.center) for part_inside in parts)


def _is_dark(scene: Scene, obj: Block) -> bool:
    """Return True if no light passes through the object's surface and the surface emits none."""
    if not obj.visible_shadow:
        return False
    materials = {slot.material for slot in obj.material_slots if slot.material is not None}
    return not any(shines(scene, material) or _is_clear(scene, material) for material in materials)


def _is_clear(scene: Scene, material: Block) -> bool:
    for node in shader_nodes(scene, material):
        if node.bl_idname in CLEAR:
            return True
        if node.bl_idname == PRINCIPLED:
            transmission, alpha = node.inputs["Transmission Weight"], node.inputs["Alpha"]
            if (
                transmission.is_linked
                or transmission.default_value > 0.0
                or alpha.is_linked
                or alpha.default_value < 1.0
            ):
                return True
    return False
