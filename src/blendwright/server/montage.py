"""Several pictures of one size side by side in one."""

from __future__ import annotations

import io
import math
from collections.abc import Sequence

from PIL import Image


def montage(pictures: Sequence[bytes]) -> bytes:
    """PNG files as one, row by row, as near to a square as may be; what is left over stays dark."""
    read = [Image.open(io.BytesIO(picture)).convert("RGB") for picture in pictures]
    width, height = read[0].size
    columns = math.ceil(math.sqrt(len(read)))
    whole = Image.new("RGB", (width * columns, height * math.ceil(len(read) / columns)))
    for number, picture in enumerate(read):
        whole.paste(picture, (number % columns * width, number // columns * height))
    written = io.BytesIO()
    whole.save(written, "PNG")
    return written.getvalue()
