"""Files to import, of every format, with what formats hold besides shapes: textures of every sort, materials, animation, armatures."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bpy

_data: Any = bpy.data
_ops: Any = bpy.ops

TEXTURES = ("relative", "absolute", "missing", "packed", "sequence", "windows")
TRIANGLE = "mtllib {name}.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 0 1\nusemtl M\nf 1/1 2/2 3/3\n"


def write_samples(place: Path) -> dict[str, Path]:
    """By name: the file to import. The scene of the caller's process is used up."""
    pictures = _write_pictures(place)
    samples = {f"obj {name}": _obj(place, name, path) for name, path in _texts_for(pictures).items()}
    samples |= {f"gltf {name}": _gltf(place, name, path) for name, path in _texts_for(pictures).items()}
    for name in TEXTURES:
        _village(pictures, name)
        for kind, write in WRITERS.items():
            file = place / f"village-{name}-{kind.replace(' ', '-')}.{kind.split()[0]}"
            write(file)
            samples[f"{kind} {name}"] = file
    for kind, write in SHAPES_ONLY.items():
        write(place / f"shapes.{kind}")
        samples[kind] = place / f"shapes.{kind}"
    _ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    return samples


def _write_pictures(place: Path) -> dict[str, Path]:
    """Pictures beside the files, far from them, and a sequence of them."""
    (place / "tex").mkdir(parents=True)
    (place.parent / "far").mkdir()
    paths = {"relative": place / "tex" / "c.png", "absolute": place.parent / "far" / "a.png"}
    paths |= {"packed": place / "tex" / "p.png", "sequence": place / "tex" / "s_0001.png"}
    for path in (*paths.values(), place / "tex" / "s_0002.png"):
        picture = _data.images.new("made", 4, 4)
        picture.filepath_raw, picture.file_format = str(path), "PNG"
        picture.save()
        _data.images.remove(picture)
    return paths | {"missing": place / "tex" / "none.png", "windows": Path("C:\\tex\\c.png")}


def _texts_for(pictures: dict[str, Path]) -> dict[str, str]:
    """How a file of text names its picture."""
    return {
        "beside": "tex/c.png",
        "dotted": "./tex/../tex/c.png",
        "above": "../far/a.png",
        "missing": "none.png",
        "absolute": str(pictures["absolute"]),
        "backslash": "tex\\c.png",
        "windows": "C:\\tex\\c.png",
        "file address": f"file://{pictures['absolute']}",
        "web address": "http://127.0.0.1:9/c.png",
        "far above": "../" * 40 + "etc/hostname",
    }


def _obj(place: Path, name: str, picture: str) -> Path:
    stem = "obj-" + name.replace(" ", "-")
    (place / f"{stem}.mtl").write_text(f"newmtl M\nKd 1 0 0\nmap_Kd {picture}\nmap_Bump -bm 0.5 {picture}\n")
    (place / f"{stem}.obj").write_text(TRIANGLE.format(name=stem))
    return place / f"{stem}.obj"


def _gltf(place: Path, name: str, picture: str) -> Path:
    """One triangle in a buffer that is part of the text, and a material with a picture that is not."""
    corners = "AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAgD8AAAAAAAABAAIAAAA="
    document: dict[str, Any] = {
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0, "name": "T"}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1, "material": 0}]}],
        "materials": [{"name": "M", "pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}}],
        "textures": [{"source": 0}],
        "images": [{"uri": picture}],
        "buffers": [{"uri": f"data:application/octet-stream;base64,{corners}", "byteLength": 44}],
        "bufferViews": [
            {"buffer": 0, "byteOffset": 0, "byteLength": 36},
            {"buffer": 0, "byteOffset": 36, "byteLength": 6},
        ],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3", "min": [0, 0, 0], "max": [1, 1, 0]},
            {"bufferView": 1, "componentType": 5123, "count": 3, "type": "SCALAR"},
        ],
    }
    file = place / f"gltf-{name.replace(' ', '-')}.gltf"
    file.write_text(json.dumps(document))
    return file


def _village(pictures: dict[str, Path], texture: str) -> None:
    """A figure with bones that move it, a box that moves, keys of a shape, a camera and a lamp, all with one sort of texture."""
    _ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    scene: Any = bpy.context.scene
    _ops.mesh.primitive_cube_add()
    box = bpy.context.object
    box.name = "Box"
    box.data.materials.append(_material(pictures, texture))
    box.keyframe_insert("location", frame=1)
    box.location.x = 3.0
    box.keyframe_insert("location", frame=10)
    box.shape_key_add(name="Basis")
    box.shape_key_add(name="Key").value = 0.5
    _ops.object.armature_add()
    bones = bpy.context.object
    bones.name = "Bones"
    _ops.mesh.primitive_cylinder_add()
    figure = bpy.context.object
    figure.name, figure.parent = "Figure", bones
    figure.vertex_groups.new(name="Bone").add(range(8), 1.0, "REPLACE")
    figure.modifiers.new("Armature", "ARMATURE").object = bones
    pose = bones.pose.bones[0]
    pose.rotation_mode = "XYZ"
    for frame, angle in ((1, 0.0), (10, 1.0)):
        pose.rotation_euler.x = angle
        pose.keyframe_insert("rotation_euler", frame=frame)
    for name, block in (("Eye", _data.cameras.new("Eye")), ("Lamp", _data.lights.new("Lamp", "POINT"))):
        scene.collection.objects.link(_data.objects.new(name, block))
    for obj in scene.objects:
        obj.select_set(True)


def _material(pictures: dict[str, Path], texture: str) -> Any:
    material = _data.materials.new("Paint")
    if material.node_tree is None:
        material.use_nodes = True  # up to 4.5; setting it warns in 5.0
    tree: Any = material.node_tree
    node = tree.nodes.new("ShaderNodeTexImage")
    if texture in ("missing", "windows"):
        node.image = _data.images.new("none.png", 1, 1)
        node.image.source, node.image.filepath = "FILE", str(pictures[texture])
    else:
        node.image = _data.images.load(str(pictures[texture]))
    if texture == "packed":
        node.image.pack()
    if texture == "sequence":
        node.image.source = "SEQUENCE"
        node.image_user.frame_duration = 2
    tree.links.new(node.outputs["Color"], tree.nodes["Principled BSDF"].inputs["Base Color"])
    return material


def _blend(file: Path, **options: Any) -> None:
    _ops.wm.save_as_mainfile(filepath=str(file), copy=True, check_existing=False, **options)


WRITERS: dict[str, Callable[[Path], object]] = {
    "obj": lambda file: _ops.wm.obj_export(filepath=str(file), path_mode="AUTO"),
    "glb": lambda file: _ops.export_scene.gltf(filepath=str(file), export_format="GLB"),
    "gltf": lambda file: _ops.export_scene.gltf(filepath=str(file), export_format="GLTF_SEPARATE"),
    "usd": lambda file: _ops.wm.usd_export(
        filepath=str(file), export_animation=True, export_armatures=True, export_textures_mode="KEEP"
    ),
    "usda": lambda file: _ops.wm.usd_export(filepath=str(file), export_textures_mode="NEW"),
    "usdz": lambda file: _ops.wm.usd_export(filepath=str(file)),
    "usdc": lambda file: _ops.wm.usd_export(
        filepath=str(file), export_animation=True, relative_paths=False, export_textures_mode="KEEP"
    ),
    "fbx": lambda file: _ops.export_scene.fbx(filepath=str(file), path_mode="RELATIVE"),
    "fbx embedded": lambda file: _ops.export_scene.fbx(filepath=str(file), path_mode="COPY", embed_textures=True),
    "blend": lambda file: _blend(file, relative_remap=True),
    "blend absolute": lambda file: _blend(file, relative_remap=False),
}
SHAPES_ONLY: dict[str, Callable[[Path], object]] = {
    "stl": lambda file: _ops.wm.stl_export(filepath=str(file)),
    "ply": lambda file: _ops.wm.ply_export(filepath=str(file)),
    "abc": lambda file: _ops.wm.alembic_export(filepath=str(file), end=12, as_background_job=False),
}
