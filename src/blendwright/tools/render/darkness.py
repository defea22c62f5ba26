"""Why a picture is black: whether anything in the scene gives light to an engine that follows it, and whether any of it arrives."""

from __future__ import annotations

from collections.abc import Sequence

from blendwright.tool_api import Scene
from blendwright.tools.auditing.scene_rules import light_flaws

CURE = "Add one with light.create, or light from all around with scene.set_world or scene.set_sky"
QUICK = "or look with the engine WORKBENCH, which needs no light."
# So much of a picture must be lighter than black: a lamp that is far away, or a star, is no picture yet.
LEAST_LIT = 0.001


def darkness_notes(scene: Scene, engine: str, pictures: Sequence[str] = ()) -> list[str]:
    """A sentence where pictures are black, or would be: what they lack, and what to do. WORKBENCH has light of its own."""
    if engine == "WORKBENCH":
        return []
    lit = [share for share in map(scene.lit_share, pictures) if share is not None]
    if any(share >= LEAST_LIT for share in lit):
        return []  # what is seen counts, whatever the nodes of a world look like
    # Instances show what is elsewhere, light too.
    instances = any(obj.instance_type == "COLLECTION" for obj in scene.active.objects)
    if any(light_flaws(scene)) and not instances:
        if scene.active.world is None:
            world = "there is no world"
        else:
            world = "its world is black"
        if pictures:
            cure = f"{CURE}, {QUICK}"
        else:
            cure = f"{CURE}."
        return [f"Nothing gives light: no light is shown in renders, {world}, and no material glows. {cure}"]
    if not lit:
        return []
    if len(pictures) == 1:
        what = "The picture is black"
    else:
        what = "The pictures are black"
    return [
        f"{what}, although something gives light: it is too weak, shut out, or the camera looks past what it falls on. "
        f"Raise its energy with light.set or light.expose, frame the objects with camera.frame_objects, {QUICK}"
    ]
