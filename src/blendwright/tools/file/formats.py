"""File formats for import and export, and checks for incomplete files."""

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
# Without .gltf, which consists of several files.
EXPORTS: Mapping[str, str] = {extension: form for extension, form in IMPORTS.items() if extension != "gltf"}

# Formats that store only surfaces, and the types of objects with a surface.
SURFACES_ONLY = frozenset({"obj", "stl", "ply"})
WITH_SURFACE = frozenset({"MESH", "CURVE", "SURFACE", "FONT", "META"})


def form_of(path: str) -> str:
    """Return the format of a path with a known extension."""
    return IMPORTS[extension_of(path)]


def extension_of(path: str) -> str:
    """Return the path's extension in lower case, without the dot."""
    return PurePosixPath(path).suffix.removeprefix(".").lower()


def known_extension(path: str, forms: Mapping[str, str]) -> str:
    """Return the path unchanged. Raise PydanticCustomError if its extension is not in `forms`. For validators."""
    if extension_of(path) not in forms:
        raise PydanticCustomError(
            "file_format",
            "the path must end in one of {known}",
            {"known": ", ".join(f".{name}" for name in sorted(forms))},
        )
    return path


# Bytes of a binary STL file: its header with the number of triangles, and each triangle.
STL_HEADER_BYTES, STL_TRIANGLE_BYTES = 84, 50
# Largest PLY header in bytes.
MAX_PLY_HEADER_BYTES = 65536
# PLY type -> bytes of one value.
SIZES = {
    "char": 1, "uchar": 1, "int8": 1, "uint8": 1, "short": 2, "ushort": 2, "int16": 2, "uint16": 2, "int": 4, "uint": 4,
    "int32": 4, "uint32": 4, "float": 4, "float32": 4, "double": 8, "float64": 8,
}  # fmt: skip


def truncation_problems(path: str, form: str) -> Findings:
    """Yield a finding if a file is shorter than its header states, or if it is not of its format."""
    is_complete = True
    if form == "stl":
        is_complete = _stl_is_complete(Path(path))
    elif form == "ply":
        is_complete = _ply_is_complete(Path(path))
    if not is_complete:
        fix = "Get the file again: a part of it is missing."
        yield invalid(f"the file is incomplete, or not a {form.upper()} file", "/path", fix)


def _stl_is_complete(path: Path) -> bool:
    size = path.stat().st_size
    with path.open("rb") as file:
        head = file.read(STL_HEADER_BYTES)
        if len(head) == STL_HEADER_BYTES and size == STL_HEADER_BYTES + STL_TRIANGLE_BYTES * int.from_bytes(
            head[80:], "little"
        ):
            return True
        file.seek(max(0, size - 1024))
        return head.lstrip().startswith(b"solid") and b"endsolid" in file.read()


def _ply_is_complete(path: Path) -> bool:
    with path.open("rb") as file:
        head, end, _ = file.read(MAX_PLY_HEADER_BYTES).partition(b"end_header")
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
    """Return, for each element of a PLY header, its count and the minimum bytes of one item."""
    elements: list[tuple[int, int]] = []
    for line in lines:
        words = line.split()
        if words[:1] == ["element"] and len(words) == 3 and words[2].isdigit():
            elements.append((int(words[2]), 0))
        elif words[:1] == ["property"] and len(words) >= 3 and elements:
            count, size = elements[-1]
            is_list = words[1] == "list"
            # A face has at least three corners.
            if is_list and len(words) > 3:
                minimum = SIZES.get(words[2], 1) + 3 * SIZES.get(words[3], 1)
            else:
                minimum = SIZES.get(words[1], 1)
            elements[-1] = (count, size + minimum)
    return elements
