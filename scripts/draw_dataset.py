"""Draw a contact sheet of a COCO data set, opened with pycocotools: masks, boxes, names and keypoints over the pictures.

python scripts/draw_dataset.py DATASET SHEET.png [--columns 8] [--rows 6] [--width 160]
"""

from __future__ import annotations

import argparse
import colorsys
import contextlib
import io
from importlib import import_module
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw

COCO: Any = import_module("pycocotools.coco").COCO
GOLDEN = 0.6180339887
# So much of a colour lies over what is seen.
COVERAGE = 110


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("dataset", type=Path)
    parser.add_argument("sheet", type=Path)
    parser.add_argument("--columns", type=int, default=8)
    parser.add_argument("--rows", type=int, default=6)
    parser.add_argument("--width", type=int, default=160, help="of one picture")
    given = parser.parse_args()
    with contextlib.redirect_stdout(io.StringIO()):
        coco = COCO(str(given.dataset / "annotations" / "instances.json"))
    every = sorted(coco.imgs)
    count = min(given.columns * given.rows, len(every))
    chosen = [every[place * len(every) // count] for place in range(count)]
    pictures = [drawn(coco, given.dataset / "images", number) for number in chosen]
    height = given.width * pictures[0].height // pictures[0].width
    sheet = Image.new("RGB", (given.columns * given.width, -(-count // given.columns) * height))
    for place, picture in enumerate(pictures):
        at = (place % given.columns * given.width, place // given.columns * height)
        sheet.paste(picture.resize((given.width, height)), at)
    sheet.quantize(128).save(given.sheet, optimize=True)
    print(
        f"{len(every)} pictures, {len(coco.anns)} instances, {len(coco.cats)} categories; {count} drawn to {given.sheet}"
    )
    return 0


def drawn(coco: Any, images: Path, number: int) -> Image.Image:
    with Image.open(images / coco.imgs[number]["file_name"]) as opened:
        picture = opened.convert("RGB")
    marks = ImageDraw.Draw(picture)
    for annotation in coco.loadAnns(coco.getAnnIds(imgIds=number)):
        color = color_of(annotation["category_id"])
        mask = Image.fromarray(coco.annToMask(annotation) * COVERAGE, "L")
        picture.paste(color, (0, 0, *picture.size), mask)
        left, top, width, height = annotation["bbox"]
        marks.rectangle((left, top, left + width - 1, top + height - 1), outline=color)
        marks.text((left + 2, top), coco.cats[annotation["category_id"]]["name"], fill="white", font_size=9)
        points = annotation.get("keypoints", [])
        for x, y, seen in zip(points[0::3], points[1::3], points[2::3], strict=True):
            if seen:
                marks.ellipse((x - 2, y - 2, x + 2, y + 2), outline="white", fill=color if seen == 2 else None)
    return picture


def color_of(number: int) -> tuple[int, int, int]:
    red, green, blue = colorsys.hsv_to_rgb(number * GOLDEN % 1.0, 0.9, 1.0)
    return round(red * 255), round(green * 255), round(blue * 255)


if __name__ == "__main__":
    raise SystemExit(main())
