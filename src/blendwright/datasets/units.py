"""Units of a data set. Each unit is written completely or not at all, so the same command resumes an interrupted data set.

A ledger in the directory lists the finished units, with a digest of their content. The ledger is removed when the data set is complete.
An interrupted and resumed data set has the same files as one that was written at once.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import orjson

from blendwright.datasets.samples import Sample
from blendwright.journal.store import sync_directory
from blendwright.util import crash_points
from blendwright.values.errors import EnvironmentUnfit, Refusal
from blendwright.values.faults import Fault

LEDGER = ".progress.jsonl"


@dataclass(frozen=True, slots=True)
class Unit:
    """A number of samples that are written together, in order."""

    number: int
    samples: Sequence[Sample]

    @property
    def digest(self) -> str:
        text = "\n".join(f"{sample.key} {sample.digest}" for sample in self.samples)
        return hashlib.sha256(text.encode()).hexdigest()


def units_of(samples: Iterable[Sample], size: int) -> Iterator[Unit]:
    """Split samples into numbered units of at most `size` samples."""
    remaining_samples = iter(samples)
    number = 0
    while chunk := list(islice(remaining_samples, size)):
        yield Unit(number, chunk)
        number += 1


class Ledger:
    """The list of finished units of a data set."""

    def __init__(self, target: Path, settings: dict[str, Any]) -> None:
        """Open or create a ledger. Raise Refusal if the directory has other content, EnvironmentUnfit if it cannot be written."""
        self._path = target / LEDGER
        self._done: dict[int, str] = {}
        try:
            target.mkdir(parents=True, exist_ok=True)
            if self._path.exists():
                self._read(target, settings)
            elif any(target.iterdir()):
                message = f"{target} is not empty"
                raise Refusal.of(Fault.SCENE_CONFLICT, message, "Choose a directory that does not exist yet.")
            else:
                self._append({"settings": settings})
        except OSError as error:
            fix = "Choose another directory."
            raise EnvironmentUnfit(f"{target} cannot be written: {error.strerror}", cure=fix) from error

    def _read(self, target: Path, settings: dict[str, Any]) -> None:
        """Read the ledger of an interrupted data set. Remove an incomplete last line. Raise Refusal for other settings."""
        content = self._path.read_bytes()
        complete, newline, incomplete = content.rpartition(b"\n")
        lines = [orjson.loads(line) for line in complete.splitlines()]
        if incomplete:
            os.truncate(self._path, len(complete) + len(newline))
        if not lines:
            self._append({"settings": settings})
        elif lines[0] != {"settings": settings}:
            message = f"{target} contains an unfinished data set with other settings"
            raise Refusal.of(Fault.SCENE_CONFLICT, message, "Choose another directory, or remove this one.")
        self._done = {line["unit"]: line["digest"] for line in lines[1:]}

    def has(self, unit: Unit) -> bool:
        return self._done.get(unit.number) == unit.digest

    def add(self, unit: Unit) -> None:
        crash_points.reach("dataset.unit_written")
        self._append({"unit": unit.number, "digest": unit.digest})
        self._done[unit.number] = unit.digest

    def finish(self) -> None:
        crash_points.reach("dataset.before_finish")
        self._path.unlink()
        sync_directory(self._path.parent)

    def _append(self, line: dict[str, Any]) -> None:
        with self._path.open("ab") as file:
            file.write(orjson.dumps(line) + b"\n")
            file.flush()
            os.fsync(file.fileno())


def write_file(path: Path, data: bytes) -> None:
    """Write a file atomically: readers never see a part of it."""
    part = path.with_name(f".{path.name}.part")
    with part.open("wb") as file:
        file.write(data)
    part.replace(path)
