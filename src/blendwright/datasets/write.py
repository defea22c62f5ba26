"""The one entry: cases in, a data set of a format out."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from blendwright.datasets.bop import BopWriter
from blendwright.datasets.coco import CocoWriter
from blendwright.datasets.samples import Cases, all_categories
from blendwright.datasets.units import Ledger
from blendwright.datasets.webdataset import ShardWriter
from blendwright.values.errors import EnvironmentUnfit, Refusal
from blendwright.values.faults import Fault

Format = Literal["coco", "bop", "webdataset"]
FORMATS: tuple[Format, ...] = get_args(Format)
# As many as a scene of BOP usually has.
PICTURES_PER_UNIT = 1000
SHARD_MB = 256


@dataclass(frozen=True, slots=True)
class DatasetSize:
    """What was written."""

    cases: int
    categories: tuple[str, ...]


def write_dataset(
    cases: Cases,
    form: Format,
    target: Path,
    *,
    pictures_per_unit: int = PICTURES_PER_UNIT,
    shard_bytes: int = SHARD_MB << 20,
) -> DatasetSize:
    """Write a data set of annotated cases to a directory that is new, or in which the same was begun before.

    `cases` gives them in the order of their numbers, each time anew. However many there are, what is held at once is a unit. Raises Refusal
    for annotations that are wrong, EnvironmentUnfit where the place cannot be written to."""
    categories = all_categories(cases)
    count = sum(1 for _ in cases())
    if not count:
        raise Refusal.of(Fault.TARGET_NOT_FOUND, "no case has annotations", "Run the batch with --output annotations.")
    settings = {
        "format": form,
        "categories": [category.model_dump(mode="json") for category in categories],
        "unit": shard_bytes if form == "webdataset" else pictures_per_unit,
    }
    ledger = Ledger(target, settings)
    writers = {
        "coco": lambda: CocoWriter(target, categories, pictures_per_unit),
        "bop": lambda: BopWriter(target, categories, pictures_per_unit),
        "webdataset": lambda: ShardWriter(target, categories, shard_bytes),
    }
    try:
        writers[form]().write(cases, ledger)
        ledger.finish()
    except OSError as error:
        place = error.filename or target
        cure = "Make room there, or check who may read and write; the same again goes on."
        raise EnvironmentUnfit(f"{place}: {error.strerror}", cure=cure) from error
    return DatasetSize(count, tuple(category.name for category in categories))
