"""Annotating: what a camera sees, as layers and as a list of instances with their boxes, by passes of CYCLES.

Responsible for: leaving the scene as it was. What instances are, and what is told of them, is in `blender/annotating`.
"""

from collections.abc import Generator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import bpy
import numpy as np

from blendwright.blender.scene.pictures.looking import Looking, layer_named, object_indices
from blendwright.tool_api.annotations import Labels, PictureLayer
from blendwright.tool_api.scene import Kind
from blendwright.values.errors import StepError
from blendwright.values.faults import Fault

# As many as a picture with 16 bits can tell apart.
MOST_INSTANCES = 65_535
PLACE, RANDOM = "blendwright_place", "blendwright_random"


class Annotating(Looking):
    """The part of the Scene port that annotates."""

    def annotate(
        self, labels: Labels, camera: Any, files: Mapping[PictureLayer, Sequence[str]], scratch: str
    ) -> dict[str, Any]:
        from blendwright.blender.annotating import description, layer_files
        from blendwright.blender.annotating.camera_model import camera_model
        from blendwright.blender.annotating.instances import find_things, numbers_of
        from blendwright.blender.looking.sight import NOWHERE

        scene, depsgraph = self.active, self.depsgraph()
        model = camera_model(scene, camera, depsgraph)
        shown = find_things(scene, depsgraph, labels)
        things = shown.things
        if len(things) > MOST_INSTANCES:
            message = f"there are {len(things)} instances, and a picture can tell {MOST_INSTANCES} apart"
            raise StepError.of(Fault.LIMIT_EXCEEDED, message, cure="Give fewer objects a category.")
        places = randoms = None
        with _indexed() as indices_of:
            passes = ("use_pass_z", "use_pass_object_index", "use_pass_normal")
            layers = self.render_passes(scratch, camera, passes)
            if shown.needs_telling_apart():
                with self._telling_apart():
                    marks = self.render_passes(scratch, camera, ("use_pass_object_index",))
                places = np.stack([layer_named(marks, PLACE, channel=each) for each in "RGB"], axis=2)
                randoms = layer_named(marks, RANDOM)
        depths, indices = layer_named(layers, "Depth"), object_indices(layers)
        something = depths < NOWHERE
        numbers = numbers_of(shown, indices_of, np.where(something, indices, 0), places, randoms)
        if "INSTANCES" in files:
            layer_files.write_numbers(files["INSTANCES"][0], numbers)
        if "CATEGORIES" in files:
            categories = np.array([0, *(thing.category for thing in things)])
            layer_files.write_numbers(files["CATEGORIES"][0], categories[numbers])
        if "DEPTH" in files:
            layer_files.write_numbers(files["DEPTH"][0], layer_files.millimetres(depths, something))
            layer_files.write_metres(files["DEPTH"][1], depths, something)
        if "NORMALS" in files:
            normals = np.stack([layer_named(layers, "Normal", channel=each) for each in "XYZ"], axis=2)
            layer_files.write_numbers(files["NORMALS"][0], layer_files.normal_colors(normals, something, model))
        # Rendering has made Blender evaluate the scene anew.
        seen = description.Seen(model, np.asarray(depths, np.float64), something, numbers)
        return {
            "width": model.width,
            "height": model.height,
            "camera": description.camera(camera.name, model),
            "instances": description.instances(things, seen, labels, self.depsgraph()),
        }

    @contextmanager
    def _telling_apart(self) -> Generator[None]:
        """Every surface shows where its object stands, and Blender's random number of it."""
        with ExitStack() as temporary:
            material = temporary.enter_context(self.temporary(Kind.MATERIAL))
            _mark(material)
            for layer in self.active.view_layers:
                temporary.enter_context(_outputs(layer))
                temporary.enter_context(self.temporarily(layer, material_override=material))
            yield


def _mark(material: Any) -> None:
    if bpy.app.version < (5, 0, 0):
        material.use_nodes = True
    tree = material.node_tree
    tree.nodes.clear()
    info = tree.nodes.new("ShaderNodeObjectInfo")
    surface = tree.nodes.new("ShaderNodeOutputMaterial").inputs["Surface"]
    tree.links.new(tree.nodes.new("ShaderNodeEmission").outputs[0], surface)
    for name, output, entry in ((PLACE, "Location", "Color"), (RANDOM, "Random", "Value")):
        shown = tree.nodes.new("ShaderNodeOutputAOV")
        shown.aov_name = name
        tree.links.new(info.outputs[output], shown.inputs[entry])


@contextmanager
def _outputs(layer: Any) -> Generator[None]:
    """What materials write beside their light, as passes of a view layer."""
    held = layer.active_aov_index
    for name, sort in ((PLACE, "COLOR"), (RANDOM, "VALUE")):
        output = layer.aovs.add()
        output.name, output.type = name, sort
    try:
        yield
    finally:
        for name in (PLACE, RANDOM):
            layer.aovs.remove(layer.aovs[name])
        layer.active_aov_index = held


@contextmanager
def _indexed() -> Generator[dict[int, int]]:
    """Numbers from 1 on for all objects, by pointer. What is written in bulk tells nobody: a render makes its own copy of everything."""
    objects: Any = bpy.data.objects
    held = np.empty(len(objects), np.int32)
    objects.foreach_get("pass_index", held)
    objects.foreach_set("pass_index", np.arange(1, len(objects) + 1, dtype=np.int32))
    try:
        yield {obj.as_pointer(): number for number, obj in enumerate(objects, 1)}
    finally:
        objects.foreach_set("pass_index", held)
