"""Masks as run lengths: COCO's text of them, and the picture of one."""

from __future__ import annotations

import io

from PIL import Image

from blendwright.tools.render.annotation_document import Mask

# COCO writes numbers in groups of five bits, the lowest first, as characters from "0" on; a sixth bit says that more follow.
BITS, MORE, FIRST = 5, 32, 48


def coco_counts(counts: list[int]) -> str:
    """The text of run lengths; from the fourth on, each is told as its difference from the one before the last."""
    text = bytearray()
    for place, count in enumerate(counts):
        if place > 2:
            value = count - counts[place - 2]
        else:
            value = count
        while True:
            group = value & (MORE - 1)
            value >>= BITS
            # The last group has the sign in its highest bit.
            done = value == (-1 if group & (MORE >> 1) else 0)
            text.append(FIRST + (group if done else group | MORE))
            if done:
                break
    return text.decode("ascii")


def mask_png(mask: Mask | None, width: int, height: int) -> bytes:
    """White where the mask is, as PNG; all black for none."""
    columns = bytearray()
    for place, count in enumerate(mask.counts if mask is not None else [width * height]):
        columns += (b"\xff" if place % 2 else b"\0") * count
    picture = Image.frombytes("L", (height, width), bytes(columns)).transpose(Image.Transpose.TRANSPOSE)
    written = io.BytesIO()
    picture.save(written, "PNG")
    return written.getvalue()
