"""Files in folders of assets that were made to harm: each costs its own entry or a refusal, and neither memory nor time."""

from __future__ import annotations

import json
import os
import random
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
import zstandard
from PIL import EpsImagePlugin, Image

from assets.test_assets import write_chair
from blendwright.assets.index import AssetLibraries
from blendwright.assets.supply import LibrarySupply
from blendwright.blendfile import assets as blend_assets
from blendwright.blendfile.assets import read_assets
from blendwright.blendfile.file_format import HEAD


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("props")
    write_chair((place / "chairs.blend", False))
    return place


def index(place: Path, cache: Path) -> dict[str, str]:
    """The assets of a folder, each with the name of its picture."""
    return {entry.asset: entry.preview for entry in AssetLibraries({"props": place}, cache).entries()}


def test_a_blend_file_that_was_tampered_with_is_read_or_refused(library: Path, tmp_path: Path) -> None:
    """One file that cannot be read must not hide all the others."""
    whole = (library / "chairs.blend").read_bytes()
    variants = [whole.replace(b"DNA1", b"DNA0"), whole.replace(b"ENDB", b"DATA"), whole[:100], whole[: len(whole) // 2]]
    chance = random.Random(0)
    for _ in range(40):
        changed = bytearray(whole)
        for _ in range(chance.choice((1, 3, 30, 1000))):
            changed[chance.randrange(len(changed))] = chance.choice((0, 255, chance.randrange(256)))
        variants.append(bytes(changed))
    refused = 0
    for variant in variants:
        (tmp_path / "chair.blend").write_bytes(variant)
        try:
            read_assets(tmp_path / "chair.blend")
        except ValueError:
            refused += 1
    assert 4 <= refused < len(variants)


def with_blocks(whole: bytes, code: bytes, many: int, content: bytes = b"") -> bytes:
    """A .blend file of Blender 5 with more blocks, behind that of the first object."""
    start = whole.index(b"OB\0\0")
    start += HEAD.size + HEAD.unpack_from(whole, start)[3]
    return whole[:start] + (HEAD.pack(code, 0, 1, len(content), 1) + content) * many + whole[start:]


def test_a_small_file_with_much_in_it_takes_neither_memory_nor_time(
    library: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, bomb = (library / "chairs.blend").read_bytes(), tmp_path / "bomb.blend"
    if not whole[7:9].isdigit():
        pytest.skip("blocks have other heads before Blender 5.0")
    bomb.write_bytes(zstandard.compress(with_blocks(whole, b"DATA", 30, bytes(2 << 20))))
    tracemalloc.start()
    try:
        assert [each.name for each in read_assets(bomb)] == ["Oak chair"]
        assert tracemalloc.get_traced_memory()[1] < 24 << 20
    finally:
        tracemalloc.stop()
    monkeypatch.setattr(blend_assets, "MOST_BLOCKS", 5000)
    bomb.write_bytes(zstandard.compress(with_blocks(whole, b"DATA", 6000)))
    with pytest.raises(ValueError, match="more than 5000 blocks"):
        read_assets(bomb)


def test_the_picture_of_an_asset_is_small_and_no_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pillow has PostScript read by another program, and the core is not confined."""
    started: list[Any] = []

    def start(*args: Any) -> None:
        started.append(args)

    monkeypatch.setattr(EpsImagePlugin, "Ghostscript", start)
    place = tmp_path / "library"
    place.mkdir()
    for name in ("good", "program", "bomb"):
        (place / f"{name}.glb").write_bytes(b"glTF")
    Image.new("RGB", (300, 200)).save(place / "good.png")
    (place / "program.png").write_bytes(
        b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 8 8\n%%EndComments\n(x) print\n%%EOF\n"
    )
    Image.new("1", (20_000, 8_000)).save(place / "bomb.png")
    pictures = index(place, tmp_path / "cache")
    assert [name for name, picture in pictures.items() if picture] == ["props/good.glb"]
    assert len(pictures) == 3 and not started


def test_a_name_that_is_no_text_hides_nothing(tmp_path: Path) -> None:
    place = tmp_path / "library"
    place.mkdir()
    for name in (b"good.glb", b"\xff.glb"):
        (place / os.fsdecode(name)).write_bytes(b"glTF")
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    supply = LibrarySupply(AssetLibraries({"props": place}, tmp_path / "cache"))
    told = json.loads(Path(supply.supply("search", "words", {"words": "", "limit": 9}, scratch)).read_bytes())
    assert [each["asset"] for each in told["found"]] == ["props/good.glb"]
