"""The capabilities that a session may offer and a tool may need, by name."""

from __future__ import annotations

CAPABILITIES: dict[str, str] = {
    "scene_read": "look at the scene",
    "scene_write": "change frame range, units, render settings and world",
    "object_write": "create, move and delete objects and collections",
    "mesh_write": "create and change meshes, curves and texts",
    "material_write": "create, assign and delete materials",
    "modifier_write": "add, change, apply and remove modifiers",
    "animation_write": "insert and remove keyframes",
    "render": "render pictures",
    "file_read": "read files inside the allowed roots",
    "file_write": "write files inside the allowed roots",
    "network": "reach other machines",
    "python_safe": "run Python in a confined process that is thrown away",
    "python_trusted": "run Python in the process that holds the scene",
}
