"""Datablocks that a saved file would lose: a window hides them, so that its hash equals that of its file opened elsewhere."""

from __future__ import annotations

from pathlib import Path

from support.stage.stage import Stage
from window.alone.core_client import CoreClient
from window.playing import PlayedWindow

# What deleting by hand leaves: a mesh without users, and a material that only that mesh uses.
DELETE_CUBE = "bpy.data.objects.remove(bpy.data.objects['Cube'])"


def test_the_hash_of_a_window_is_that_of_its_file_opened_elsewhere(
    window: PlayedWindow, core: CoreClient, stage: Stage, tmp_path: Path
) -> None:
    window.do(DELETE_CUBE)
    window.do(
        "image = bpy.data.images.new('Lost', 8, 8); m = bpy.data.materials.new('Used'); m.use_nodes = True\n"
        "bpy.data.meshes.new('Alone')['note'] = bpy.data.materials.new('Behind')\n"
        "bpy.data.texts.new('Notes').write('kept')\n"
        "bpy.data.materials.new('Faked').use_fake_user = True\n"
        "bpy.data.objects['Light'].data['m'] = m\n"
        "bpy.data.objects['Camera'].keyframe_insert('location', frame=1)\n"
    )
    names = "sorted((m.name, m.users) for m in bpy.data.materials)"
    assert ["Material", 1] in window.ask(names) and ["Behind", 1] in window.ask(names)
    begun = core.begin()["hash"]
    assert core.step("mesh.create_primitive", kind="cube", name="New")["ok"]
    end = core.end()
    path = tmp_path / "window.blend"
    assert core.call("window.save", path=str(path))["hash"] == end != begun
    stage.state.open(path, drop_unused=True)
    assert stage.state.root() == end
    stage.state.save(tmp_path / "again.blend")
    stage.state.open(tmp_path / "again.blend")
    assert stage.state.root() == end, "it stays that, whoever opens it how often"
    # Nothing was taken from the person.
    assert ["Material", 1] in window.ask(names) and window.ask("bpy.data.meshes['Cube'].users") == 0


def test_the_name_of_something_hidden_is_free(
    window: PlayedWindow, core: CoreClient, stage: Stage, tmp_path: Path
) -> None:
    window.do(DELETE_CUBE)
    core.begin()
    answer = core.step("mesh.create_primitive", kind="cube", name="Cube")
    assert answer["ok"], answer["message"]
    assert window.ask("bpy.data.objects['Cube'].data.name") == "Cube"
    assert window.ask("bpy.data.meshes['Cube.001'].users") == 0, "what was there is still there"
    end = core.end()
    core.call("window.save", path=str(tmp_path / "window.blend"))
    stage.state.open(tmp_path / "window.blend", drop_unused=True)
    assert stage.state.root() == end == window.fingerprint()


def test_what_a_step_leaves_to_something_hidden_alone_is_kept(
    window: PlayedWindow, core: CoreClient, stage: Stage, tmp_path: Path
) -> None:
    """Check data that only a tombstone and unsaved datablocks use: neither counts as a user, and the data is kept."""
    window.do("bpy.data.meshes.new('Alone').materials.append(bpy.data.materials['Material'])")
    core.begin()
    assert core.step("object.delete", object="Cube")["ok"]
    end = core.end()
    assert end == window.fingerprint()
    core.call("window.save", path=str(tmp_path / "window.blend"))
    stage.state.open(tmp_path / "window.blend", drop_unused=True)
    assert stage.state.root() == end
