"""The WebDataset format: tar files of limited size, in which the files of one sample are adjacent. Equal samples give equal bytes."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Iterable, Iterator
from pathlib import Path

import orjson

from blendwright.datasets.samples import Cases, Sample, samples
from blendwright.datasets.units import Ledger, Unit
from blendwright.tools.render.annotation_document import AnnotatedCategory, PictureFiles

# The block size of tar files, in bytes.
BLOCK = 512


class ShardWriter:
    """A writer of `shard-000000.tar` and so on. A sample has its layers as `key.color.png` and so on, and annotations as `key.json`."""

    def __init__(self, target: Path, categories: list[AnnotatedCategory], shard_bytes: int) -> None:
        self._target = target
        self._categories = [category.model_dump(mode="json") for category in categories]
        self._numbers = {category.name: category.id for category in categories}
        self._max_bytes = shard_bytes

    def write(self, cases: Cases, ledger: Ledger) -> None:
        """Write all shards that the ledger does not contain, and remove shards of cases that no longer exist."""
        count = 0
        for unit in self._shards(samples(cases)):
            if not ledger.has(unit):
                self._write_shard(unit)
                ledger.add(unit)
            count += 1
        surplus = self._shard(count)
        while surplus.exists():
            surplus.unlink()
            count += 1
            surplus = self._shard(count)

    def _shard(self, number: int) -> Path:
        return self._target / f"shard-{number:06d}.tar"

    def _shards(self, samples: Iterable[Sample]) -> Iterator[Unit]:
        """Split samples into shards of at most the maximum size. A larger sample has a separate shard."""
        number, total, chunk = 0, 0, list[Sample]()
        for sample in samples:
            size = sum(BLOCK + -(-length // BLOCK) * BLOCK for length in self._lengths(sample))
            if chunk and total + size > self._max_bytes:
                yield Unit(number, chunk)
                number, total, chunk = number + 1, 0, []
            chunk.append(sample)
            total += size
        if chunk:
            yield Unit(number, chunk)

    def _lengths(self, sample: Sample) -> Iterator[int]:
        yield len(self._description(sample))
        for _, layer in _layers(sample):
            yield sample.file(layer).lstat().st_size

    def _write_shard(self, unit: Unit) -> None:
        path = self._shard(unit.number)
        part = path.with_name(f".{path.name}.part")
        with tarfile.open(part, "w", format=tarfile.USTAR_FORMAT) as archive:
            for sample in unit.samples:
                members = {suffix: sample.read(layer) for suffix, layer in _layers(sample)}
                members["json"] = self._description(sample)
                for suffix, data in sorted(members.items()):
                    # Owner and time stay zero, so that equal samples give equal bytes.
                    entry = tarfile.TarInfo(f"{sample.key}.{suffix}")
                    entry.size, entry.mode = len(data), 0o644
                    archive.addfile(entry, io.BytesIO(data))
        part.replace(path)

    def _description(self, sample: Sample) -> bytes:
        """Return the annotations of a sample as JSON, with the category ids of this data set."""
        document = sample.picture.model_dump(mode="json", exclude={"files"})
        for entry, instance in zip(document["instances"], sample.picture.instances, strict=True):
            entry["category_id"] = self._numbers[sample.category(instance)]
        return orjson.dumps({**document, "key": sample.key, "categories": self._categories})


def _layers(sample: Sample) -> Iterator[tuple[str, str]]:
    """Yield the file suffix and the name of each layer that the sample has."""
    for layer in PictureFiles.model_fields:
        name: str | None = getattr(sample.picture.files, layer)
        if name is not None:
            yield f"{layer.removesuffix('_m')}{Path(name).suffix}", layer
