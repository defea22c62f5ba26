"""What is peculiar to trees of materials, worlds, lights, compositors and groups, beyond the promises that the conformance suite proves."""

from __future__ import annotations

from typing import Any

import bpy
import pytest

from support.stage.stage import Stage
from support.trees.node_trees import create, group_io, link, number, prop, unexamined, value, ways, wire

_data: Any = bpy.data
GROUP_COMPOSITOR = bpy.app.version >= (5, 0, 0)


def build(stage: Stage, target: dict[str, str], *operations: dict[str, Any], **more: Any) -> dict[str, Any]:
    return stage.do("nodes.apply_tree", {"target": target, "operations": list(operations), **more})


def image(stage: Stage, name: str = "Picture") -> None:
    _data.images.new(name, 4, 4).use_fake_user = True
    stage.state.refresh()


def gates(stage: Stage, target: dict[str, str]) -> dict[str, str]:
    judged = stage.do("nodes.gates", {"target": target})
    assert judged["success"] == (not judged["failed_gates"])
    return {one["gate"]: one["message"] for one in judged["gates"] if not one["passed"]}


def test_an_image_texture_takes_an_image_of_the_file_by_name(stage: Stage) -> None:
    image(stage)
    target = {"material": "Label"}
    texture = create("picture", "ShaderNodeTexImage"), prop("picture", "image", "Picture")
    build(stage, target, *texture, link(("picture", "Color"), ("Principled BSDF", "Base Color")))
    assert _data.materials["Label"].node_tree.nodes["picture"].image == _data.images["Picture"]
    assert gates(stage, target) == {}


def test_every_missing_image_is_found_before_anything_is_written(stage: Stage) -> None:
    operations = [create("a", "ShaderNodeTexImage"), prop("a", "image", "Gone"), prop("a", "image", "Away")]
    found = stage.refusal("nodes.apply_tree", {"target": {"material": "M"}, "operations": operations})
    assert [each["pointer"] for each in found] == ["/operations/1/value", "/operations/2/value"]
    assert "M" not in _data.materials


def test_an_image_node_without_an_image_does_not_pass(stage: Stage) -> None:
    target = {"material": "M"}
    textured = create("a", "ShaderNodeTexImage"), link(("a", "Color"), ("Principled BSDF", "Base Color"))
    result = build(stage, target, *textured)
    assert result["failed_gates"] == ["NO_MISSING_IMAGES"]
    assert gates(stage, target).keys() == {"NO_MISSING_IMAGES"}
    (found,) = stage.refusal("nodes.gates", {"target": target, "required": True})
    assert found["rule"] == "NO_MISSING_IMAGES"
    assert "'a' has no image" in found["message"]


def test_an_environment_lights_a_world_that_the_scene_then_has(stage: Stage) -> None:
    image(stage, "Sky")
    sky = create("sky", "ShaderNodeTexEnvironment"), prop("sky", "image", "Sky")
    result = build(stage, {"world": "Outside"}, *sky, link(("sky", "Color"), ("Background", "Color")))
    assert (result["created"], result["failed_gates"]) == (True, [])
    scene: Any = bpy.context.scene
    assert scene.world == _data.worlds["Outside"]


def test_a_light_must_be_there(stage: Stage) -> None:
    (found,) = stage.refusal("nodes.apply_tree", {"target": {"light": "Lamp"}, "operations": []})
    assert (found["pointer"], found["code"]) == ("/target/light", "TARGET_NOT_FOUND")


def test_nothing_linked_to_the_output_does_not_pass(stage: Stage) -> None:
    result = build(stage, {"material": "Bare"}, clear=True)
    assert (result["nodes"], result["failed_gates"]) == (1, ["OUTPUT_CONNECTED"])
    assert result["messages"] == ["Nothing is linked to the output 'output'. Link the result to 'Surface' of output."]


def test_an_output_that_is_added_is_the_one_that_counts(stage: Stage) -> None:
    target = {"material": "Two"}
    ends = create("glow", "ShaderNodeEmission"), create("end", "ShaderNodeOutputMaterial")
    build(stage, target, *ends, link(("glow", "Emission"), ("end", "Surface")))
    nodes = _data.materials["Two"].node_tree.nodes
    assert [node.name for node in nodes if getattr(node, "is_active_output", False)] == ["end"]
    shown = stage.do("nodes.inspect", {"target": target, "formats": ["tree", "payload"]})
    build(stage, {"material": "Again"}, *shown["payload"]["operations"], clear=True)
    assert stage.do("nodes.inspect", {"target": {"material": "Again"}})["tree"] == shown["tree"]
    assert gates(stage, target).keys() == {"SINGLE_OUTPUT"}


def test_what_fails_in_the_middle_leaves_a_material_as_it_was(stage: Stage) -> None:
    build(stage, {"material": "M"})
    operations = [create("glow", "ShaderNodeEmission"), link(("glow", "Emission"), ("Nowhere", "Surface"))]
    found = unexamined(stage, "nodes.apply_tree", {"target": {"material": "M"}, "operations": operations})
    assert [each["pointer"] for each in found] == ["/operations/1/to/node_id"]
    assert len(_data.materials["M"].node_tree.nodes) == 2


def shared_group(stage: Stage) -> dict[str, str]:
    """A shader group in two materials, each with a value of its own for it."""
    group = {"group": "Shared", "kind": "shader"}
    outputs = [{"name": "Result", "socket_type": "NodeSocketFloat"}]
    build(
        stage,
        group,
        group_io([number("Amount", default=0.5)], outputs=outputs),
        link(("group_input", "Amount"), ("group_output", "Result")),
    )
    for name, amount in (("One", 0.25), ("Two", 0.75)):
        used = (
            create("group", "ShaderNodeGroup"),
            prop("group", "node_tree", "Shared"),
            value("group", "Amount", amount),
        )
        build(stage, {"material": name}, *used, link(("group", "Result"), ("Principled BSDF", "Roughness")))
    return group


@pytest.mark.parametrize("way", ways())
def test_a_change_of_a_shared_group_reaches_its_materials_and_is_taken_back(stage: Stage, way: str) -> None:
    group = shared_group(stage)
    change = {"target": group, "operations": [group_io([number("Extra", default=0.125)])]}
    before = stage.state.root()
    assert stage.call("nodes.apply_tree", change, rehearse=way)["reverted_by"] == way
    assert stage.state.full_root() == before
    stage.do("nodes.apply_tree", change)
    for name, amount in (("One", 0.25), ("Two", 0.75)):
        inputs = _data.materials[name].node_tree.nodes["group"].inputs
        assert {each.name: each.default_value for each in inputs} == {"Amount": amount, "Extra": 0.125}
    assert stage.do("nodes.inspect", {"target": group})["users"] == ["materials/One", "materials/Two"]
    after = stage.state.root()
    stage.state.save(stage.scratch / "shared.blend")
    stage.state.open(stage.scratch / "shared.blend")
    assert stage.state.root() == after


def test_a_group_of_another_kind_is_refused(stage: Stage) -> None:
    group = shared_group(stage)
    (found,) = stage.refusal("nodes.apply_tree", {"target": {**group, "kind": "compositor"}, "operations": []})
    assert found["pointer"] == "/target/kind"
    nested = [create("g", "CompositorNodeGroup"), prop("g", "node_tree", "Shared")]
    (found,) = (
        stage.refusal("nodes.apply_tree", {"target": {"compositor": "Scene"}, "operations": nested})
        if GROUP_COMPOSITOR
        else ({"pointer": "/operations/1/value"},)
    )
    assert found["pointer"] == "/operations/1/value"


def compositor_tree() -> Any:
    scene: Any = bpy.context.scene
    return scene.compositing_node_group if GROUP_COMPOSITOR else scene.node_tree


def test_a_compositor_is_changed_taken_back_saved_and_opened(stage: Stage) -> None:
    target = {"compositor": "Scene"}
    blur = create("blur", "CompositorNodeBlur"), link(("Render Layers", "Image"), ("blur", "Image"))
    build(stage, target, *blur, link(("blur", "Image"), ("output", "Image")))
    made = stage.state.root()
    ops = [{"op": "remove_node", "node_id": "blur"}, wire(("Render Layers", "Image"), ("output", "Image"))]
    way = "inverse" if GROUP_COMPOSITOR else "memfile"
    if way in ways():
        taken_back = stage.call("nodes.patch", {"target": target, "ops": ops}, rehearse=way)
        assert taken_back["reverted_by"] == way
        assert stage.state.full_root() == made
        assert "blur" in compositor_tree().nodes
    stage.do("nodes.patch", {"target": target, "ops": ops})
    assert "blur" not in compositor_tree().nodes
    changed = stage.state.root()
    assert changed != made
    stage.state.save(stage.scratch / "composed.blend")
    stage.state.open(stage.scratch / "composed.blend")
    assert stage.state.root() == changed
    assert gates(stage, target) == {}


def test_a_compositor_without_a_picture_does_not_pass(stage: Stage) -> None:
    assert build(stage, {"compositor": "Scene"}, clear=True)["failed_gates"] == ["OUTPUT_CONNECTED"]


def test_unused_nodes_are_told_and_removed(stage: Stage) -> None:
    target = {"world": "W"}
    build(stage, target, create("loose", "ShaderNodeTexNoise"))
    assert gates(stage, target).keys() == {"NO_UNUSED_NODES"}
    stage.do("nodes.patch", {"target": target, "ops": [{"op": "cleanup_unused"}]})
    assert gates(stage, target) == {}


def test_a_diagram_shows_a_material(stage: Stage) -> None:
    build(stage, {"material": "M"})
    shown = stage.do("nodes.inspect", {"target": {"material": "M"}, "formats": ["mermaid"]})
    assert "Principled BSDF" in shown["mermaid"]
    assert shown["tree"] is shown["payload"] is None


@pytest.mark.parametrize(
    ("target", "kind", "wrong"),
    [
        ({"compositor": "Scene"}, "CompositorNodeOutputFile", ()),
        ({"material": "M"}, "ShaderNodeScript", (("mode", "EXTERNAL"), ("bytecode", "OpenShadingLanguage 1.00"))),
        ({"group": "G", "kind": "shader"}, "ShaderNodeScript", (("filepath", "/tmp/a.osl"),)),
        ({"material": "M"}, "ShaderNodeTexIES", (("mode", "EXTERNAL"), ("filepath", "/etc/passwd"))),
    ],
    ids=["File Output", "bytecode", "a script by its path", "IES by its path"],
)
def test_no_node_writes_a_file_runs_code_or_names_a_file(
    stage: Stage, target: dict[str, str], kind: str, wrong: tuple[tuple[str, str], ...]
) -> None:
    operations = [create("a", kind), *(prop("a", name, text) for name, text in wrong)]
    found = stage.invalid("nodes.apply_tree", {"target": target, "operations": operations})
    places = {"ShaderNodeTexIES": "/operations/2/property"}
    assert found[0] == places.get(kind, "/operations/0/bl_idname")


def test_what_a_scene_renders_is_seen_in_its_compositor(stage: Stage) -> None:
    """Render Layers has outputs of the engine's passes: a hash that does not know of them is another one in the next process."""
    build(stage, {"compositor": "Scene"})

    def outputs() -> list[str]:
        (layers,) = (node for node in compositor_tree().nodes if node.bl_idname == "CompositorNodeRLayers")
        return [socket.identifier for socket in layers.outputs if socket.enabled]

    plain = outputs()
    for tool, args in (
        ("scene.set_render", {"engine": "CYCLES", "denoise": True}),
        ("scene.set_passes", {"passes": ["Z", "DENOISING_DATA"]}),
        ("scene.set_render", {"engine": "WORKBENCH"}),
    ):
        before = outputs()
        if bpy.app.version >= (
            5,
            1,
            0,
        ):  # earlier ones bring the outputs back otherwise, and the core rebuilds the scene
            assert stage.call(tool, args, rehearse="inverse")["reverted_by"] == "inverse"
            assert outputs() == before
        stage.do(tool, args)
        assert outputs() != before
    after = stage.state.root()
    stage.state.save(stage.scratch / "after.blend")
    stage.state.open(stage.scratch / "after.blend")
    assert stage.state.root() == after and outputs() != plain
