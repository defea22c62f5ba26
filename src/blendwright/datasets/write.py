"""The function that writes a data set in a chosen format."""

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
# The usual number of pictures in a BOP scene.
PICTURES_PER_UNIT = 1000
SHARD_MB = 256


@dataclass(frozen=True, slots=True)
class DatasetSize:
    """The number of cases and the categories of a written data set."""

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
    """Write a data set of annotated cases to a new directory, or resume one that was interrupted there.

    `cases` yields the cases in the order of their numbers, again for each call. Memory use is limited to one unit. Raises Refusal for
    invalid annotations, EnvironmentUnfit if the directory cannot be written."""
    categories = all_categories(cases)
    count = sum(1 for _ in cases())
    if not count:
        raise Refusal.of(Fault.TARGET_NOT_FOUND, "no case has annotations", "Run the batch with --output annotations.")
    unit_size = pictures_per_unit
    if form == "webdataset":
        unit_size = shard_bytes
    settings = {
        "format": form,
        "categories": [category.model_dump(mode="json") for category in categories],
        "unit": unit_size,
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
        location = error.filename or target
        fix = "Free some space or check the permissions; the same command resumes."
        raise EnvironmentUnfit(f"{location}: {error.strerror}", cure=fix) from error
    return DatasetSize(count, tuple(category.name for category in categories))
