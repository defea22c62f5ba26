"""The `Scene` port on bpy: names, recorded writes, reversible deletion, and the record of what a step touched."""

from blendwright.blender.scene.port import BpyScene
from blendwright.blender.scene.state import SceneState

__all__ = ["BpyScene", "SceneState"]
