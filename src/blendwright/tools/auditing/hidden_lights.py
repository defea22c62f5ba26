"""The rule about lights that are shut in: a lamp in a closed shade, or sunk into a wall."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from blendwright.tool_api.scene import Block, Scene
from blendwright.tool_api.surfaces import Point, Surfaces
from blendwright.tools.auditing.flaws import Flaw
from blendwright.tools.auditing.parts import Part
from blendwright.tools.auditing.scene_rules import shader_nodes, shines
from blendwright.tools.world_space import world_matrix

# Shaders that let light through, whatever their settings.
CLEAR = frozenset(
    f"ShaderNode{name}"
    for name in (
        "BsdfGlass", "BsdfHair", "BsdfHairPrincipled", "BsdfRefraction", "BsdfTranslucent", "BsdfTransparent", "Group",
        "SubsurfaceScattering", "VolumeAbsorption", "VolumePrincipled", "VolumeScatter",
    )
)  # fmt: skip
PRINCIPLED = "ShaderNodeBsdfPrincipled"


def hidden_light_flaws(
    scene: Scene, parts: Sequence[Part], surfaces: Surfaces, told: Collection[str] | None
) -> Iterator[Flaw]:
    """Lights with a closed surface all around them, through which none of their light comes; of `told` objects, where they are named."""
    camera = scene.active.camera
    if camera is None:
        eye = None
    else:
        eye = _place(scene, camera)
    for lamp in sorted((obj for obj in scene.active.objects if obj.type == "LIGHT"), key=lambda obj: obj.name):
        if lamp.hide_render or lamp.data.type == "SUN" or lamp.data.energy <= 0.0:
            continue
        place = _place(scene, lamp)
        around = [part for part in parts if _is_around(part, place) and _is_dark(scene, part.obj)]
        shade = next((part for part in around if _shuts_in(part, parts, surfaces, place, eye)), None)
        if shade is not None and (told is None or lamp.name in told or shade.name in told):
            yield Flaw("hidden_light", lamp.name, {}, shade.name)


def _place(scene: Scene, obj: Block) -> Point:
    x, y, z = world_matrix(scene, obj).translation
    return x, y, z


def _is_around(part: Part, place: Point) -> bool:
    low, high = part.box.low, part.box.high
    # Axis by axis, since every light asks about every part.
    across = low[0] < place[0] < high[0] and low[1] < place[1] < high[1]
    return across and low[2] < place[2] < high[2] and part.has_faces


def _shuts_in(part: Part, parts: Sequence[Part], surfaces: Surfaces, place: Point, eye: Point | None) -> bool:
    return surfaces.shuts_in(part.obj, place) and not _is_room(part, parts, surfaces, eye)


def _is_room(part: Part, parts: Sequence[Part], surfaces: Surfaces, eye: Point | None) -> bool:
    """Whether what is seen is inside as well: the camera, or as long as there is none, other objects."""
    if eye is not None:
        return _is_around(part, eye) and surfaces.shuts_in(part.obj, eye)
    return any(other is not part and _is_around(part, other.box.center) for other in parts)


def _is_dark(scene: Scene, obj: Block) -> bool:
    """Whether no light comes through a surface, nor from it."""
    if not obj.visible_shadow:
        return False
    materials = {slot.material for slot in obj.material_slots if slot.material is not None}
    return not any(shines(scene, material) or _is_clear(scene, material) for material in materials)


def _is_clear(scene: Scene, material: Block) -> bool:
    for node in shader_nodes(scene, material):
        if node.bl_idname in CLEAR:
            return True
        if node.bl_idname == PRINCIPLED:
            through, alpha = node.inputs["Transmission Weight"], node.inputs["Alpha"]
            if through.is_linked or through.default_value > 0.0 or alpha.is_linked or alpha.default_value < 1.0:
                return True
    return False
