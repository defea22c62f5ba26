"""Why a picture is black: whether anything in the scene gives light to an engine that follows it."""

from __future__ import annotations

from blendwright.tool_api import Scene
from blendwright.tools.auditing.scene_rules import light_flaws

CURE = "Add one with light.create, or light from all around with scene.set_world or scene.set_sky."


def darkness_notes(scene: Scene, engine: str) -> list[str]:
    """A sentence where nothing gives light. WORKBENCH has light of its own."""
    if engine == "WORKBENCH" or not any(light_flaws(scene)):
        return []
    # Instances show what is elsewhere, light too.
    if any(obj.instance_type == "COLLECTION" for obj in scene.active.objects):
        return []
    world = "there is no world" if scene.active.world is None else "its world is black"
    return [f"Nothing gives light: no light is shown in renders, {world}, and no material glows. {CURE}"]
