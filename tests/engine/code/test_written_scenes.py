"""Safe code that writes .blend files, or leaves a scene that hides a driver: nothing that runs where it is opened gets out."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import bpy
import pytest

from blender.scene.hiding import OFFSET
from blendwright.policy.policy import Policy, Rules
from blendwright.values.approval import ApprovalAnswer, Approver
from blendwright.values.faults import Fault
from blendwright.values.outcome import Outcome
from support.engine.engine import Engine
from support.engine.people import Person

HIDE = f"""
import bpy, ctypes
action_owner = bpy.data.objects.new('Hiding', None)
bpy.context.scene.collection.objects.link(action_owner)
action_owner.keyframe_insert('location', frame=1)
animation = action_owner.animation_data
action, animation.action = animation.action, None
strip = animation.nla_tracks.new().strips.new('Strip', 1, action)
strip.use_animated_influence = True
strip.keyframe_insert('influence', frame=1)
curve = action_owner.driver_add('scale', 0)
curve.driver.expression = '__import__("os").getpid() * 1.0'
source = ctypes.c_uint64.from_address(curve.as_pointer() + {OFFSET})
target = ctypes.c_uint64.from_address(strip.fcurves[0].as_pointer() + {OFFSET})
target.value, source.value = source.value, 0
action_owner.driver_remove('scale', 0)
"""
REMOVE_HIDDEN = """
bpy.data.objects.remove(action_owner)
bpy.data.actions.remove(action)
"""
TEXT = """
import bpy
text = bpy.data.texts.new('evil.py')
text.write('evil()')
text.use_module = True
"""
DRIVER = """
import bpy
text = bpy.data.objects.new('Driven', None)
text.driver_add('location', 0).driver.expression = '__import__("os").getpid() * 1.0'
"""
LIBRARY = "bpy.data.libraries.write(files['{name}'], {{text}}, compress={compress})\nbpy.data.batch_remove([text])\n"
GZIP = """
import gzip, pathlib
file = pathlib.Path(files['{name}'])
file.write_bytes(gzip.compress(file.read_bytes()))
"""
MESH = """
import bpy
mesh = bpy.data.meshes.new('Lonely')
mesh.from_pydata([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [], [(0, 1, 2)])
bpy.data.libraries.write(files['gift.blend'], {mesh}, fake_user=False)
bpy.data.meshes.remove(mesh)
"""
EVERYTHING = "import bpy\nbpy.ops.wm.save_as_mainfile(filepath=files['all.blend'], copy=True)\n"


def unread(code: str, *, trusted: bool, files: bool = False) -> tuple[()]:
    """Accept all code: the reading of code is not the boundary."""
    return ()


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    with pytest.MonkeyPatch.context() as patch, Engine(tmp_path_factory.mktemp("written")) as engine:
        patch.setattr("blendwright.tools.python.run.check_code", unread)
        engine.do("mesh.create_primitive", {"kind": "cube", "name": "Crate"})
        yield engine


def run(engine: Engine, code: str, *names: str) -> Outcome:
    files = {"in": [], "out": [str(engine.place / name) for name in names]}
    return engine.call("python.run", {"code": code, "files": files} if names else {"code": code})


def refused(engine: Engine, code: str, *names: str, fault: Fault = Fault.POLICY_BLOCKED) -> str:
    """The message of code that is refused and leaves nothing, neither in the scene nor in the files."""
    before, head = engine.scene.hash, engine.head().number
    outcome = run(engine, code, *names)
    assert outcome.fault is fault, (outcome.fault, outcome.message)
    assert outcome.findings[0].pointer == ("/files/out/0" if names else "/code") and outcome.findings[0].cure
    assert (engine.scene.hash, engine.head().number, engine.full_hash()) == (before, head, before)
    assert not any((engine.place / name).exists() for name in names)
    assert str(engine.place / "scratch") not in outcome.message
    return outcome.message


def contents(file: Path, kind: str) -> list[str]:
    with bpy.data.libraries.load(str(file), link=False) as (source, _):
        return list(getattr(source, kind))


def test_code_that_hides_a_driver_in_the_scene_is_refused(engine: Engine) -> None:
    assert "influence[0] of objects 'Hiding'" in refused(engine, HIDE)


def test_a_blend_file_that_hides_a_driver_is_not_delivered(engine: Engine) -> None:
    message = refused(engine, HIDE + EVERYTHING + REMOVE_HIDDEN, "all.blend")
    assert "all.blend cannot be delivered" in message and "influence[0]" in message


@pytest.mark.parametrize(
    ("name", "compress", "more"),
    [
        ("gift.blend", False, ""),
        ("gift.png", False, ""),
        ("zstd.blend", True, ""),
        ("zstd.png", True, ""),
        ("gzip.blend", False, GZIP),
        ("gzip.png", False, GZIP),
    ],
)
def test_a_blend_file_with_a_registered_text_is_not_delivered(
    engine: Engine, name: str, compress: bool, more: str
) -> None:
    code = TEXT + LIBRARY.format(name=name, compress=compress) + more.format(name=name)
    assert "registered text evil.py" in refused(engine, code, name)


def test_a_blend_file_with_a_python_driver_is_not_delivered(engine: Engine) -> None:
    code = DRIVER + LIBRARY.format(name="driven.blend", compress=False)
    assert "scripted driver Driven location[0]" in refused(engine, code, "driven.blend")


@pytest.mark.parametrize("companion", ["part.bin", "volumes"])
def test_a_blend_file_beside_an_output_is_checked_too(engine: Engine, companion: str) -> None:
    if companion == "volumes":
        write = (
            "path = pathlib.Path(files['part.usda'])\nplace = path.parent / 'volumes' / 'a.vdb'\nplace.parent.mkdir()\n"
        )
        name = "part.usda"
    else:
        write = "path = pathlib.Path(files['part.gltf'])\nplace = path.with_suffix('.bin')\n"
        name = "part.gltf"
    hide = "path.write_text('x')\nbpy.data.libraries.write(str(place), {text})\nbpy.data.texts.remove(text)\n"
    code = f"{TEXT}import pathlib\n{write}{hide}"
    assert "registered text evil.py" in refused(engine, code, name)


def test_what_only_looks_like_a_blend_file_is_not_delivered(engine: Engine) -> None:
    code = "open(files['broken.blend'], 'wb').write(b'BLENDER-v500' + bytes(100))"
    assert "broken.blend cannot be delivered" in refused(engine, code, "broken.blend", fault=Fault.EXECUTION_FAILED)


def test_a_harmless_blend_file_is_delivered_with_all_that_was_written(engine: Engine) -> None:
    outcome = run(engine, MESH, "gift.blend")
    assert outcome.ok, outcome.message
    assert contents(engine.place / "gift.blend", "meshes") == ["Lonely"]


def test_code_that_the_scene_had_before_is_left_out_of_a_written_file(tmp_path: Path) -> None:
    trusting = Policy(policy=Rules(trusted_python="ask"))
    approver = Approver(Person(ApprovalAnswer.APPROVED))
    with Engine(tmp_path, spare=False) as engine, engine.under(trusting):
        engine.do("python.run", {"code": TEXT, "mode": "trusted"}, approver=approver)
        outcome = run(engine, EVERYTHING, "all.blend")
        assert outcome.ok, outcome.message
        assert engine.full_hash() == outcome.fingerprint_after
    with bpy.data.temp_data() as data:
        with data.libraries.load(str(tmp_path / "all.blend"), link=False) as (_, chosen):
            chosen.texts = ["evil.py"]
        assert data.texts["evil.py"].use_module is False
