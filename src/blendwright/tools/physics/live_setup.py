"""Checks, comparisons and notes for simulation setups of rigid bodies and cloth that stay in the scene."""

from __future__ import annotations

import math
from collections.abc import Sequence

from blendwright.tool_api import Block, Findings, Kind, Scene
from blendwright.tool_api.physics_port import BODIES, Body, ClothSettings
from blendwright.tools.checks import conflict, differs

# Largest distance from a body's origin to its centre, as a share of its size, before a note warns of unexpected tumbling.
OFF_CENTRE = 0.05
# Largest number of names in a note.
MAX_NAMED = 5


def setup_conflicts(obj: Block, at: str) -> Findings:
    if obj.library is not None:
        message = f"'{obj.name}' is linked from another file and can only be set up there"
        yield conflict(message, at, "Make it local first with file.make_local.")


def home_conflicts(scene: Scene) -> Findings:
    """Yield name conflicts of the simulation's collection, if the scene has none yet. Everything in it becomes a body."""
    world = scene.active.rigidbody_world
    if world is None or world.collection is None:
        yield from scene.name_conflicts(Kind.COLLECTION, BODIES, "/keep")


def bodies_differ(bodies: Sequence[Body], at: Sequence[str], *, animated: bool) -> Findings:
    for body, pointer in zip(bodies, at, strict=True):
        rigid = body.obj.rigid_body
        name = f"the rigid body of '{body.obj.name}'"
        yield from differs(f"that {name} exists", True, rigid is not None, pointer)
        if rigid is None:
            continue
        body_type = "PASSIVE"
        if body.active:
            body_type = "ACTIVE"
        expected_kind = (body_type, body.shape, animated and body.active)
        yield from differs(name, expected_kind, (rigid.type, rigid.collision_shape, rigid.kinematic), pointer)
        for what, expected, actual in (
            ("mass", body.mass, rigid.mass),
            ("friction", body.friction, rigid.friction),
            ("bounce", body.bounce, rigid.restitution),
        ):
            yield from differs(f"the {what} of {name}", expected, actual, pointer)


def cloth_differs(obj: Block, settings: ClothSettings, quality: int, obstacles: Sequence[Block]) -> Findings:
    cloth = next((modifier for modifier in obj.modifiers if modifier.type == "CLOTH"), None)
    yield from differs("that it is cloth", True, cloth is not None, "/object")
    if cloth is not None:
        yield from differs("the mass of the cloth", settings.mass, cloth.settings.mass, "/fabric")
        yield from differs("the quality of the cloth", quality, cloth.settings.quality, "/quality")
        yield from differs("its pins", settings.pins or "", cloth.settings.vertex_group_mass, "/pins")
    for number, obstacle in enumerate(obstacles):
        collides = any(modifier.type == "COLLISION" for modifier in obstacle.modifiers)
        yield from differs(f"that '{obstacle.name}' is an obstacle", True, collides, f"/obstacles/{number}")


def live_note(first: int) -> str:
    """Return the note for a setup that plays from frame `first`."""
    return (
        "This setup is live and not deterministic: a frame depends on the frames that were played before it. Play it from frame"
        f" {first} in Blender, or bake it there. The hash covers the settings and no cache."
    )


def off_centre_notes(objects: Sequence[Block]) -> list[str]:
    """Return a note that names the objects whose origin is not near their centre, or an empty list."""
    names = [obj.name for obj in objects if _is_off_centre(obj)]
    if not names:
        return []
    shown = shown_names(names)
    return [f"Blender rotates a body about its origin, which is not at the centre of {shown}. See object.set_origin."]


def shown_names(names: list[str]) -> str:
    """Return the names in quotes as one string, followed by the number of omitted names."""
    shown = ", ".join(repr(name) for name in names[:MAX_NAMED])
    if len(names) > MAX_NAMED:
        shown += f" and {len(names) - MAX_NAMED} more"
    return shown


def _is_off_centre(obj: Block) -> bool:
    corners = [tuple(corner) for corner in obj.bound_box]
    low, high = corners[0], corners[6]
    middle = [(lower + upper) / 2 for lower, upper in zip(low, high, strict=True)]
    return math.hypot(*middle) > OFF_CENTRE * math.dist(low, high)


def scale_notes(obj: Block) -> list[str]:
    """Return a note if the object is scaled, or an empty list."""
    if all(abs(part - 1.0) < 1e-6 for part in obj.scale):
        return []
    return [f"Cloth uses the lengths of the mesh of '{obj.name}' without its scale. See object.apply_transform."]
