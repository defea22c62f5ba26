"""WebDataset shards: whole samples in order, at most as large as asked for, equal bytes for equal samples."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path

from blendwright.datasets.samples import Cases, samples
from blendwright.datasets.write import write_dataset


def test_samples_follow_each_other_whole(cases: Cases, tmp_path: Path) -> None:
    write_dataset(cases, "webdataset", tmp_path / "shards", shard_bytes=40_000)
    shards = sorted((tmp_path / "shards").iterdir())
    assert [path.name for path in shards] == [f"shard-{number:06d}.tar" for number in range(len(shards))]
    assert len(shards) > 1 and all(path.stat().st_size <= 40_000 + 20 * 512 for path in shards)
    found: list[tuple[str, dict[str, bytes]]] = []
    for path in shards:
        with tarfile.open(path) as archive:
            for member in archive:
                key, _, ending = member.name.partition(".")
                assert (member.mtime, member.uid, member.gid, member.uname, member.mode) == (0, 0, 0, "", 0o644)
                if not found or found[-1][0] != key:
                    found.append((key, {}))
                opened = archive.extractfile(member)
                assert opened is not None and ending not in found[-1][1]
                found[-1][1][ending] = opened.read()
    every = list(samples(cases))
    assert [key for key, _ in found] == [sample.key for sample in every] == sorted(sample.key for sample in every)
    for (key, files), sample in zip(found, every, strict=True):
        layers = {"color.png", "instances.png", "categories.png", "depth.png", "depth.npy", "normals.png"}
        assert files.keys() == layers | {"json"}
        assert files["color.png"] == sample.file("color").read_bytes()
        assert files["depth.npy"] == sample.file("depth_m").read_bytes()
        told = json.loads(files["json"])
        assert told["key"] == key and [each["id"] for each in told["categories"]] == [3, 7]
        assert len(told["instances"]) == len(sample.picture.instances)
