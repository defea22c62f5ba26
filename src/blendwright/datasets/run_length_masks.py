"""Run-length masks as COCO's compressed text and as pictures."""

from __future__ import annotations

import io

from PIL import Image

from blendwright.tools.render.annotation_document import Mask

# COCO writes a number in groups of five bits, lowest first. Each group is a character from "0" on; a sixth bit marks that more follow.
GROUP_BITS, MORE, FIRST_CHARACTER = 5, 32, 48


def coco_counts(counts: list[int]) -> str:
    """Return run lengths in COCO's text format. From the fourth on, it contains the difference to the run length two positions before."""
    text = bytearray()
    for index, count in enumerate(counts):
        value = count
        if index > 2:
            value -= counts[index - 2]
        _append_number(text, value)
    return text.decode("ascii")


def _append_number(text: bytearray, value: int) -> None:
    while True:
        group = value & (MORE - 1)
        value >>= GROUP_BITS
        # The highest bit of the last group is the sign.
        is_negative = bool(group & (MORE >> 1))
        if value == -is_negative:
            text.append(FIRST_CHARACTER + group)
            return
        text.append(FIRST_CHARACTER + (group | MORE))


def mask_png(mask: Mask | None, width: int, height: int) -> bytes:
    """Return a PNG that is white inside the mask and black outside. It is all black for None."""
    counts = [width * height]
    if mask is not None:
        counts = mask.counts
    columns = bytearray()
    value = b"\0"
    for count in counts:
        columns += value * count
        value = b"\xff" if value == b"\0" else b"\0"
    picture = Image.frombytes("L", (height, width), bytes(columns)).transpose(Image.Transpose.TRANSPOSE)
    output = io.BytesIO()
    picture.save(output, "PNG")
    return output.getvalue()
