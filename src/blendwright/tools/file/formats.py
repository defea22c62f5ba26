"""The file formats that can be imported and exported, and whether a file of one is whole."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from pydantic_core import PydanticCustomError

from blendwright.tool_api.tool import Findings
from blendwright.tools.checks import invalid

IMPORTS: Mapping[str, str] = {
    "glb": "gltf",
    "gltf": "gltf",
    "obj": "obj",
    "stl": "stl",
    "ply": "ply",
    "usd": "usd",
    "usda": "usd",
    "usdc": "usd",
    "usdz": "usd",
    "fbx": "fbx",
    "abc": "alembic",
    "blend": "blend",
}
# A .gltf consists of several files.
EXPORTS: Mapping[str, str] = {extension: form for extension, form in IMPORTS.items() if extension != "gltf"}

# Formats that know nothing but surfaces, and the types of objects that have one.
SURFACES_ONLY = frozenset({"obj", "stl", "ply"})
WITH_SURFACE = frozenset({"MESH", "CURVE", "SURFACE", "FONT", "META"})


def form_of(path: str) -> str:
    return IMPORTS[extension_of(path)]


def extension_of(path: str) -> str:
    return PurePosixPath(path).suffix.removeprefix(".").lower()


def known_extension(path: str, forms: Mapping[str, str]) -> str:
    """The path, when its extension is one of a known format."""
    if extension_of(path) not in forms:
        raise PydanticCustomError(
            "file_format",
            "the path ends in none of {known}",
            {"known": ", ".join(f".{name}" for name in sorted(forms))},
        )
    return path


STL_HEADER, STL_TRIANGLE = 84, 50
MOST_HEADER = 65536
SIZES = {
    "char": 1, "uchar": 1, "int8": 1, "uint8": 1, "short": 2, "ushort": 2, "int16": 2, "uint16": 2, "int": 4, "uint": 4,
    "int32": 4, "uint32": 4, "float": 4, "float32": 4, "double": 8, "float64": 8,
}  # fmt: skip


def truncation_problems(path: str, form: str) -> Findings:
    """A finding when a file is shorter than it says, or is not of its format."""
    if form == "stl":
        complete = _stl_is_complete(Path(path))
    elif form == "ply":
        complete = _ply_is_complete(Path(path))
    else:
        complete = True
    if not complete:
        cure = "Get the file again: a part of it is missing."
        yield invalid(f"the file is torn, or no {form.upper()} file", "/path", cure)


def _stl_is_complete(path: Path) -> bool:
    size = path.stat().st_size
    with path.open("rb") as file:
        head = file.read(STL_HEADER)
        if len(head) == STL_HEADER and size == STL_HEADER + STL_TRIANGLE * int.from_bytes(head[80:], "little"):
            return True
        file.seek(max(0, size - 1024))
        return head.lstrip().startswith(b"solid") and b"endsolid" in file.read()


def _ply_is_complete(path: Path) -> bool:
    with path.open("rb") as file:
        head, end, _ = file.read(MOST_HEADER).partition(b"end_header")
        if not end or not head.startswith(b"ply"):
            return False
        lines = head.decode("latin-1").splitlines()
        if "format ascii 1.0" in lines:
            file.seek(len(head) + len(end))
            rows = sum(chunk.count(b"\n") for chunk in iter(lambda: file.read(1 << 20), b""))
            # The first line break belongs to the header, and the last row may have none.
            return rows >= sum(count for count, _ in _elements(lines))
        needed = sum(count * size for count, size in _elements(lines))
        return path.stat().st_size >= len(head) + len(end) + 1 + needed


def _elements(lines: list[str]) -> list[tuple[int, int]]:
    """Of each element of a PLY header how many there are, and the least bytes that one takes."""
    elements: list[tuple[int, int]] = []
    for line in lines:
        words = line.split()
        if words[:1] == ["element"] and len(words) == 3 and words[2].isdigit():
            elements.append((int(words[2]), 0))
        elif words[:1] == ["property"] and len(words) >= 3 and elements:
            count, size = elements[-1]
            is_list = words[1] == "list"
            # A face has three corners at least.
            if is_list and len(words) > 3:
                more = SIZES.get(words[2], 1) + 3 * SIZES.get(words[3], 1)
            else:
                more = SIZES.get(words[1], 1)
            elements[-1] = (count, size + more)
    return elements
