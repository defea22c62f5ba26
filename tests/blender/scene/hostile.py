"""A scene that runs code wherever it is opened with scripts on. Every piece of code writes a file with its name into `marks`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bpy

OSL = "shader tint(color Tint = 0, output color Result = 0) { Result = Tint; }"


def make_hostile(marks: Path) -> set[tuple[str, str, str, str]]:
    """Fill the current scene, and return the code that an export has to disable."""
    data: Any = bpy.data
    text = data.texts.new("evil.py")
    text.write(f"open({str(marks / 'text')!r}, 'w').close()")
    text.use_module = True
    obj = data.objects.new("Driven", data.meshes.new("Driven"))
    bpy.context.scene.collection.objects.link(obj)
    material: Any = data.materials.new("Scripted")
    if material.node_tree is None:
        material.use_nodes = True
    obj.data.materials.append(material)
    _driver(obj, "location", 0, _leaving(marks / "object"))
    _driver(obj, "location", 1, "frame * 2")
    tree: Any = material.node_tree
    _driver(tree, 'nodes["Principled BSDF"].inputs[1].default_value', -1, _leaving(marks / "tree"))
    shader = data.texts.new("tint.osl")
    shader.write(OSL)
    node = tree.nodes.new("ShaderNodeScript")
    node.script = shader
    scene: Any = bpy.context.scene
    style = scene.view_layers[0].freestyle_settings
    style.mode = "SCRIPT"
    style.modules.new().script = text
    found = {
        ("registered text", "texts", "evil.py", ""),
        ("scripted driver", "objects", "Driven", "location[0]"),
        ("scripted driver", "materials", "Scripted", 'nodes["Principled BSDF"].inputs[1].default_value[0]'),
        ("OSL script", "materials", "Scripted", "Script"),
        ("style module", "scenes", "Scene", "ViewLayer: evil.py"),
    }
    camera = data.cameras.new("Eye")
    if hasattr(camera, "custom_shader"):
        camera.use_fake_user = True
        camera.custom_shader = shader
        found.add(("OSL script", "cameras", "Eye", ""))
    # Last: with this engine every script is compiled as it is set.
    scene.render.engine = "CYCLES"
    return found


def _leaving(mark: Path) -> str:
    return f"open({str(mark)!r}, 'w').close() or 1.0"


def _driver(owner: Any, path: str, index: int, expression: str) -> None:
    driver = owner.driver_add(path, index).driver if index >= 0 else owner.driver_add(path).driver
    driver.type = "SCRIPTED"
    driver.expression = expression
