"""A scene in which every property that RNA calls a path has the same path, and the hashes that it has wherever its file lies.

`python path_scene.py DIRECTORY` prints them for the Blender of that Python, as JSON.
"""

from __future__ import annotations

import json
import shutil
import struct
import sys
import wave
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import bpy
import scene_parts as parts

from blendwright.blender.fingerprint import Fingerprint, all_blocks
from blendwright.blender.fingerprint.type_layouts import bases, reasons_to_leave_out

PATHS = ("//../../above/x", "//../x", "//below/x", "/elsewhere/x", "x")
SUBTYPES = {"FILE_PATH", "DIR_PATH", "FILE_NAME"}
# The directories that the file lies in, one after another: they have other names and other depths.
PLACES = ("first", "second/deeper/deepest", "third/deeper")
MOST_ITEMS = 1000


def build(place: Path) -> None:
    """Make a scene of nearly everything, with packed and unpacked files."""
    parts.empty_scene()
    parts.zoo()
    for name, is_packed in (("packed", True), ("unpacked", False)):
        image = parts.data.images.new(name, 4, 4)
        image.filepath_raw, image.file_format = str(place / f"{name}.png"), "PNG"
        image.save()
        image.source = "FILE"
        sound_file = place / f"{name}.wav"
        _write_sound(sound_file)
        sound = parts.data.sounds.load(str(sound_file))
        font = parts.data.fonts.load(str(_font_file()))
        volume = parts.data.volumes.new(name)
        blocks = (image, sound, font, volume, parts.data.texts.new(name))
        for block in blocks:
            block.use_fake_user = True
        if is_packed:
            for block in (image, sound, font):
                block.pack()
    clip = parts.data.movieclips.load(str(place / "unpacked.png"))
    clip.use_fake_user = True
    clip.use_proxy = clip.use_proxy_custom_directory = True
    _add_strips(place)
    _add_simulations()
    if hasattr(parts.types, "CollectionExport"):
        with parts.context.temp_override(collection=parts.data.collections["Outer"]):
            parts.ops.collection.exporter_add(name="IO_FH_obj")


def _add_strips(place: Path) -> None:
    editor = parts.context.scene.sequence_editor_create()
    strips = editor.strips if hasattr(editor, "strips") else editor.sequences
    strip = strips.new_image("Picture", str(place / "unpacked.png"), 1, 1)
    strip.use_proxy = True
    strip.proxy.use_proxy_custom_directory = strip.proxy.use_proxy_custom_file = True
    strips.new_sound("Sound", str(place / "unpacked.wav"), 2, 1)


def _add_simulations() -> None:
    box = parts.cube("Simulated")
    for kind in ("FLUID", "DYNAMIC_PAINT"):
        box.modifiers.new(kind, kind).show_viewport = False  # Blender 5.2 aborts when it simulates a fluid while saving
    box.modifiers["FLUID"].fluid_type = "DOMAIN"
    box.modifiers.active = box.modifiers["DYNAMIC_PAINT"]
    with parts.context.temp_override(object=box):
        parts.context.view_layer.objects.active = box
        parts.ops.dpaint.type_toggle(type="CANVAS")


def _write_sound(path: Path) -> None:
    with wave.open(str(path), "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(8000)
        sound.writeframes(struct.pack("<4h", 0, 1, 2, 3))


def _font_file() -> Path:
    """The font that comes with Blender."""
    return next(Path(bpy.utils.system_resource("DATAFILES"), "fonts").glob("*.woff2"))


def set_paths(path: str) -> set[tuple[str, str]]:
    """Write a path to every property of the scene that RNA calls one. Returns the properties that took it."""
    written: set[tuple[str, str]] = set()
    for _, block in list(all_blocks()):
        for owner, name in list(_path_properties(block, set())):
            try:
                setattr(owner, name, path)
            except (AttributeError, TypeError, RuntimeError):
                continue  # it is read-only, as in what is linked
            written.add((owner.bl_rna.identifier, name))
    return written


def _path_properties(owner: Any, visited: set[tuple[int, str]]) -> Iterator[tuple[Any, str]]:
    rna = owner.bl_rna
    identity = (owner.as_pointer(), rna.identifier)
    if identity in visited:
        return
    visited.add(identity)
    reasons = reasons_to_leave_out(rna)
    for prop in rna.properties:
        name: str = prop.identifier
        if prop.type == "STRING" and prop.subtype in SUBTYPES and not prop.is_readonly:
            yield owner, name
        elif name in reasons and "reader" not in reasons[name]:
            continue
        elif prop.type == "POINTER":
            value = getattr(owner, name)
            is_block = value is not None and bases(value.bl_rna)[-1] == "ID"
            if value is not None and (value.is_embedded_data if is_block else value.id_data == owner.id_data):
                yield from _path_properties(value, visited)
        elif prop.type == "COLLECTION" and bases(prop.fixed_type)[-1] != "ID":
            for item in getattr(owner, name)[:MOST_ITEMS]:
                if item is not None:
                    yield from _path_properties(item, visited)


def hashes_by_place(root: Path) -> list[str]:
    """Save the scene, and return the hash that it has in each place, where it is opened, saved to the next one and opened there."""
    file = root / PLACES[0] / "scene.blend"
    file.parent.mkdir(parents=True, exist_ok=True)
    _save(file)
    hashes: list[str] = []
    for place in PLACES:
        copy = root / place / "scene.blend"
        copy.parent.mkdir(parents=True, exist_ok=True)
        if copy != file:
            shutil.copy(file, copy)
        parts.ops.wm.open_mainfile(filepath=str(copy), load_ui=False, use_scripts=False)
        hashes.append(Fingerprint(parts.hashes()).root())
        file = copy.with_name("saved.blend")
        _save(file)
    return hashes


def _save(file: Path) -> None:
    """As a worker saves."""
    parts.ops.wm.save_as_mainfile(
        filepath=str(file), copy=True, compress=False, check_existing=False, relative_remap=False
    )


def measure(root: Path) -> tuple[set[tuple[str, str]], dict[str, list[str]]]:
    """Return the properties that were written, and for every path the hashes of the scene."""
    written: set[tuple[str, str]] = set()
    hashes: dict[str, list[str]] = {}
    for path in PATHS:
        build(root)
        written |= set_paths(path)
        hashes[path] = hashes_by_place(root)
    parts.empty_scene()
    return written, hashes


if __name__ == "__main__":
    properties, found = measure(Path(sys.argv[1]))
    Path(sys.argv[1], "measured.json").write_text(json.dumps([sorted(properties), found]))
