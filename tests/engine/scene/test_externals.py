"""External files of a baseline and of an adopted file: recorded, made absolute, read inside the roots only. On real workers."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import bpy
import pytest

import blendwright
from blendwright.bridge.sources import worker_source
from blendwright.bridge.spawn import WorkerSettings
from blendwright.cli.output import Exit
from blendwright.cli.workspace import externals
from blendwright.engine.files.roots import FileRoots
from blendwright.engine.scene.external_files import External, Externals, externals_of_receipt
from blendwright.journal import JournalView
from blendwright.policy.policy import Verdict
from blendwright.views.queries import recorded_externals
from blendwright.wire.worker_port import ReadableFile
from support.stage.stage import Stage

PLANE = {"kind": "plane", "name": "Wall", "size": 4}


def image(path: Path, colour: tuple[float, float, float, float] = (1.0, 0.0, 0.0, 1.0)) -> Path:
    made: Any = bpy.data.images.new("made", 8, 8)
    made.pixels[:] = colour * 64
    made.filepath_raw, made.file_format = str(path), "PNG"
    path.parent.mkdir(parents=True, exist_ok=True)
    made.save()
    bpy.data.images.remove(made)
    return path


@pytest.fixture
def project(stage: Stage, tmp_path: Path) -> Path:
    """A .blend file that refers to an image beside it, to one that is not there, and to what is none of its business."""
    place = tmp_path / "project"
    texture = image(place / "textures" / "red.png")
    stage.do("mesh.create_primitive", PLANE)
    data: Any = bpy.data
    material = data.materials.new("Paint")
    tree: Any = material.node_tree
    node = tree.nodes.new("ShaderNodeTexImage")
    node.image = data.images.load(str(texture))
    tree.links.new(node.outputs["Color"], tree.nodes["Principled BSDF"].inputs["Emission Color"])
    tree.nodes["Principled BSDF"].inputs["Emission Strength"].default_value = 1.0
    data.objects["Wall"].data.materials.append(material)
    camera = data.objects.new("Eye", data.cameras.new("Eye"))
    camera.location.z = 3.0
    bpy.context.scene.collection.objects.link(camera)
    bpy.context.scene.camera = camera
    bpy.ops.wm.save_as_mainfile(filepath=str(place / "scene.blend"))
    bpy.ops.file.make_paths_relative()
    assert node.image.filepath == "//textures/red.png"
    for name, path in (("Lost", "//textures/lost.png"), ("Nosy", "/etc/shadow"), ("Linked out", "//out.png")):
        other = data.images.new(name, 1, 1)
        other.source, other.filepath, other.use_fake_user = "FILE", path, True
    (place / "out.png").symlink_to("/etc/passwd")
    bpy.ops.wm.save_as_mainfile(filepath=str(place / "scene.blend"))
    return place


def by_name(externals: tuple[External, ...]) -> dict[str, External]:
    return {Path(external.path).name: external for external in externals}


def test_a_baseline_has_its_files_recorded_made_absolute_and_readable(project: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    with blendwright.open(elsewhere, scene=project / "scene.blend", roots=[project], spare=False) as opened:
        found = by_name(of_head_after(opened))
        content = (project / "textures" / "red.png").read_bytes()
        assert found["red.png"].state == "present" and found["red.png"].used_by == ("images/red.png",)
        assert (found["red.png"].size, found["red.png"].sha256) == (len(content), hashlib.sha256(content).hexdigest())
        assert [found[name].state for name in ("lost.png", "shadow", "out.png")] == [
            "missing",
            "outside_roots",
            "outside_roots",
        ]
        assert found["shadow"].sha256 is None is found["out.png"].sha256
        assert reddish(opened, tmp_path), "the worker reads it"
    assert sorted(places(elsewhere)) == sorted(
        [
            str(project / "textures" / "red.png"),
            str(project / "textures" / "lost.png"),
            "/etc/shadow",
            str(project / "out.png"),
        ]
    )
    # Without the root the worker gets nothing, and the scene is still the same scene.
    with blendwright.open(elsewhere, roots=[tmp_path / "other"], spare=False) as opened:
        assert not reddish(opened, tmp_path)


def of_head_after(opened: blendwright.OpenScene) -> tuple[External, ...]:
    assert opened.hash
    return recorded_externals(opened.journal)


def reddish(opened: blendwright.OpenScene, tmp_path: Path) -> bool:
    """Whether a picture of the wall shows the texture; Blender paints what it cannot read magenta."""
    taken = opened.outcome("render.preview", {"engine": "CYCLES", "width": 32, "height": 32, "samples": 1})
    assert taken.ok, taken.message
    picture: Any = bpy.data.images.load(taken.artifacts[0])
    red, _, blue, _ = picture.pixels[(16 * 32 + 16) * 4 :][:4]
    return red > 0.5 and blue < 0.3


def places(workspace: Path) -> list[str]:
    """The paths in the newest checkpoint, as anybody finds them who opens it."""
    view = JournalView(workspace)
    head = view.head
    assert head is not None
    checkpoint = view.checkpoints.route(head.number).checkpoint
    view.close()
    assert checkpoint is not None
    bpy.ops.wm.open_mainfile(filepath=str(checkpoint.path), use_scripts=False)
    return [block.filepath for block in bpy.data.images if block.source == "FILE"]


def test_an_adopted_file_has_its_files_recorded_and_the_command_tells_what_is_wrong(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(project)

    def told(code: int) -> str:
        capsys.readouterr()
        assert externals() == code
        printed = capsys.readouterr()
        return printed.out + printed.err

    with blendwright.open(spare=False) as opened:
        assert opened.call("object.create_empty", name="First").ok
        assert "no other files" in told(Exit.DONE)
        commit = opened.history.adopt(Path("scene.blend"))
        assert commit is not None
        recorded = externals_of_receipt(commit.receipt)
        states = {name: external.state for name, external in by_name(recorded).items()}
        assert states == {
            "red.png": "present", "lost.png": "missing", "shadow": "outside_roots", "out.png": "outside_roots",
        }  # fmt: skip
        said = told(Exit.FAILED)
        assert "lost.png is missing" in said and "/etc/shadow is outside the allowed roots" in said
        image(project / "textures" / "red.png", (0.0, 1.0, 0.0, 1.0))
        assert "red.png has changed since it was recorded" in told(Exit.FAILED)
        opened.history.undo()
        assert "no other files" in told(Exit.DONE)


def test_of_several_roots_the_nearest_says_whether_a_file_is_read(tmp_path: Path) -> None:
    roots = {".": Verdict.ALLOW, "originals": Verdict.DENY, "originals/free": Verdict.ALLOW, "asked": Verdict.ASK}
    files = Externals(FileRoots({str(tmp_path / root): verdict for root, verdict in roots.items()}))
    states: dict[str, str] = {}
    for name in ("a.png", "originals/b.png", "originals/free/c.png", "asked/d.png"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"png")
        states[name] = files.now(External(str(path), "present", None, None, ())).state
    assert list(states.values()) == ["present", "outside_roots", "present", "outside_roots"]


READING = """
import bpy, random
os = random._os
for image in bpy.data.images:
    try:
        print(image.name, len(os.read(os.open(image.filepath, 0), 4)))
    except OSError as error:
        print(image.name, "refused")
"""


def test_safe_code_reads_no_file_that_the_scene_names(project: Path, tmp_path: Path) -> None:
    """The scene's own process reads the texture; code gets a process that reads nothing but the scene."""
    (project / ".env").write_text("secret")
    secret: Any = bpy.data.images.new("Env", 1, 1)
    secret.source, secret.filepath, secret.use_fake_user = "FILE", "//.env", True
    bpy.ops.wm.save_as_mainfile(filepath=str(project / "scene.blend"))
    workspace = tmp_path / "elsewhere"
    with blendwright.open(workspace, scene=project / "scene.blend", roots=[project], spare=False) as opened:
        assert by_name(of_head_after(opened))[".env"].state == "withheld"
        ran = opened.outcome("python.run", {"code": READING})
        assert ran.ok and ran.result is not None, ran.message
        said = ran.result["output"]
        assert "Env refused" in said and "red.png refused" in said and "Nosy refused" in said, said
        assert reddish(opened, tmp_path)


def test_a_worker_reads_the_file_that_was_judged_and_no_other(tmp_path: Path) -> None:
    """Between the judgement and the start of a process somebody may put a link in the file's place."""
    texture = image(tmp_path / "red.png")
    judged = texture.lstat()
    code = {
        "tool": "python.run",
        "version": 2,
        "args": {"code": f"import random\nos = random._os\nos.open({str(texture)!r}, 0)"},
    }
    readable = ReadableFile(texture, judged.st_dev, judged.st_ino)
    with worker_source().open_pool(WorkerSettings(tmp_path / "scratch", readable=(readable,)), spares=0) as pool:
        assert pool.take().call("scene.step", code, deadline=60)["ok"]
        assert not pool.take(bare=True).call("scene.step", code, deadline=60)["ok"]
        texture.rename(tmp_path / "was.png")
        (tmp_path / "secret").write_text("secret")
        texture.symlink_to(tmp_path / "secret")
        assert not pool.take().call("scene.step", code, deadline=60)["ok"]
