"""Files that name other files when they are imported: above them, by address, on the web, in libraries. Nothing of that is read.

What Blender would follow is imported without the confinement as well, which shows that it would.
"""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import bpy
import pytest

from blendwright.engine.files.roots import FileRoots
from blendwright.engine.scene.external_files import Externals
from blendwright.policy.policy import Verdict
from blendwright.values.faults import Fault
from blendwright.values.outcome import Outcome
from support.engine.engine import Engine
from support.stage.stage import Stage

_data: Any = bpy.data
_ops: Any = bpy.ops
LAYER = '#usda 1.0\n(\n    subLayers = [@{address}@]\n)\ndef Mesh "Plain"\n{{{shape}}}\n'
REFERENCE = '#usda 1.0\ndef "Far" (\n    {how} = @{address}@</Secret>\n)\n{{\n}}\ndef Mesh "Plain"\n{{{shape}}}\n'
SHAPE = (
    "int[] faceVertexCounts = [3]\nint[] faceVertexIndices = [0, 1, 2]\npoint3f[] points = [(0,0,0),(1,0,0),(0,1,0)]\n"
)
SECRET = f'#usda 1.0\n(\n    defaultPrim = "Secret"\n)\ndef Mesh "Secret"\n{{{SHAPE}}}\n'


class Listener:
    """A server on this machine that counts who comes."""

    def __init__(self) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        self.visits = 0
        threading.Thread(target=self._wait, daemon=True).start()

    def _wait(self) -> None:
        while True:
            try:
                visitor, _ = self._socket.accept()
            except OSError:
                return
            self.visits += 1
            visitor.close()

    def close(self) -> None:
        self._socket.close()


@pytest.fixture(scope="module")
def listener() -> Iterator[Listener]:
    made = Listener()
    yield made
    made.close()


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The root is `inside`; what is not to be read lies beside it, and further up."""
    place = tmp_path_factory.mktemp("reaching")
    (place / "inside").mkdir()
    (place / "secret.usda").write_text(SECRET)
    (place / "secret.bin").write_bytes(
        bytes.fromhex("0000000000000000000000000000803f00000000000000000000000000000000") + bytes(28)
    )
    picture = _data.images.new("secret", 4, 4)
    picture.filepath_raw, picture.file_format = str(place / "secret.png"), "PNG"
    picture.save()
    _data.images.remove(picture)
    return place


@pytest.fixture(scope="module")
def engine(place: Path) -> Iterator[Engine]:
    with Engine(place / "inside") as engine:
        engine.roots = {str(place / "inside"): Verdict.ALLOW}
        yield engine


def addresses(place: Path, name: str, listener: Listener) -> dict[str, str]:
    return {
        "above": f"../{name}",
        "absolute": str(place / name),
        "file address": f"file://{place / name}",
        "web address": f"http://127.0.0.1:{listener.port}/{name}",
    }


ADDRESSES = ("above", "absolute", "file address", "web address")
# Blender follows these where nothing keeps it from doing so.
FOLLOWED = {"above", "absolute"}


def imported(engine: Engine, file: Path) -> Outcome:
    before = engine.scene.hash
    outcome = engine.call("file.import", {"path": str(file), "on_collision": "rename"})
    if not outcome.ok:
        assert engine.scene.hash == before == engine.full_hash()
    assert engine.journal.recovery.quarantine() is None
    return outcome


def names(outcome: Outcome) -> set[str]:
    assert outcome.ok, outcome.message
    return {name.split(".")[0] for name in (outcome.result or {})["objects"]}


@pytest.mark.parametrize("address", ADDRESSES)
@pytest.mark.parametrize("how", ["subLayers", "references", "payload"])
def test_layers_of_a_usd_file_are_not_read(
    engine: Engine, place: Path, listener: Listener, stage: Stage, how: str, address: str
) -> None:
    file = place / "inside" / f"{how}-{address.replace(' ', '-')}.usda"
    text = LAYER if how == "subLayers" else REFERENCE
    file.write_text(text.format(how=how, address=addresses(place, "secret.usda", listener)[address], shape=SHAPE))
    if address in FOLLOWED:
        stage.do("file.import", {"path": str(file)}, files={str(file): str(file)})
        unconfined = {obj.name for obj in _data.objects}
        assert "Secret" in unconfined or _data.objects["Far"].type == "MESH", "the confinement is what keeps it out"
    outcome = imported(engine, file)
    assert names(outcome) <= {"Plain", "Far"}
    if "Far" in names(outcome):
        found = engine.do("object.inspect", {"name": next(n for n in (outcome.result or {})["objects"] if "Far" in n)})
        assert (found.result or {})["type"] == "EMPTY"
    assert listener.visits == 0


@pytest.mark.parametrize("address", ADDRESSES)
def test_textures_of_a_usd_file_are_not_packed(
    engine: Engine, place: Path, listener: Listener, stage: Stage, address: str
) -> None:
    """Blender is told to pack the textures of USD: what is in the file comes along, and nothing else."""
    file = place / "inside" / f"texture-{address.replace(' ', '-')}.usda"
    where = addresses(place, "secret.png", listener)[address]
    file.write_text(TEXTURED.format(address=where, shape=SHAPE))
    assert "Plain" in names(imported(engine, file))
    assert packed_images(engine, stage) == []
    assert listener.visits == 0


TEXTURED = """#usda 1.0
def Mesh "Plain" (
    prepend apiSchemas = ["MaterialBindingAPI"]
)
{{{shape}
    texCoord2f[] primvars:st = [(0, 0), (1, 0), (0, 1)] (
        interpolation = "vertex"
    )
    rel material:binding = </M>
}}
def Material "M"
{{
    token outputs:surface.connect = </M/S.outputs:surface>
    def Shader "S"
    {{
        uniform token info:id = "UsdPreviewSurface"
        color3f inputs:diffuseColor.connect = </M/T.outputs:rgb>
        token outputs:surface
    }}
    def Shader "T"
    {{
        uniform token info:id = "UsdUVTexture"
        asset inputs:file = @{address}@
        float3 outputs:rgb
    }}
}}
"""


def packed_images(engine: Engine, stage: Stage) -> list[str]:
    """Of the scene as it was committed."""
    checkpoint = engine.journal.checkpoints.route(engine.head().number).checkpoint
    assert checkpoint is not None
    stage.state.open(checkpoint.path)
    return [image.name for image in _data.images if image.packed_files]


@pytest.mark.parametrize("address", ADDRESSES)
@pytest.mark.parametrize("what", ["buffer", "image"])
def test_buffers_and_pictures_of_a_gltf_file_are_not_read(
    engine: Engine, place: Path, listener: Listener, stage: Stage, what: str, address: str
) -> None:
    named = addresses(place, "secret.bin" if what == "buffer" else "secret.png", listener)[address]
    file = place / "inside" / f"{what}-{address.replace(' ', '-')}.gltf"
    file.write_text(json.dumps(_gltf({what: named})))
    outcome = imported(engine, file)
    if what == "buffer":
        assert outcome.fault is Fault.EXECUTION_FAILED and "Blender cannot read the file" in outcome.message
    else:
        assert names(outcome) == {"T"}
        assert packed_images(engine, stage) == []
    assert listener.visits == 0


def test_a_gltf_file_with_everything_inside_is_read(engine: Engine, place: Path) -> None:
    """The same document as above, so that it is the address that is refused."""
    (place / "inside" / "whole.gltf").write_text(json.dumps(_gltf({})))
    assert names(imported(engine, place / "inside" / "whole.gltf")) == {"T"}


def _gltf(addresses: dict[str, str]) -> dict[str, Any]:
    corners = "data:application/octet-stream;base64,AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAgD8AAAAAAAABAAIAAAA="
    material: dict[str, Any] = {"name": "M"}
    document: dict[str, Any] = {
        "asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0]}], "nodes": [{"mesh": 0, "name": "T"}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1, "material": 0}]}], "materials": [material],
        "buffers": [{"uri": addresses.get("buffer", corners), "byteLength": 44}],
        "bufferViews": [{"buffer": 0, "byteLength": 36}, {"buffer": 0, "byteOffset": 36, "byteLength": 6}],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3", "min": [0, 0, 0], "max": [1, 1, 0]},
            {"bufferView": 1, "componentType": 5123, "count": 3, "type": "SCALAR"},
        ],
    }  # fmt: skip
    if "image" in addresses:
        material["pbrMetallicRoughness"] = {"baseColorTexture": {"index": 0}}
        document |= {"textures": [{"source": 0}], "images": [{"uri": addresses["image"]}]}
    return document


# ---------------------------------------------------------------------- libraries


@pytest.fixture(params=["outside", "inside"])
def linking(request: pytest.FixtureRequest, place: Path, stage: Stage) -> Path:
    """A .blend file whose object lies in another file, which is outside the roots or inside them."""
    library = (place if request.param == "outside" else place / "inside") / "library.blend"
    secret = _data.objects.new("Secret", _data.meshes.new("Secret"))
    _data.libraries.write(str(library), {secret}, fake_user=True)
    stage.state.reset()
    with _data.libraries.load(str(library), link=True) as (source, target):
        target.objects = source.objects
    scene: Any = bpy.context.scene
    scene.collection.objects.link(target.objects[0])
    mine = _data.objects.new("Mine", None)
    mine.parent = target.objects[0]
    scene.collection.objects.link(mine)
    file = place / "inside" / f"linking-{request.param}.blend"
    _ops.wm.save_as_mainfile(filepath=str(file), check_existing=False)
    stage.state.open(file)
    assert _data.objects["Secret"].data is not None, "it is found where nothing keeps Blender from reading"
    return file


@pytest.mark.parametrize("append", [None, [{"kind": "objects", "name": "Mine"}]], ids=["all", "one"])
def test_a_blend_file_that_links_another_is_refused(engine: Engine, linking: Path, append: Any) -> None:
    before = engine.scene.hash
    outcome = engine.call("file.import", {"path": str(linking), "append": append, "on_collision": "rename"})
    assert not outcome.ok and "from another file" in outcome.message, outcome.message
    assert engine.scene.hash == before == engine.full_hash()


def test_a_library_of_an_adopted_file_is_recorded_and_never_opened(
    engine: Engine, linking: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine.scene, "externals", Externals(FileRoots({str(linking.parent): Verdict.ALLOW})))
    before = engine.head().number
    history = engine.scene.history()
    commit = history.adopt(linking)
    assert commit is not None
    (external,) = commit.receipt["externals"]
    assert external["state"] == ("outside_roots" if "outside" in linking.name else "present")
    assert not engine.scene.externals.readable(engine.journal)
    # What it held is not in the scene: a name is all that there is of it.
    found = engine.do("scene.find", {"name": "Secret"})
    assert "mesh" not in json.dumps(found.result).lower(), found.result
    assert engine.full_hash() == commit.hash_after
    history.checkout(before)
