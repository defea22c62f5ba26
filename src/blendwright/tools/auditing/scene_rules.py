"""Rules for the whole scene: camera and light, names, unused datablocks, missing files."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from blendwright.tool_api.scene import Block, Kind, Scene
from blendwright.tools.auditing.flaws import Flaw, Repair
from blendwright.tools.auditing.mesh_rules import objects_of_scene
from blendwright.tools.unused_kinds import PURGED

# Blender's default names of new datablocks and of copies.
DEFAULT_NAME = re.compile(
    r"(?:.*\.\d{3,}|Cube|Sphere|Icosphere|Cylinder|Cone|Torus|Plane|Circle|Grid|Suzanne|Mesh|Curve|BezierCurve|BezierCircle"
    r"|NurbsCurve|NurbsPath|Empty|Object|Material)",
    re.DOTALL,
)


def name_flaws(scene: Scene) -> Iterator[Flaw]:
    for obj in objects_of_scene(scene):
        if DEFAULT_NAME.fullmatch(obj.name):
            yield Flaw("default_name", obj.name, {"type": obj.type})
    for name in scene.names(Kind.MATERIAL):
        if DEFAULT_NAME.fullmatch(name):
            yield Flaw("default_name", f"{Kind.MATERIAL.value}/{name}", {"type": "MATERIAL"})


def orphan_flaws(scene: Scene) -> Iterator[Flaw]:
    for block in scene.unused(PURGED):
        kind = scene.kind_of(block)
        purge: Repair = ("scene.purge", {"kinds": [kind.name.lower()]})
        yield Flaw("orphan", f"{kind.value}/{block.name}", {}, repairs=lambda purge=purge: [purge])


def file_flaws(scene: Scene) -> Iterator[Flaw]:
    for kind, name, path in scene.missing_files():
        yield Flaw("missing_file", f"{kind}/{name}", {"path": path})


def camera_flaws(scene: Scene) -> Iterator[Flaw]:
    if scene.active.camera is not None:
        return
    cameras = [obj.name for obj in objects_of_scene(scene) if obj.type == "CAMERA"]
    yield Flaw("no_camera", "", {"cameras": len(cameras)}, repairs=lambda: _camera_repairs(scene, cameras))


def _camera_repairs(scene: Scene, cameras: list[str]) -> list[Repair]:
    if cameras:
        return [("camera.set_active", {"object": cameras[0]})]
    name = _free_name(scene, "Camera")
    return [
        ("camera.create", {"name": name}),
        ("camera.frame_objects", {"object": name, "view": "ISO"}),
        ("camera.set_active", {"object": name}),
    ]


def light_flaws(scene: Scene) -> Iterator[Flaw]:
    objects = objects_of_scene(scene)
    lamps = [obj for obj in objects if obj.type == "LIGHT"]
    if any(not obj.hide_render and obj.data.energy > 0.0 for obj in lamps):
        return
    if scene.active.world is not None and _world_shines(scene, scene.active.world):
        return
    materials = dict.fromkeys(slot.material for obj in objects for slot in obj.material_slots if slot.material)
    if any(shines(scene, material) for material in materials):
        return
    args = {"name": _free_name(scene, "Sun"), "type": "SUN", "energy": 3.0, "rotation_euler_deg": [50, 0, 30]}
    yield Flaw("no_light", "", {"lights": len(lamps)}, repairs=lambda: [("light.create", args)])


def shader_nodes(scene: Scene, owner: Block) -> Sequence[Block]:
    """Return the active shader nodes of a material or world. Before Blender 5.0, nodes could be turned off."""
    uses_nodes = scene.version >= (5, 0, 0) or owner.use_nodes
    if uses_nodes and owner.node_tree is not None:
        return owner.node_tree.nodes
    return ()


def _world_shines(scene: Scene, world: Block) -> bool:
    nodes = shader_nodes(scene, world)
    backgrounds = [node for node in nodes if node.bl_idname == "ShaderNodeBackground"]
    if not backgrounds:
        return not nodes and any(channel > 0.0 for channel in world.color)
    return any(_gives_light(node.inputs["Color"], node.inputs["Strength"]) for node in backgrounds)


def shines(scene: Scene, material: Block) -> bool:
    """Return True if a material emits light."""
    for node in shader_nodes(scene, material):
        if node.bl_idname == "ShaderNodeEmission" and _gives_light(node.inputs["Color"], node.inputs["Strength"]):
            return True
        if node.bl_idname == "ShaderNodeBsdfPrincipled" and _gives_light(
            node.inputs["Emission Color"], node.inputs["Emission Strength"]
        ):
            return True
    return False


def _gives_light(color: Block, strength: Block) -> bool:
    lit = color.is_linked or any(channel > 0.0 for channel in tuple(color.default_value)[:3])
    return lit and (strength.is_linked or strength.default_value > 0.0)


def _free_name(scene: Scene, name: str) -> str:
    used_names = set(scene.names(Kind.OBJECT))
    candidate, number = name, 1
    while candidate in used_names:
        number += 1
        candidate = f"{name} {number}"
    return candidate
