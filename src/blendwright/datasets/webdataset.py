"""WebDataset: tar files in which the files of a sample follow each other, each at most so large. Equal samples give equal bytes."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Iterable, Iterator
from pathlib import Path

import orjson

from blendwright.datasets.samples import Cases, Sample, samples
from blendwright.datasets.units import Ledger, Unit
from blendwright.tools.render.annotation_document import AnnotatedCategory, PictureFiles

BLOCK = 512


class ShardWriter:
    """`shard-000000.tar` and so on. A sample has its layers as `key.color.png` and so on, and what is told of it as `key.json`."""

    def __init__(self, target: Path, categories: list[AnnotatedCategory], shard_bytes: int) -> None:
        self._target = target
        self._categories = [category.model_dump(mode="json") for category in categories]
        self._numbers = {category.name: category.id for category in categories}
        self._most = shard_bytes

    def write(self, cases: Cases, ledger: Ledger) -> None:
        count = 0
        for unit in self._shards(samples(cases)):
            if not ledger.has(unit):
                self._write_shard(unit)
                ledger.add(unit)
            count += 1
        while (surplus := self._shard(count)).exists():
            # Made of more cases than there are now.
            surplus.unlink()
            count += 1

    def _shard(self, number: int) -> Path:
        return self._target / f"shard-{number:06d}.tar"

    def _shards(self, every: Iterable[Sample]) -> Iterator[Unit]:
        """A shard ends before it would become too large; a sample that is too large by itself has one of its own."""
        number, total, chunk = 0, 0, list[Sample]()
        for sample in every:
            size = sum(BLOCK + -(-length // BLOCK) * BLOCK for length in self._lengths(sample))
            if chunk and total + size > self._most:
                yield Unit(number, chunk)
                number, total, chunk = number + 1, 0, []
            chunk.append(sample)
            total += size
        if chunk:
            yield Unit(number, chunk)

    def _lengths(self, sample: Sample) -> Iterator[int]:
        yield len(self._description(sample))
        yield from (sample.file(layer).lstat().st_size for _, layer in _layers(sample))

    def _write_shard(self, unit: Unit) -> None:
        path = self._shard(unit.number)
        part = path.with_name(f".{path.name}.part")
        with tarfile.open(part, "w", format=tarfile.USTAR_FORMAT) as archive:
            for sample in unit.samples:
                members = {ending: sample.read(layer) for ending, layer in _layers(sample)}
                members["json"] = self._description(sample)
                for ending, data in sorted(members.items()):
                    # Whatever is not said is zero: owners, and the time.
                    entry = tarfile.TarInfo(f"{sample.key}.{ending}")
                    entry.size, entry.mode = len(data), 0o644
                    archive.addfile(entry, io.BytesIO(data))
        part.replace(path)

    def _description(self, sample: Sample) -> bytes:
        """As annotations.json has it, with the numbers of categories that this data set gives them."""
        told = sample.picture.model_dump(mode="json", exclude={"files"})
        for instance, each in zip(told["instances"], sample.picture.instances, strict=True):
            instance["category_id"] = self._numbers[sample.category(each)]
        return orjson.dumps({**told, "key": sample.key, "categories": self._categories})


def _layers(sample: Sample) -> Iterator[tuple[str, str]]:
    """How the file of each layer of a sample ends in the data set, and the layer."""
    for layer in PictureFiles.model_fields:
        name: str | None = getattr(sample.picture.files, layer)
        if name is not None:
            yield f"{layer.removesuffix('_m')}{Path(name).suffix}", layer
