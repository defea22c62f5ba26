"""Work in a separate headless Blender that is transferred to the window: code, pictures of the scene, settings of the scene."""

from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image

import blendwright
from blendwright.window.attach import attach
from support.engine.engine import UNASKED
from window.playing import PlayedWindow
from window.test_stories import in_step


def test_what_needs_a_process_of_its_own_happens_beside_the_window(
    window: PlayedWindow, scene: blendwright.OpenScene, tmp_path: Path
) -> None:
    code = "import bpy\nbpy.data.objects['Cube'].location.z = 4\nbpy.ops.mesh.primitive_monkey_add()\n"
    result = scene.call("python.run", code=code, mode="safe")
    assert result.ok, result.message
    assert window.ask("bpy.data.objects['Cube'].location.z") == 4 and window.ask("'Suzanne' in bpy.data.objects")
    assert in_step(window, scene)
    window.undo()
    assert window.ask("bpy.data.objects['Cube'].location.z") == 0 and not window.ask("'Suzanne' in bpy.data.objects")


@pytest.mark.slow
def test_what_nothing_uses_any_more_is_kept_in_the_window_as_it_is_beside_it(
    window: PlayedWindow, scene: blendwright.OpenScene
) -> None:
    window.do("bpy.data.worlds['World'].use_fake_user = True")
    code = (
        "import bpy\nbpy.data.objects['Cube'].data.materials[0] = bpy.data.materials.new('Gold')\n"
        "bpy.data.worlds['World'].color = (1, 0, 0)\n"
    )
    result = scene.call("python.run", code=code, mode="safe")
    assert result.ok, result.message
    assert (
        window.ask("[bpy.data.materials['Material'].use_fake_user, bpy.data.worlds['World'].use_fake_user]")
        == [True] * 2
    )
    assert window.ask("bpy.data.objects['Cube'].data.materials[0].name") == "Gold" and in_step(window, scene)


WITH_PICTURES = """
import numpy
for path in ('//textures/below.png', '//../above.png', bpy.path.abspath('//absolute.png'), '//away.png'):
    image = bpy.data.images.new('new', 8, 8)
    image.pixels = numpy.ones(256)
    image.filepath_raw, image.file_format = bpy.path.abspath(path), 'PNG'
    image.save()
    bpy.data.images.load(path).use_fake_user = True
    bpy.data.images.remove(image)
bpy.data.images['away.png'].filepath_raw = '/away.png'
"""
NAMED = "[bpy.data.images[n].filepath for n in ('above.png', 'below.png', 'absolute.png', 'away.png')]"
# The scene is filled by one picture.
ENVIRONMENT = """
for obj in list(bpy.data.objects):
    if obj.type == 'MESH': bpy.data.objects.remove(obj)
tree = bpy.context.scene.world.node_tree
node = tree.nodes.get('Sky') or tree.nodes.new('ShaderNodeTexEnvironment')
node.name, node.image = 'Sky', bpy.data.images[{name!r}]
tree.links.new(node.outputs['Color'], tree.nodes['Background'].inputs['Color'])
tree.nodes['Background'].inputs['Strength'].default_value = 1
bpy.context.scene.view_settings.view_transform = 'Standard'
bpy.context.scene.render.engine, bpy.context.scene.cycles.samples = 'CYCLES', 1
"""


@pytest.mark.slow
def test_pictures_are_found_beside_the_window_wherever_the_persons_file_says(
    window: PlayedWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = tmp_path / "work"
    (work / "theirs" / "textures").mkdir(parents=True)
    monkeypatch.chdir(work)  # what a core may read
    window.save(work / "theirs" / "scene.blend")
    attach(tmp_path / "workspace")
    with blendwright.open(tmp_path / "workspace", policy=UNASKED) as scene:
        window.do(WITH_PICTURES)
        named = window.ask(NAMED)
        assert named == ["//../above.png", "//textures/below.png", str(work / "theirs" / "absolute.png"), "/away.png"]
        greens: dict[str, int] = {}
        for name in ("above.png", "absolute.png"):
            window.do(ENVIRONMENT.format(name=name))
            result = scene.call("render.still", artifact=name, resolution=[8, 8], denoise=False)
            assert result.ok, result.message
            [file] = (tmp_path / "workspace").rglob(f"artifacts/**/{name}")
            greens[name] = Image.open(file).convert("RGB").getpixel((4, 4))[1]  # pyright: ignore[reportIndexIssue,reportOptionalSubscript]
            assert in_step(window, scene)
        assert min(greens.values()) > 250, f"what is missing is pink: {greens}"
        assert window.ask(NAMED) == named
        window.do("bpy.context.scene.render.filepath = '//../out/'")
        assert scene.call("scene.snapshot").ok and in_step(window, scene)
    # For whoever opens the workspace next, too.
    with blendwright.open(tmp_path / "workspace", policy=UNASKED) as scene:
        code = "import bpy; bpy.data.images['above.png'].seam_margin = 3"
        assert scene.call("python.run", code=code, mode="safe").ok
        assert in_step(window, scene) and window.ask("bpy.data.images['above.png'].seam_margin") == 3


SETTINGS = {
    "scene.frame_start": 300,
    "scene.frame_end": 400,
    "scene.frame_current": 320,
    "scene.render.resolution_x": 640,
    "scene.render.image_settings.file_format": "OPEN_EXR",
    "scene.render.engine": "CYCLES",
    "scene.cycles.samples": 7,
    "scene.unit_settings.system": "IMPERIAL",
    "scene.view_settings.view_transform": "Standard",
    "scene.view_settings.exposure": 1.5,
    "scene.view_layers[0].use_pass_mist": True,
    "scene.world.name": "Sky",
    "scene.camera.name": "Eye",
    "scene['rating']": 3,
}


@pytest.mark.slow
def test_settings_of_the_scene_itself_are_brought_over(window: PlayedWindow, scene: blendwright.OpenScene) -> None:
    before = window.fingerprint()
    # The person's own, and no part of the scene.
    window.do("bpy.context.scene.tool_settings.use_snap = True", push=False)
    code = "scene.world = bpy.data.worlds.new('Sky')\nscene.camera.name = 'Eye'"
    values = "\n".join(f"{name} = {value!r}" for name, value in SETTINGS.items() if not name.endswith(".name"))
    done = scene.call("python.run", code=f"import bpy\nscene = bpy.context.scene\n{code}\n{values}\n", mode="safe")
    assert done.ok, done.message
    for name, value in SETTINGS.items():
        assert window.ask(f"[scene := bpy.context.scene, {name}][1]") == value, name
    assert in_step(window, scene) and window.ask("bpy.context.scene.tool_settings.use_snap")
    window.undo()
    assert window.fingerprint() == before


def test_a_scene_that_would_come_or_go_is_refused_and_nothing_changes(
    window: PlayedWindow, scene: blendwright.OpenScene
) -> None:
    before = window.fingerprint()
    for code in ("bpy.data.scenes.new('Second')", "bpy.context.scene.timeline_markers.new('here', frame=3)"):
        refused = scene.call("python.run", code=f"import bpy\n{code}\n", mode="safe")
        assert not refused.ok and "loaded into the window" in refused.message
        assert window.fingerprint() == before and in_step(window, scene)
