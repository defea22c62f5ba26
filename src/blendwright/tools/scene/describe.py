"""Snapshot entries of datablocks. Reads only; an entry depends only on its datablock and on the users of it."""

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
    """Counts of the objects that use each datablock, and of the modifiers and nodes that use each node group.

    Blender's own user counts would include datablocks that a step keeps for undo.
    """

    def __init__(self, scene: Scene) -> None:
        self._scene = scene

    @cached_property
    def of_data(self) -> Counter[tuple[Kind, str]]:
        """Users of object data, by kind and name."""
        objects = self._scene.blocks(Kind.OBJECT)
        return Counter((self._scene.kind_of(obj.data), obj.data.name) for obj in objects if obj.data is not None)

    @cached_property
    def of_materials(self) -> Counter[str]:
        """Objects that use each material, by the material's name."""
        counts: Counter[str] = Counter()
        for obj in self._scene.blocks(Kind.OBJECT):
            counts.update({slot.material.name for slot in obj.material_slots if slot.material})
        return counts

    @cached_property
    def of_groups(self) -> Counter[str]:
        """Modifiers and nodes that use each node group, by the group's name."""
        trees = list(self._scene.blocks(Kind.NODE_GROUP))
        for kind in (Kind.MATERIAL, Kind.WORLD, Kind.LIGHT):
            for owner in self._scene.blocks(kind):
                if owner.node_tree is not None:
                    trees.append(owner.node_tree)
        groups: list[Block | None] = []
        for tree in trees:
            groups += [getattr(node, "node_tree", None) for node in tree.nodes]
        for obj in self._scene.blocks(Kind.OBJECT):
            groups += [modifier.node_group for modifier in obj.modifiers if modifier.type == "NODES"]
        return Counter(group.name for group in groups if group is not None)


# Users that contain an object. Their own entries list what they contain, so `used_by` omits them.
HOLDERS = frozenset({"COLLECTION", "SCENE"})


def describe_object(
    scene: Scene, obj: Block, collections: Sequence[str], users: Users, referrers: Sequence[Block]
) -> model.ObjectState:
    data = obj.data
    slots = obj.material_slots
    properties, property_count = custom_properties(obj)
    data_fingerprint: str | None = None
    data_users: int | None = None
    if data is not None:
        data_fingerprint = scene.content_hash(data)
        data_users = users.of_data[scene.kind_of(data), data.name]
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
        data=_name_or_none(data),
        data_fingerprint=data_fingerprint,
        data_users=data_users,
        transform=_transform(scene, obj),
        dimensions=_dimensions(scene, obj),
        animation=_animation(scene, obj),
        parent=_parent(obj),
        children=sum(_is_child(user, obj) for user in referrers),
        collections=list(collections[: model.MAX_IN_LIST]),
        materials=[_name_or_none(slot.material) for slot in slots[: model.MAX_IN_LIST]],
        modifiers=[_modifier(modifier) for modifier in obj.modifiers[: model.MAX_IN_LIST]],
        custom_properties=properties,
        visible_viewport=not obj.hide_viewport,
        visible_render=not obj.hide_render,
        used_by=_used_by(scene, obj, referrers),
        cut=[name for name, length in lengths.items() if length > model.MAX_IN_LIST],
    )


def _name_or_none(block: Block | None) -> str | None:
    if block is None:
        return None
    return block.name


def _transform(scene: Scene, obj: Block) -> model.Transform:
    matrix = evaluated_matrix(scene, obj)
    rows: tuple[model.Vector4, model.Vector4, model.Vector4, model.Vector4] | None = None
    if matrix is not None:
        rows = _rows(matrix)
    return model.Transform(
        location=vector3(obj.location),
        rotation_mode=obj.rotation_mode,
        rotation_euler_rad=vector3(obj.rotation_euler),
        rotation_quaternion=vector4(obj.rotation_quaternion),
        rotation_axis_angle=vector4(obj.rotation_axis_angle),
        scale=vector3(obj.scale),
        matrix_world=rows,
    )


def _dimensions(scene: Scene, obj: Block) -> model.Vector3 | None:
    if obj.type in BOUNDLESS:
        return None
    evaluated = scene.evaluated(obj)
    if evaluated.is_evaluated:
        return vector3(evaluated.dimensions)
    return None


def _animation(scene: Scene, obj: Block) -> model.AnimationState | None:
    if not action_of(obj):
        return None
    keyed = [curve for curve in curves(scene, obj) if len(curve.keyframe_points)]
    if not keyed:
        return None
    channels = sorted({curve.data_path for curve in keyed})[: model.MAX_IN_LIST]
    frames: list[float] = []
    for curve in keyed:
        frames.extend(curve.range())
    return model.AnimationState(channels=channels, first_frame=min(frames), last_frame=max(frames))


def _used_by(scene: Scene, obj: Block, referrers: Sequence[Block]) -> list[str]:
    """Return the sorted users of an object as kind/name, without its children and the collections and scenes that contain it."""
    names: list[str] = []
    for user in referrers:
        if user != obj and user.id_type not in HOLDERS and not _is_child(user, obj):
            names.append(f"{scene.kind_of(user).value}/{user.name}")
    names.sort()
    if len(names) <= model.MAX_IN_LIST:
        return names
    return [*names[: model.MAX_IN_LIST - 1], "…"]


def _is_child(user: Block, obj: Block) -> bool:
    return user.id_type == "OBJECT" and user.parent == obj


def _rows(matrix: Block) -> tuple[model.Vector4, model.Vector4, model.Vector4, model.Vector4]:
    first, second, third, fourth = map(vector4, matrix)
    return first, second, third, fourth


def _parent(obj: Block) -> model.Parent | None:
    if obj.parent is None:
        return None
    bone: str | None = None
    if obj.parent_type == "BONE":
        bone = obj.parent_bone
    return model.Parent(object=obj.parent.name, type=obj.parent_type, bone=bone)


def _modifier(modifier: Block) -> model.ModifierState:
    group: Block | None = None
    if modifier.type == "NODES":
        group = modifier.node_group
    return model.ModifierState(
        name=modifier.name,
        type=modifier.type,
        show_viewport=modifier.show_viewport,
        show_render=modifier.show_render,
        node_group=_name_or_none(group),
        targets=_targets(modifier),
    )


def _targets(modifier: Block) -> list[str]:
    named = (getattr(modifier, setting) for setting in _reference_settings(modifier.__class__))
    return list(dict.fromkeys(block.name for block in named if block is not None))


@cache
def _reference_settings(modifier_type: Block) -> tuple[str, ...]:
    """Return the settings of a type of modifier that refer to an object or a collection."""
    return tuple(
        setting.identifier
        for setting in modifier_type.bl_rna.properties
        if setting.type == "POINTER" and setting.fixed_type.identifier in ("Object", "Collection")
    )


def describe_material(scene: Scene, material: Block, users: Users, equal_to: str | None) -> model.MaterialState:
    nodes, principled = None, None
    tree = _tree(scene, material)
    if tree is not None:
        nodes, principled = summarise(tree), _principled(tree)
    return model.MaterialState(
        name=material.name,
        fingerprint=scene.content_hash(material),
        users=users.of_materials[material.name],
        fake_user=material.use_fake_user,
        nodes=nodes,
        principled=principled,
        equal_to=equal_to,
    )


def describe_world(scene: Scene, world: Block) -> model.WorldState:
    nodes = None
    tree = _tree(scene, world)
    if tree is not None:
        nodes = summarise(tree)
    return model.WorldState(
        name=world.name,
        fingerprint=scene.content_hash(world),
        color=vector3(world.color),
        nodes=nodes,
    )


def _tree(scene: Scene, owner: Block) -> Block | None:
    """Return the node tree that is in use, or None. Since Blender 5.0 it always is, and reading `use_nodes` is deprecated."""
    if scene.version >= (5, 0, 0) or owner.use_nodes:
        return owner.node_tree
    return None


def summarise(tree: Block) -> model.NodeSummary:
    types = sorted(Counter(node.bl_idname for node in tree.nodes).items())
    groups = sorted({node.node_tree.name for node in tree.nodes if getattr(node, "node_tree", None) is not None})
    return model.NodeSummary(
        nodes=len(tree.nodes),
        links=len(tree.links),
        types=dict(types[: model.MAX_IN_LIST]),
        groups=groups[: model.MAX_IN_LIST],
        cut=max(len(types), len(groups)) > model.MAX_IN_LIST,
    )


def _principled(tree: Block) -> model.Principled | None:
    """Return the unlinked settings of the Principled BSDF at the active output, or None without one."""
    output = next((node for node in tree.nodes if node.type == "OUTPUT_MATERIAL" and node.is_active_output), None)
    if output is None or not output.inputs["Surface"].links:
        return None
    shader = output.inputs["Surface"].links[0].from_node
    if shader.type != "BSDF_PRINCIPLED":
        return None

    numbers: dict[str, model.Number] = {}
    colors: dict[str, model.Vector4] = {}
    for socket in shader.inputs:
        if socket.is_linked or socket.type == "SHADER":
            continue
        if isinstance(socket.default_value, float):
            numbers[socket.name] = number(socket.default_value)
        elif socket.name.endswith("Color"):
            colors[socket.name] = vector4(socket.default_value)
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
    """Return a node group's entry with its interface."""
    sockets = [item for item in group.interface.items_tree if item.item_type == "SOCKET"]
    interface: list[model.SocketState] = []
    for item in sockets[: model.MAX_IN_LIST]:
        interface.append(
            model.SocketState(name=item.name, identifier=item.identifier, direction=item.in_out, type=item.socket_type)
        )
    return model.NodeGroupState(
        name=group.name,
        fingerprint=scene.content_hash(group),
        users=users.of_groups[group.name],
        fake_user=group.use_fake_user,
        type=group.bl_idname,
        nodes=summarise(group),
        interface=interface,
        cut=len(sockets) > model.MAX_IN_LIST,
    )


def describe_camera(scene: Scene, camera: Block, users: Users) -> model.CameraState:
    focus_distance: model.Number = None
    if camera.dof.use_dof:
        focus_distance = number(camera.dof.focus_distance)
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
        focus_distance=focus_distance,
    )


def describe_light(scene: Scene, light: Block, users: Users) -> model.LightState:
    """Return a light's entry, with only the size fields of its type."""
    kind = light.type
    radius = sun_angle = spot_angle = None
    area_shape: str | None = None
    area_size: tuple[model.Number, model.Number] | None = None
    if kind in ("POINT", "SPOT"):
        radius = number(light.shadow_soft_size)
    if kind == "SUN":
        sun_angle = number(light.angle)
    if kind == "SPOT":
        spot_angle = number(light.spot_size)
    if kind == "AREA":
        area_shape = light.shape
        area_size = (number(light.size), number(light.size_y))
    return model.LightState(
        name=light.name,
        fingerprint=scene.content_hash(light),
        users=users.of_data[Kind.LIGHT, light.name],
        fake_user=light.use_fake_user,
        type=kind,
        color=vector3(light.color),
        energy=number(light.energy),
        radius=radius,
        sun_angle_rad=sun_angle,
        spot_angle_rad=spot_angle,
        area_shape=area_shape,
        area_size=area_size,
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
        camera=_name_or_none(active.camera),
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
