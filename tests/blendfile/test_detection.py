"""What could be opened as a .blend file is recognised by its content, and nothing else is taken for one."""

from __future__ import annotations

import gzip
import io

import pytest

from blendwright.blendfile.detection import may_be_blend

BLEND = b"BLENDER17-01v0502" + bytes(100)
ZSTD = b"\x28\xb5\x2f\xfd" + bytes(20)


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (BLEND, "a.png"),
        (gzip.compress(BLEND, mtime=0), "a.png"),
        (gzip.compress(b"", mtime=0) + gzip.compress(BLEND, mtime=0), "a.png"),
        (gzip.compress(BLEND[:3], mtime=0) + gzip.compress(BLEND[3:], mtime=0), "a.png"),
        (b"\x1f\x8b" + b"broken", "a.png"),
        (ZSTD, "a.png"),
        (b"\x5a\x2a\x4d\x18\x04\x00\x00\x00skip" + ZSTD, "a.png"),
        (b"anything", "a.blend"),
        (b"anything", "a.BLEND1"),
    ],
)
def test_a_file_that_could_be_a_blend_file_is_recognised(content: bytes, name: str) -> None:
    assert may_be_blend(io.BytesIO(content), name)


@pytest.mark.parametrize(
    "content",
    [b"", b"\x89PNG\r\n\x1a\n", b"glTF", b"PK\x03\x04", b"BLENDE", gzip.compress(b"name,size\na,1\n", mtime=0), b"{}"],
)
def test_other_files_are_not_taken_for_blend_files(content: bytes) -> None:
    assert not may_be_blend(io.BytesIO(content), "a.png")
