"""Notes about black pictures: whether the scene has light for an engine that needs it, and whether the light arrives."""

from __future__ import annotations

from collections.abc import Sequence

from blendwright.tool_api import Scene
from blendwright.tools.auditing.scene_rules import light_flaws

CURE = "Add a light with light.create, or light from all around with scene.set_world or scene.set_sky"
QUICK = "or render with the engine WORKBENCH, which needs no light."
# Smallest share of pixels that are not black in a lit picture. A distant lamp or a star alone does not light a picture.
MIN_LIT_SHARE = 0.001


def darkness_notes(scene: Scene, engine: str, pictures: Sequence[str] = ()) -> list[str]:
    """Return a note with cause and fix if all pictures are black, or an empty list.

    Without pictures, predict it from the scene. WORKBENCH has its own light and never gets a note.
    """
    if engine == "WORKBENCH":
        return []
    lit_shares = [share for share in map(scene.lit_share, pictures) if share is not None]
    if any(share >= MIN_LIT_SHARE for share in lit_shares):
        return []  # a lit picture proves that there is light, whatever the nodes of the world are
    # The content of collection instances is not checked here, and may contain a light.
    has_instances = any(obj.instance_type == "COLLECTION" for obj in scene.active.objects)
    if any(light_flaws(scene)) and not has_instances:
        if scene.active.world is None:
            world = "the scene has no world"
        else:
            world = "its world is black"
        if pictures:
            cure = f"{CURE}, {QUICK}"
        else:
            cure = f"{CURE}."
        return [f"The scene has no light: renders show no light object, {world}, and no material emits light. {cure}"]
    if not lit_shares:
        return []
    if len(pictures) == 1:
        subject = "The picture is black"
    else:
        subject = "The pictures are black"
    return [
        f"{subject}, although the scene has light: it is too weak, blocked, or the camera does not see what it lights. "
        f"Raise its energy with light.set or light.expose, frame the objects with camera.frame_objects, {QUICK}"
    ]
