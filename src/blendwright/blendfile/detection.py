"""Recognition of .blend files by their content, compressed or not, whatever their name is."""

import re
import zlib
from typing import BinaryIO

MAGIC = b"BLENDER"
GZIP_MAGIC = b"\x1f\x8b"
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
# A file in the zstd format may begin with a frame that decoders skip. The low four bits of its first byte are free.
ZSTD_SKIPPABLE = re.compile(rb"[\x50-\x5f]\x2a\x4d\x18")
BLEND_NAME = re.compile(r"\.blend\d*$", re.IGNORECASE)
GZIP_HEAD_BYTES = 1 << 16
# zlib reads a gzip header with this window size.
GZIP_WINDOW = 31


def may_be_blend(opened: BinaryIO, name: str) -> bool:
    """Return whether Blender could open a file as a .blend file. In doubt, return True.

    The function reads the file from its beginning and leaves its position changed.
    """
    if BLEND_NAME.search(name):
        return True
    opened.seek(0)
    head = opened.read(GZIP_HEAD_BYTES)
    if head.startswith((MAGIC, ZSTD_MAGIC)) or ZSTD_SKIPPABLE.match(head):
        return True
    return head.startswith(GZIP_MAGIC) and _gzip_may_hold_blend(head)


def _gzip_may_hold_blend(head: bytes) -> bool:
    try:
        content = zlib.decompressobj(GZIP_WINDOW).decompress(head, len(MAGIC))
    except zlib.error:
        return True
    # An empty beginning proves nothing: the content may follow in a second part, or after a long header.
    return MAGIC.startswith(content)
