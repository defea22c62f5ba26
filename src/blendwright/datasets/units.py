"""Writing a data set in units, each of which is there whole or not at all, so that whoever was interrupted goes on.

A ledger in the directory notes the units that are there, with a digest of what they were made of. It is gone when the data set is finished:
one that was interrupted ends with the same files as one that was not.
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
    """Some samples that are written together, in their order."""

    number: int
    samples: Sequence[Sample]

    @property
    def digest(self) -> str:
        text = "\n".join(f"{sample.key} {sample.digest}" for sample in self.samples)
        return hashlib.sha256(text.encode()).hexdigest()


def units_of(samples: Iterable[Sample], size: int) -> Iterator[Unit]:
    number, left = 0, iter(samples)
    while chunk := list(islice(left, size)):
        yield Unit(number, chunk)
        number += 1


class Ledger:
    """The units of a data set that are there."""

    def __init__(self, target: Path, settings: dict[str, Any]) -> None:
        """Raises Refusal where the directory holds something else, EnvironmentUnfit where it cannot be written to."""
        self._path = target / LEDGER
        self._done: dict[int, str] = {}
        try:
            target.mkdir(parents=True, exist_ok=True)
            if self._path.exists():
                self._read(target, settings)
            elif any(target.iterdir()):
                raise Refusal.of(
                    Fault.SCENE_CONFLICT, f"{target} is not empty", "Name a directory that is not there yet."
                )
            else:
                self._append({"settings": settings})
        except OSError as error:
            raise EnvironmentUnfit(
                f"{target} cannot be written: {error.strerror}", cure="Name another place."
            ) from error

    def _read(self, target: Path, settings: dict[str, Any]) -> None:
        """A last line that was cut off never was."""
        whole, _, rest = self._path.read_bytes().rpartition(b"\n")
        lines = [orjson.loads(line) for line in whole.splitlines()]
        if rest:
            os.truncate(self._path, len(whole) + 1 if whole else 0)
        if not lines:
            self._append({"settings": settings})
        elif lines[0] != {"settings": settings}:
            message = f"{target} holds another data set that is not finished"
            raise Refusal.of(Fault.SCENE_CONFLICT, message, "Name another directory, or remove this one.")
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
    """A file that is whole wherever it is seen."""
    part = path.with_name(f".{path.name}.part")
    with part.open("wb") as file:
        file.write(data)
    part.replace(path)
