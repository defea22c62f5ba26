"""Denoising of a picture by Cycles: it renders the picture as a glowing sheet that fills the frame, and denoises this render.

Cycles (5.2) denoises renders but not bakes. The render uses a temporary scene and leaves the caller's data unchanged.
"""

from contextlib import ExitStack
from pathlib import Path
from typing import Any

import bpy
import numpy as np

from blendwright.blender.scene.state import RESERVED_PREFIX

_data: Any = bpy.data
_ops: Any = bpy.ops
NAME = f"{RESERVED_PREFIX}denoising"


def denoise(pixels: Any, file: Path) -> Any:
    """Return a denoised copy of an array of rows of RGBA pixels. Cycles writes its render to `file`, which is deleted afterwards."""
    height, width = pixels.shape[:2]
    with ExitStack() as temporary:

        def new_block(blocks: Any, *args: Any, **options: Any) -> Any:
            block = blocks.new(NAME, *args, **options)
            temporary.callback(blocks.remove, block)
            return block

        image = new_block(_data.images, width, height, float_buffer=True, alpha=False, is_data=True)
        image.pixels.foreach_set(np.ascontiguousarray(pixels, np.float32).ravel())
        scene = new_block(_data.scenes)
        sheet, camera = _sheet(new_block, image, width / height)
        scene.collection.objects.link(sheet)
        scene.collection.objects.link(camera)
        scene.camera = camera
        _configure(scene, width, height, file)
        _ops.render.render(write_still=True, scene=scene.name)

        rendered = _data.images.load(str(file), check_existing=False)
        temporary.callback(_data.images.remove, rendered)
        rendered.colorspace_settings.name = "Non-Color"
        values = np.empty(width * height * rendered.channels, np.float32)
        rendered.pixels.foreach_get(values)
    file.unlink()

    clean = pixels.copy()
    clean[..., :3] = values.reshape(height, width, -1)[..., :3]
    # Black pixels, which no bake reached, keep their values.
    empty: Any = (pixels[..., :3] == 0.0).all(axis=2)
    clean[empty] = pixels[empty]
    return clean


def _sheet(new_block: Any, image: Any, ratio: float) -> tuple[Any, Any]:
    """Create a glowing rectangle that shows the image, and a camera that it fills; return both objects."""
    mesh = new_block(_data.meshes)
    mesh.from_pydata([(0, 0, 0), (ratio, 0, 0), (ratio, 1, 0), (0, 1, 0)], [], [(0, 1, 2, 3)])
    mesh.uv_layers.new(name="UV").uv.foreach_set("vector", [0, 0, 1, 0, 1, 1, 0, 1])
    material = new_block(_data.materials)
    if bpy.app.version < (5, 0, 0):
        material.use_nodes = True
    tree = material.node_tree
    tree.nodes.clear()
    texture = tree.nodes.new("ShaderNodeTexImage")
    glow = tree.nodes.new("ShaderNodeEmission")
    output = tree.nodes.new("ShaderNodeOutputMaterial")
    texture.image, texture.interpolation = image, "Closest"
    tree.links.new(texture.outputs["Color"], glow.inputs["Color"])
    tree.links.new(glow.outputs[0], output.inputs["Surface"])
    mesh.materials.append(material)

    lens = new_block(_data.cameras)
    lens.type, lens.ortho_scale = "ORTHO", max(ratio, 1.0)
    sheet, camera = new_block(_data.objects, mesh), new_block(_data.objects, lens)
    camera.location = (ratio / 2, 0.5, 1.0)
    return sheet, camera


def _configure(scene: Any, width: int, height: int, file: Path) -> None:
    render, cycles = scene.render, scene.cycles
    render.engine = "CYCLES"
    render.resolution_x, render.resolution_y, render.resolution_percentage = width, height, 100
    render.filepath, render.use_file_extension = str(file), False
    render.filter_size = 0.01
    if bpy.app.version >= (5, 0, 0):
        render.image_settings.media_type = "IMAGE"
    for name, value in (("file_format", "OPEN_EXR"), ("color_mode", "RGB"), ("color_depth", "32")):
        setattr(render.image_settings, name, value)
    settings = {
        "device": "CPU", "samples": 1, "seed": 0, "use_adaptive_sampling": False, "pixel_filter_type": "BOX", "filter_width": 0.01,
        "use_denoising": True, "denoiser": "OPENIMAGEDENOISE", "denoising_input_passes": "RGB", "denoising_prefilter": "NONE",
    }  # fmt: skip
    for name, value in settings.items():
        setattr(cycles, name, value)
