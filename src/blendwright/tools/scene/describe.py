"""Datablocks as entries of a snapshot. Reads only, and each entry from its own datablock alone but for who uses it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cache, cached_property

from blendwright.tool_api.scene import Block, Kind, Scene
from blendwright.tools.animation_data import action_of, curves
from blendwright.tools.bounding_boxes import BOUNDLESS
from blendwright.tools.scene import snapshot_model as model
from blendwright.tools.scene.plain_values import custom_properties, number, vector3, vector4
from blendwright.tools.world_space import evaluated_matrix


class Users:
    """How many objects have each datablock, and how many modifiers and nodes each node group. Counted here: Blender's own numbers count
    what a step keeps for its way back too."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene

    @cached_property
    def of_data(self) -> Counter[tuple[Kind, str]]:
        objects = self._scene.blocks(Kind.OBJECT)
        return Counter((self._scene.kind_of(obj.data), obj.data.name) for obj in objects if obj.data is not None)

    @cached_property
    def of_materials(self) -> Counter[str]:
        objects = self._scene.blocks(Kind.OBJECT)
        return Counter(
            name for obj in objects for name in {slot.material.name for slot in obj.material_slots if slot.material}
        )

    @cached_property
    def of_groups(self) -> Counter[str]:
        kinds = (Kind.MATERIAL, Kind.WORLD, Kind.LIGHT)
        owners = (block.node_tree for kind in kinds for block in self._scene.blocks(kind))
        trees = [*(tree for tree in owners if tree is not None), *self._scene.blocks(Kind.NODE_GROUP)]
        used = [getattr(node, "node_tree", None) for tree in trees for node in tree.nodes]
        modifiers = (one for obj in self._scene.blocks(Kind.OBJECT) for one in obj.modifiers if one.type == "NODES")
        return Counter(group.name for group in (*used, *(one.node_group for one in modifiers)) if group is not None)


# Collections and scenes hold an object; that they do is told where it is said what they hold.
HOLDERS = frozenset({"COLLECTION", "SCENE"})


def describe_object(
    scene: Scene, obj: Block, collections: Sequence[str], users: Users, referrers: Sequence[Block]
) -> model.ObjectState:
    data = obj.data
    slots = obj.material_slots
    properties, property_count = custom_properties(obj)
    lengths: dict[model.CuttableList, int] = {
        "collections": len(collections),
        "materials": len(slots),
        "modifiers": len(obj.modifiers),
        "custom_properties": property_count,
    }
    return model.ObjectState(
        name=obj.name,
        type=obj.type,
        fingerprint=scene.content_hash(obj),
        data=data.name if data is not None else None,
        data_fingerprint=scene.content_hash(data) if data is not None else None,
        data_users=users.of_data[scene.kind_of(data), data.name] if data is not None else None,
        transform=_transform(scene, obj),
        dimensions=_dimensions(scene, obj),
        animation=_animation(scene, obj),
        parent=_parent(obj),
        children=sum(_is_child(user, obj) for user in referrers),
        collections=list(collections[: model.MOST_IN_LIST]),
        materials=[slot.material.name if slot.material else None for slot in slots[: model.MOST_IN_LIST]],
        modifiers=[_modifier(modifier) for modifier in obj.modifiers[: model.MOST_IN_LIST]],
        custom_properties=properties,
        visible_viewport=not obj.hide_viewport,
        visible_render=not obj.hide_render,
        used_by=_used_by(scene, obj, referrers),
        cut=[name for name, length in lengths.items() if length > model.MOST_IN_LIST],
    )


def _transform(scene: Scene, obj: Block) -> model.Transform:
    matrix = evaluated_matrix(scene, obj)
    return model.Transform(
        location=vector3(obj.location),
        rotation_mode=obj.rotation_mode,
        rotation_euler_rad=vector3(obj.rotation_euler),
        rotation_quaternion=vector4(obj.rotation_quaternion),
        rotation_axis_angle=vector4(obj.rotation_axis_angle),
        scale=vector3(obj.scale),
        matrix_world=None if matrix is None else _rows(matrix),
    )


def _dimensions(scene: Scene, obj: Block) -> model.Vector3 | None:
    if obj.type in BOUNDLESS:
        return None
    evaluated = scene.evaluated(obj)
    if evaluated.is_evaluated:
        return vector3(evaluated.dimensions)
    return None


def _animation(scene: Scene, obj: Block) -> model.AnimationState | None:
    if action_of(obj):
        keyed = [curve for curve in curves(scene, obj) if len(curve.keyframe_points)]
    else:
        keyed = []
    if not keyed:
        return None
    channels = sorted({curve.data_path for curve in keyed})[: model.MOST_IN_LIST]
    frames = [frame for curve in keyed for frame in curve.range()]
    return model.AnimationState(channels=channels, first_frame=min(frames), last_frame=max(frames))


def _used_by(scene: Scene, obj: Block, referrers: Sequence[Block]) -> list[str]:
    others = (user for user in referrers if user != obj and user.id_type not in HOLDERS)
    names = sorted(f"{scene.kind_of(user).value}/{user.name}" for user in others if not _is_child(user, obj))
    if len(names) <= model.MOST_IN_LIST:
        return names
    return [*names[: model.MOST_IN_LIST - 1], "…"]


def _is_child(user: Block, obj: Block) -> bool:
    return user.id_type == "OBJECT" and user.parent == obj


def _rows(matrix: Block) -> tuple[model.Vector4, model.Vector4, model.Vector4, model.Vector4]:
    first, second, third, fourth = map(vector4, matrix)
    return first, second, third, fourth


def _parent(obj: Block) -> model.Parent | None:
    if obj.parent is None:
        return None
    kind = obj.parent_type
    return model.Parent(object=obj.parent.name, type=kind, bone=obj.parent_bone if kind == "BONE" else None)


def _modifier(modifier: Block) -> model.ModifierState:
    if modifier.type == "NODES":
        group = modifier.node_group
    else:
        group = None
    return model.ModifierState(
        name=modifier.name,
        type=modifier.type,
        show_viewport=modifier.show_viewport,
        show_render=modifier.show_render,
        node_group=group.name if group else None,
        targets=_targets(modifier),
    )


def _targets(modifier: Block) -> list[str]:
    named = (getattr(modifier, setting) for setting in _pointing_settings(modifier.__class__))
    return list(dict.fromkeys(block.name for block in named if block is not None))


@cache
def _pointing_settings(modifier_type: Block) -> tuple[str, ...]:
    """The settings of modifiers of a type that name an object or a collection."""
    return tuple(
        setting.identifier
        for setting in modifier_type.bl_rna.properties
        if setting.type == "POINTER" and setting.fixed_type.identifier in ("Object", "Collection")
    )


def describe_material(scene: Scene, material: Block, users: Users, equal_to: str | None) -> model.MaterialState:
    tree = _tree(scene, material)
    return model.MaterialState(
        name=material.name,
        fingerprint=scene.content_hash(material),
        users=users.of_materials[material.name],
        fake_user=material.use_fake_user,
        nodes=None if tree is None else summarise(tree),
        principled=None if tree is None else _principled(tree),
        equal_to=equal_to,
    )


def describe_world(scene: Scene, world: Block) -> model.WorldState:
    tree = _tree(scene, world)
    return model.WorldState(
        name=world.name,
        fingerprint=scene.content_hash(world),
        color=vector3(world.color),
        nodes=None if tree is None else summarise(tree),
    )


def _tree(scene: Scene, owner: Block) -> Block | None:
    """The node tree that is in use. From Blender 5.0 on it always is, and asking `use_nodes` is deprecated."""
    if scene.version >= (5, 0, 0) or owner.use_nodes:
        return owner.node_tree
    return None


def summarise(tree: Block) -> model.NodeSummary:
    types = sorted(Counter(node.bl_idname for node in tree.nodes).items())
    groups = sorted({node.node_tree.name for node in tree.nodes if getattr(node, "node_tree", None) is not None})
    return model.NodeSummary(
        nodes=len(tree.nodes),
        links=len(tree.links),
        types=dict(types[: model.MOST_IN_LIST]),
        groups=groups[: model.MOST_IN_LIST],
        cut=max(len(types), len(groups)) > model.MOST_IN_LIST,
    )


def _principled(tree: Block) -> model.Principled | None:
    output = next((node for node in tree.nodes if node.type == "OUTPUT_MATERIAL" and node.is_active_output), None)
    if output is not None:
        links = output.inputs["Surface"].links
    else:
        links = ()
    if links:
        shader = links[0].from_node
    else:
        shader = None
    if shader is None or shader.type != "BSDF_PRINCIPLED":
        return None
    free = {
        socket.name: socket.default_value
        for socket in shader.inputs
        if not socket.is_linked and socket.type != "SHADER"
    }
    numbers = {name: number(value) for name, value in free.items() if isinstance(value, float)}
    colors = {name: vector4(value) for name, value in free.items() if name.endswith("Color")}
    return model.Principled(
        base_color=colors.get("Base Color"),
        metallic=numbers.get("Metallic"),
        roughness=numbers.get("Roughness"),
        ior=numbers.get("IOR"),
        alpha=numbers.get("Alpha"),
        emission_color=colors.get("Emission Color"),
        emission_strength=numbers.get("Emission Strength"),
        transmission=numbers.get("Transmission Weight"),
    )


def describe_node_group(scene: Scene, group: Block, users: Users) -> model.NodeGroupState:
    sockets = [item for item in group.interface.items_tree if item.item_type == "SOCKET"]
    return model.NodeGroupState(
        name=group.name,
        fingerprint=scene.content_hash(group),
        users=users.of_groups[group.name],
        fake_user=group.use_fake_user,
        type=group.bl_idname,
        nodes=summarise(group),
        interface=[
            model.SocketState(name=item.name, identifier=item.identifier, direction=item.in_out, type=item.socket_type)
            for item in sockets[: model.MOST_IN_LIST]
        ],
        cut=len(sockets) > model.MOST_IN_LIST,
    )


def describe_camera(scene: Scene, camera: Block, users: Users) -> model.CameraState:
    return model.CameraState(
        name=camera.name,
        fingerprint=scene.content_hash(camera),
        users=users.of_data[Kind.CAMERA, camera.name],
        fake_user=camera.use_fake_user,
        type=camera.type,
        lens_mm=number(camera.lens),
        sensor_fit=camera.sensor_fit,
        sensor_width_mm=number(camera.sensor_width),
        sensor_height_mm=number(camera.sensor_height),
        ortho_scale=number(camera.ortho_scale),
        shift=(number(camera.shift_x), number(camera.shift_y)),
        clip_start=number(camera.clip_start),
        clip_end=number(camera.clip_end),
        focus_distance=number(camera.dof.focus_distance) if camera.dof.use_dof else None,
    )


def describe_light(scene: Scene, light: Block, users: Users) -> model.LightState:
    kind = light.type
    return model.LightState(
        name=light.name,
        fingerprint=scene.content_hash(light),
        users=users.of_data[Kind.LIGHT, light.name],
        fake_user=light.use_fake_user,
        type=kind,
        color=vector3(light.color),
        energy=number(light.energy),
        radius=number(light.shadow_soft_size) if kind in ("POINT", "SPOT") else None,
        sun_angle_rad=number(light.angle) if kind == "SUN" else None,
        spot_angle_rad=number(light.spot_size) if kind == "SPOT" else None,
        area_shape=light.shape if kind == "AREA" else None,
        area_size=(number(light.size), number(light.size_y)) if kind == "AREA" else None,
    )


def describe_render(active: Block) -> model.RenderState:
    render = active.render
    samples, seed = _sampling(active)
    return model.RenderState(
        engine=render.engine,
        resolution=(render.resolution_x, render.resolution_y),
        resolution_percentage=render.resolution_percentage,
        samples=samples,
        seed=seed,
        film_transparent=render.film_transparent,
        view_transform=active.view_settings.view_transform,
        frame_start=active.frame_start,
        frame_end=active.frame_end,
        frame_step=active.frame_step,
        frame_current=active.frame_current,
        fps=render.fps,
        fps_base=number(render.fps_base),
        camera=active.camera.name if active.camera else None,
        unit_system=active.unit_settings.system,
        unit_scale=number(active.unit_settings.scale_length),
    )


def _sampling(active: Block) -> tuple[int | None, int | None]:
    engine = active.render.engine
    if engine == "CYCLES" and hasattr(active, "cycles"):
        return active.cycles.samples, active.cycles.seed
    if engine.startswith("BLENDER_EEVEE"):
        return active.eevee.taa_render_samples, None
    return None, None
