"""What set-ups that stay in the scene need and say, of rigid bodies and of cloth."""

from __future__ import annotations

import math
from collections.abc import Sequence

from blendwright.tool_api import Block, Findings, Kind, Scene
from blendwright.tool_api.physics_port import BODIES, Body, ClothSettings
from blendwright.tools.checks import conflict, differs

# How far the middle of a body may be from its origin, against its size, before it tumbles otherwise than people expect.
OFF_CENTRE = 0.05


def setup_conflicts(obj: Block, at: str) -> Findings:
    if obj.library is not None:
        message = f"'{obj.name}' is linked from another file and can only be set up there"
        yield conflict(message, at, "Make it local first with file.make_local.")


def home_conflicts(scene: Scene) -> Findings:
    """The collection of the simulation is new, or its own already: everything in it becomes a body."""
    world = scene.active.rigidbody_world
    if world is None or world.collection is None:
        yield from scene.name_conflicts(Kind.COLLECTION, BODIES, "/keep")


def bodies_differ(bodies: Sequence[Body], at: Sequence[str], *, animated: bool) -> Findings:
    for body, pointer in zip(bodies, at, strict=True):
        rigid = body.obj.rigid_body
        name = f"the rigid body of '{body.obj.name}'"
        yield from differs(f"whether there is {name}", True, rigid is not None, pointer)
        if rigid is None:
            continue
        wanted = ("ACTIVE" if body.active else "PASSIVE", body.shape, animated and body.active)
        yield from differs(name, wanted, (rigid.type, rigid.collision_shape, rigid.kinematic), pointer)
        for what, asked, found in (
            ("mass", body.mass, rigid.mass),
            ("friction", body.friction, rigid.friction),
            ("bounce", body.bounce, rigid.restitution),
        ):
            yield from differs(f"the {what} of {name}", asked, found, pointer)


def cloth_differs(obj: Block, settings: ClothSettings, quality: int, obstacles: Sequence[Block]) -> Findings:
    cloth = next((each for each in obj.modifiers if each.type == "CLOTH"), None)
    yield from differs("whether it is cloth", True, cloth is not None, "/object")
    if cloth is not None:
        yield from differs("the mass of the cloth", settings.mass, cloth.settings.mass, "/fabric")
        yield from differs("the quality of the cloth", quality, cloth.settings.quality, "/quality")
        yield from differs("its pins", settings.pins or "", cloth.settings.vertex_group_mass, "/pins")
    for number, obstacle in enumerate(obstacles):
        found = any(each.type == "COLLISION" for each in obstacle.modifiers)
        yield from differs(f"whether cloth meets '{obstacle.name}'", True, found, f"/obstacles/{number}")


def live_note(first: int) -> str:
    return (
        f"Live, and not deterministic: what a frame shows depends on the frames that were played before it. Play it from frame {first} in"
        " Blender, or bake it there; the hash covers the settings and no cache."
    )


def off_centre_notes(objects: Sequence[Block]) -> list[str]:
    names = [obj.name for obj in objects if _off_centre(obj)]
    if not names:
        return []
    shown = ", ".join(repr(name) for name in names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
    return [f"Blender turns a body about its origin, which is not in the middle of {shown}: see object.set_origin."]


def _off_centre(obj: Block) -> bool:
    corners = [tuple(corner) for corner in obj.bound_box]
    low, high = corners[0], corners[6]
    middle = [(one + other) / 2 for one, other in zip(low, high, strict=True)]
    return math.hypot(*middle) > OFF_CENTRE * math.dist(low, high)


def scale_notes(obj: Block) -> list[str]:
    if all(abs(part - 1.0) < 1e-6 for part in obj.scale):
        return []
    return [f"Cloth takes its lengths from the mesh of '{obj.name}', which is scaled: see object.apply_transform."]
