"""Folders of assets: found by words, added with their licence, kept over closing and opening; and nothing from anywhere else."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from PIL import Image

import blendwright
from blendwright.assets.index import AssetLibraries
from blendwright.assets.search import search
from blendwright.assets.supply import LibrarySupply
from blendwright.engine.files.access import FileAccess
from blendwright.plan.validate import validate_arguments
from blendwright.policy.policy import AssetSettings, Policy, Verdict
from blendwright.tools.catalog import tools
from blendwright.values.errors import Refusal
from blendwright.workspace.policy_files import load_policy
from support.processes.shell import Shell

if TYPE_CHECKING:
    from collections.abc import Iterator

    from blendwright import OpenScene

CATALOG = "11111111-2222-3333-4444-555555555555"


def write_chair(*files: tuple[Path, bool]) -> None:
    """What only Blender can make: a file with an object that is marked as an asset, compressed or not."""
    import bpy

    mesh: Any = bpy.data.meshes.new("Oak chair")
    mesh.from_pydata([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [], [(0, 1, 2)])
    chair: Any = bpy.data.objects.new("Oak chair", mesh)
    chair.asset_mark()
    about = chair.asset_data
    about.author, about.description, about.license, about.copyright = "Jo", "A chair of oak", "CC0", "none"
    about.tags.new("wood")
    about.catalog_id = CATALOG
    chair.preview_ensure()
    chair.preview.image_size = (8, 4)
    chair.preview.image_pixels_float = [1, 0, 0, 1] * 8 + [0, 0, 1, 1] * 24
    for file, compress in files:
        bpy.data.libraries.write(str(file), {chair}, compress=compress)
    data: Any = bpy.data
    data.objects.remove(chair)
    data.meshes.remove(mesh)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A marked chair in a .blend file and in a compressed one, a crate as .glb and as .gltf, and a folder of PBR pictures."""
    place = tmp_path_factory.mktemp("library")
    (place / "wood").mkdir()
    with blendwright.open(place / ".made", roots=[place], spare=False) as scene:
        assert scene.call("mesh.create_primitive", kind="cube", name="Crate").ok
        assert scene.call("file.export", path=str(place / "crate.glb")).ok
    write_chair((place / "chairs.blend", False), (place / "packed.blend", True))
    for name, color in (("wood_basecolor.png", (120, 80, 40)), ("wood_roughness.png", (90, 90, 90))):
        Image.new("RGB", (16, 16), color).save(place / "wood" / name)
    told = {"license": "CC-BY 4.0", "author": "Ann", "tags": ["oak", "floor"], "source": "https://example.org/oak"}
    (place / "wood" / "asset.json").write_text(json.dumps(told))
    (place / "LICENSE.txt").write_text("\n  Public domain  \nmore\n")
    (place / "blender_assets.cats.txt").write_text(f"VERSION 1\n\n{CATALOG}:Furniture/Chairs:Chairs\n")
    (place / "broken.blend").write_bytes(b"BLENDER17-01v0502" + b"\xff" * 200)
    return place


@pytest.fixture
def scene(library: Path, tmp_path: Path) -> Iterator[OpenScene]:
    """The library lies outside of the roots."""
    with opened(tmp_path, library) as scene:
        yield scene


def opened(place: Path, library: Path) -> OpenScene:
    policy = Policy(assets=AssetSettings(directories={"props": str(library)}))
    return blendwright.open(place / "w", roots=[place], policy=policy, spare=False)


def found(scene: OpenScene, words: str = "", **args: Any) -> dict[str, Any]:
    answer = scene.call("asset.search", words=words, **args)
    assert answer.ok, answer.message
    return dict(answer.result or {})


def called(scene: OpenScene, tool: str, **args: Any) -> Any:
    answer = scene.call(tool, **args)
    assert answer.ok, answer.message
    return answer.result


def added(scene: OpenScene, **args: Any) -> dict[str, Any]:
    answer = scene.call("asset.add", **args)
    assert answer.ok, answer.message
    return dict(answer.result or {})


def test_assets_are_found_by_words_tags_kind_and_licence_with_a_sheet_of_their_pictures(
    scene: OpenScene, tmp_path: Path
) -> None:
    chairs = found(scene, "oak chair", license="cc0")
    assert [one["asset"] for one in chairs["assets"]] == ["props/chairs.blend", "props/packed.blend"]
    first = chairs["assets"][0]
    assert (first["kind"], first["name"], first["author"], first["license"]) == ("objects", "Oak chair", "Jo", "CC0")
    assert (first["catalog"], first["tags"], first["description"]) == ("Furniture/Chairs", ["wood"], "A chair of oak")
    with Image.open(tmp_path / "w" / "artifacts" / "assets.png") as sheet:
        # The picture is in a square of 128 behind the gap: red below, blue above.
        top, bottom = (sheet.convert("RGB").getpixel((8 + 64, 8 + at)) for at in (40, 90))
    assert top == (0, 0, 255) and bottom == (255, 0, 0)
    wood = found(scene, tags=["oak"])["assets"]
    assert [(one["asset"], one["kind"], one["license"]) for one in wood] == [("props/wood", "textures", "CC-BY 4.0")]
    (crate,) = found(scene, kind="model")["assets"]
    assert (crate["asset"], crate["license"]) == ("props/crate.glb", "Public domain")
    (broken,) = found(scene, kind="blend")["assets"]
    assert broken["asset"] == "props/broken.blend" and "This file cannot be read" in broken["description"]
    assert found(scene, "no such thing") == {"total": 0, "libraries": ["props"], "assets": [], "artifact": None}


def test_what_is_added_is_told_with_its_licence_in_the_receipt_and_is_there_after_opening_again(
    library: Path, tmp_path: Path
) -> None:
    with opened(tmp_path, library) as scene:
        chair = added(scene, asset="props/packed.blend", name="Oak chair", location=[1, 2, 3])
        assert (chair["objects"], chair["license"], chair["author"]) == (["Oak chair"], "CC0", "Jo")
        assert chair["asset"] == str(library / "packed.blend") and len(chair["sha256"]) == 64
        assert called(scene, "object.inspect", object="Oak chair")["location"] == [1, 2, 3]
        crate = added(scene, asset="props/crate.glb", scale=[2, 2, 2])
        assert (crate["objects"], crate["license"]) == (["Crate"], "Public domain")
        floor = added(scene, asset="props/wood", name="Floor", assign_to=["Crate"])
        assert (floor["materials"], floor["license"], floor["source"]) == (
            ["Floor"],
            "CC-BY 4.0",
            "https://example.org/oak",
        )
        before = scene.hash
        receipt = scene.journal.log(limit=1)[0].receipt
        assert receipt["result"]["license"] == "CC-BY 4.0" and receipt["result"]["source"] == "https://example.org/oak"
    with opened(tmp_path, library) as scene:
        assert scene.hash == before
        (slot,) = called(scene, "object.inspect", object="Crate")["materials"]
        assert "Floor" in str(slot)
        scene.history.undo(3)
        assert called(scene, "scene.snapshot")["objects"]["total"] == 0


def test_instances_share_what_they_show_and_taken_names_are_refused(scene: OpenScene) -> None:
    first = added(scene, asset="props/crate.glb", mode="instance", location=[0, 0, 0])
    again = scene.call("asset.add", asset="props/crate.glb", mode="instance")
    assert not again.ok and again.details["findings"][0]["pointer"] == "/asset"
    second = added(scene, asset="props/crate.glb", mode="instance", location=[4, 0, 0], on_collision="rename")
    assert not first["reused"] and second["reused"] and second["counts"] == {"objects": 1}
    assert called(scene, "scene.snapshot")["indices"] is not None
    chairs = {"asset": "props/chairs.blend", "name": "Oak chair", "mode": "instance", "on_collision": "rename"}
    told = [added(scene, **chairs) for _ in range(2)]
    assert [(one["reused"], one["license"], one["author"]) for one in told] == [
        (False, "CC0", "Jo"),
        (True, "CC0", "Jo"),
    ]
    added(scene, asset="props/chairs.blend", name="Oak chair", on_collision="rename")
    taken = scene.call("asset.add", asset="props/chairs.blend", name="Oak chair")
    assert not taken.ok and "Oak chair" in taken.message


def findings(scene: OpenScene, **args: Any) -> list[tuple[str, str]]:
    before = scene.hash
    answer = scene.call("asset.add", **args)
    assert not answer.ok and scene.hash == before
    assert all(one["cure"] for one in answer.details["findings"])
    return [(one["code"], one["pointer"]) for one in answer.details["findings"]]


def test_what_is_no_asset_or_lies_elsewhere_is_refused(scene: OpenScene, library: Path, tmp_path: Path) -> None:
    outside = tmp_path.parent / f"{tmp_path.name}-outside.glb"
    outside.write_bytes(b"glTF")
    link = library / "link.glb"
    link.symlink_to(outside)
    try:
        for asset in (str(outside), f"props/../{outside.name}", "props/link.glb", "/etc", "props/../../etc/passwd"):
            assert findings(scene, asset=asset)[0][0] in ("POLICY_BLOCKED", "TARGET_NOT_FOUND"), asset
        assert "link" not in {Path(one["asset"]).stem for one in found(scene, limit=50)["assets"]}
    finally:
        link.unlink()
        outside.unlink()
    assert findings(scene, asset="props/nobody.glb") == [("TARGET_NOT_FOUND", "/asset")]
    assert findings(scene, asset="props/LICENSE.txt") == [("ARGS_INVALID", "/asset")]
    assert findings(scene, asset="props/chairs.blend", name="Oak chaair") == [("TARGET_NOT_FOUND", "/name")]
    assert findings(scene, asset="props/broken.blend", name="A")[0][1] == "/asset"
    assert findings(scene, asset="props/crate.glb", assign_to=["Nobody"])[0][1] == "/assign_to/0"
    assert findings(scene, asset="props/wood", location=[0, 0, 0]) == [("ARGS_INVALID", "/location")]
    written = scene.call("file.export", path=str(library / "mine.glb"))
    assert not written.ok and not (library / "mine.glb").exists(), "a library is read only"


def test_a_gltf_file_brings_what_lies_beside_it_and_nothing_that_does_not(scene: OpenScene, library: Path) -> None:
    folder = library / "loose"
    (folder / "parts").mkdir(parents=True)
    try:
        (folder / "parts" / "tri.bin").write_bytes(bytes(36))
        document: dict[str, Any] = {
            "asset": {"version": "2.0"}, "scenes": [{"nodes": [0]}], "nodes": [{"mesh": 0, "name": "Tri"}],
            "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}],
            "accessors": [{"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3", "min": [0, 0, 0], "max": [0, 0, 0]}],
            "bufferViews": [{"buffer": 0, "byteLength": 36}], "buffers": [{"uri": "parts/tri.bin", "byteLength": 36}],
        }  # fmt: skip
        (folder / "tri.gltf").write_text(json.dumps(document))
        assert added(scene, asset="props/loose/tri.gltf")["objects"] == ["Tri"]
        for uri in ("../crate.glb", "/etc/passwd", "%2e%2e/crate.glb", "file:///etc/passwd", "..\\crate.glb"):
            document["buffers"][0]["uri"] = uri
            (folder / "tri.gltf").write_text(json.dumps(document))
            assert findings(scene, asset="props/loose/tri.gltf", on_collision="rename") == [
                ("POLICY_BLOCKED", "/asset")
            ], uri
    finally:
        for file in (folder / "parts" / "tri.bin", folder / "tri.gltf"):
            file.unlink()
        (folder / "parts").rmdir()
        folder.rmdir()


def test_the_index_is_kept_and_follows_what_changes(
    library: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "lib"
    (place / "wood").mkdir(parents=True)
    for name in ("wood_basecolor.png", "wood_roughness.png"):
        os.link(library / "wood" / name, place / "wood" / name)
    libraries = AssetLibraries({"lib": place}, tmp_path / "cache")
    (first,) = libraries.entries()
    assert libraries.preview(first) and first.license == ""

    def look(*_: object) -> None:
        raise AssertionError("what is known is not looked into again")

    monkeypatch.setattr("blendwright.assets.index.read_origin", look)
    assert libraries.entries() == [first]
    monkeypatch.undo()
    (place / "wood" / "LICENSE").write_text("CC0 1.0")
    (second,) = libraries.entries()
    assert second.license == "CC0 1.0"
    for file in (tmp_path / "cache").glob("*.json"):
        file.write_text("{broken")
    assert libraries.entries() == [second]
    assert [entry.asset for entry in search(libraries.entries(), "WOODS")] == ["lib/wood"]


def test_a_workspace_names_folders_but_no_catalogue(tmp_path: Path) -> None:
    (tmp_path / "blendwright.toml").write_text('[assets.directories]\nprops = "/srv/props"\n')
    assert load_policy(tmp_path).policy.assets.directories == {"props": "/srv/props"}
    (tmp_path / "blendwright.toml").write_text('[assets.online]\nurl = "https://example.org/assets.json"\n')
    with pytest.raises(Refusal, match="user's own file"):
        load_policy(tmp_path)
    with blendwright.open(tmp_path / "w", roots=[tmp_path], spare=False) as scene:
        answer = scene.call("asset.search", words="chair")
        assert not answer.ok and "assets.directories" in answer.details["findings"][0]["cure"]


def test_the_command_line_lists_assets_without_a_blender(
    library: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("blendwright.bridge.spawn.start_process", None)
    (tmp_path / "w").mkdir()
    (tmp_path / "w" / "blendwright.toml").write_text(f'[assets.directories]\nprops = "{library}"\n')
    shell = Shell(tmp_path)
    listed = shell("assets", "oak", "chair", "--license", "cc0", "--workspace", "w", "--json", code=0).document
    assert {one["asset"] for one in listed["assets"]} == {"props/chairs.blend", "props/packed.blend"}
    assert "Oak chair" in shell("assets", "--tag", "wood", "--workspace", "w", code=0).out
    assert "assets.directories" in shell("assets", "--workspace", "none", "--json", code=3).document["error"]["cure"]


@pytest.mark.parametrize(
    ("tool", "argument", "name"),
    [
        ("render.animation", "frames_path", "loop_####.png"),
        ("render.animation", "path", "loop.mp4"),
        ("render.still", "path", "a.png"),
    ],
)
def test_nothing_is_written_to_a_folder_of_assets(tmp_path: Path, tool: str, argument: str, name: str) -> None:
    library, root = tmp_path / "props", tmp_path / "root"
    library.mkdir()
    root.mkdir()
    supply = LibrarySupply(AssetLibraries({"props": library}, None))
    files = FileAccess({str(root): Verdict.ALLOW}, tmp_path / "artifacts", assets=supply)
    for place, wrong in ((library, ["POLICY_BLOCKED"]), (root, [])):
        args, findings, _ = validate_arguments(tools()[tool], {argument: str(place / name)})
        assert not findings
        assert [finding.fault for finding in files.path_findings(tools()[tool], args)] == wrong


def test_an_asset_that_is_linked_stays_in_its_file_outside_of_the_roots(library: Path, tmp_path: Path) -> None:
    chairs = {"asset": "props/chairs.blend", "name": "Oak chair", "mode": "link"}
    with opened(tmp_path, library) as scene:
        first = added(scene, **chairs, location=[1, 2, 3])
        assert (first["objects"], first["license"], first["author"]) == (["Oak chair"], "CC0", "Jo")
        assert first["library"] == str(library / "chairs.blend") and first["counts"]["meshes"] == 1
        assert called(scene, "object.inspect", object="Oak chair")["location"] == [1, 2, 3]
        assert findings(scene, **chairs) == [("SCENE_CONFLICT", "/asset")]
        second = added(scene, **chairs, on_collision="rename")
        assert second["reused"] and second["counts"] == {"objects": 1}
        before = scene.hash
        receipt = scene.journal.log(limit=1)[0].receipt
        assert receipt["result"]["license"] == "CC0"
        (external,) = receipt["externals"]
        assert (external["path"], external["state"], external["followed"]) == (first["library"], "present", True)
        assert findings(scene, asset="props/crate.glb", mode="link") == [("ARGS_INVALID", "/mode")]
    with opened(tmp_path, library) as scene:
        assert scene.hash == before
        assert called(scene, "scene.snapshot")["objects"]["total"] == 2
        called(scene, "file.make_local", library=first["library"], on_collision="rename")
        assert scene.hash != before
        scene.history.undo(3)
        assert called(scene, "scene.snapshot")["objects"]["total"] == 0
