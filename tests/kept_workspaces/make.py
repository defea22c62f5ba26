"""Make the kept workspaces with the Blendwright of this interpreter, and pack each into an archive next to this file.

`python tests/kept_workspaces/make.py NAME…` makes the named ones, and without names all of them. `README.md` says which code made the
archives that are stored here. They are never made again: a change of a format adds new ones.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

ARCHIVES = Path(__file__).parent
# A neutral place, because workspaces remember absolute paths of imported files.
PLACE = Path("/tmp/bw")
SHELF = """boards = param("boards", 2, min = 1, max = 9)
oak = material.ensure_principled(name = "Oak", base_color = [0.4, 0.2, 0.1])
for i in range(boards):
    mesh.create_primitive(kind = "cube", name = "Board " + str(i), size = 0.5, location = [0, 0, i], material = oak)
"""
TRIANGLE = "o Triangle\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"
CODE = """import bpy
mesh = bpy.data.meshes.new("Tent")
mesh.from_pydata([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], [], [(0, 1, 2), (0, 1, 3), (1, 2, 3), (0, 2, 3)])
bpy.context.scene.collection.objects.link(bpy.data.objects.new("Tent", mesh))
print("a tent")
"""


def blendwright(place: Path, *arguments: str) -> None:
    """Run one command in the directory. Raise CalledProcessError if it fails."""
    subprocess.run([sys.executable, "-m", "blendwright", *arguments], cwd=place, check=True)


def call(place: Path, tool: str, *options: str, **args: Any) -> None:
    blendwright(place, "call", tool, "--args", json.dumps(args), *options)


def operation(id: str, tool: str, args: dict[str, Any], *after: str, level: str = "safe_write") -> dict[str, Any]:
    return {"operation_id": id, "tool_name": tool, "args": args, "depends_on": [*after], "safety_level": level}


def run_plan(place: Path, request: str, operations: list[dict[str, Any]], *options: str) -> None:
    """Write a plan of operations and run it."""
    (place / f"{request}.json").write_text(json.dumps({"request_id": request, "operations": operations}, indent=1))
    blendwright(place, "run", f"{request}.json", *options)


def plans(place: Path, *options: str) -> None:
    """Two plans of operations. The second one deletes an object, which was approved."""
    cube = operation("a", "mesh.create_primitive", {"kind": "cube", "name": "Crate"})
    lamp = operation("b", "light.create", {"name": "Lamp", "type": "POINT", "location": [0, 0, 3]}, "a")
    moved = operation("c", "object.transform", {"object": "Crate", "location": [1, 2, 3]}, "b")
    run_plan(place, "made", [cube, lamp, moved], *options)
    gone = operation("a", "object.delete", {"object": "Lamp"}, level="destructive")
    run_plan(place, "gone", [gone], "--approve", "destructive", *options)


def program(place: Path) -> None:
    """A program with a parameter, run again in place of the first run."""
    (place / "shelf.star").write_text(SHELF)
    blendwright(place, "run", "shelf.star", "--set", "boards=3")
    blendwright(place, "run", "shelf.star", "--set", "boards=5", "--instead")


def history(place: Path) -> None:
    """Undo, redo and checkout, two branches, and a merge of one into the other."""
    for name in ("A", "B"):
        call(place, "mesh.create_primitive", kind="cube", name=name)
    blendwright(place, "undo")
    blendwright(place, "redo")
    blendwright(place, "branch", "main-line")
    blendwright(place, "branch", "side")
    blendwright(place, "switch", "side")
    call(place, "object.create_empty", name="On the side")
    blendwright(place, "switch", "main-line")
    call(place, "object.transform", object="A", location=[0, 0, 2])
    blendwright(place, "merge", "side")
    blendwright(place, "checkout", "2")
    blendwright(place, "switch", "main-line")


def code(place: Path) -> None:
    """Safe Python and an imported file. Both leave a checkpoint."""
    (place / "triangle.obj").write_text(TRIANGLE)
    call(place, "python.run", code=CODE)
    call(place, "file.import", path=str(place / "triangle.obj"))
    call(place, "object.transform", object="Tent", location=[0, 0, 1])


def batch(place: Path) -> None:
    """A batch of two finished cases."""
    (place / "shelf.star").write_text(SHELF)
    (place / "rows.csv").write_text("boards\n1\n2\n")
    blendwright(
        place, "batch", "run", "shelf.star", "--params", "rows.csv", "--output", "glb", "--workers", "1", "--out", "out"
    )


def on_blender(version: str) -> Callable[[Path], None]:
    def make(place: Path) -> None:
        plans(place, "--blender", version)

    return make


MAKERS: dict[str, Callable[[Path], None]] = {
    "plans": plans,
    "program": program,
    "history": history,
    "code": code,
    "batch": batch,
    "blender-5.2": on_blender("5.2"),
    "blender-4.5": on_blender("4.5"),
}


def pack(place: Path) -> None:
    """Write the archive of one directory, without owners and times of this machine."""

    def neutral(member: tarfile.TarInfo) -> tarfile.TarInfo:
        member.uid = member.gid = 0
        member.uname = member.gname = ""
        member.mtime = 0
        return member

    with tarfile.open(ARCHIVES / f"{place.name}.tar.xz", "w:xz") as archive:
        archive.add(place, place.name, filter=neutral)


def main(names: list[str]) -> None:
    # Blender writes the path of its temporary home into the files that it saves.
    os.environ["XDG_CACHE_HOME"] = str(PLACE / "cache")
    for name in names or MAKERS:
        place = PLACE / name
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        MAKERS[name](place)
        pack(place)


if __name__ == "__main__":
    main(sys.argv[1:])
