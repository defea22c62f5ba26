"""Files that somebody has put in the place of annotations: none of them gets into a data set."""

from __future__ import annotations

import hashlib
import os
import shutil
from pathlib import Path
from typing import Literal

import pytest

from blendwright.batch.results.table import ResultRow
from blendwright.datasets.samples import Cases, annotated_cases, samples
from blendwright.datasets.write import FORMATS, write_dataset
from blendwright.values.errors import Refusal


@pytest.fixture
def row(cases: Cases, tmp_path: Path) -> ResultRow:
    """Of a case that has published a copy of the first annotations."""
    folder = tmp_path / "out" / "cases" / "000000" / "annotations"
    shutil.copytree(next(cases()).folder, folder)
    published = {
        f"annotations/{path.name}": {"sha256": hashlib.sha256(path.read_bytes()).hexdigest(), "bytes": 1}
        for path in folder.iterdir()
    }
    return ResultRow(0, "0" * 64, {}, "done", "bw3:hash", str(folder.parent), published)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("kind", ["link", "pipe", "other", "folder"])
def test_a_file_that_was_not_published_is_refused(
    row: ResultRow, tmp_path: Path, form: Literal["coco", "bop", "webdataset"], kind: str
) -> None:
    def cases() -> Cases:
        return lambda: annotated_cases([row])

    color = next(samples(cases())).file("color")
    private = tmp_path / "private"
    private.write_text("PRIVATE KEY")
    if kind == "folder":
        color.parent.rename(tmp_path / "elsewhere")
        color.parent.symlink_to(tmp_path / "elsewhere")
    else:
        color.unlink()
    if kind == "link":
        color.symlink_to(private)
    elif kind == "pipe":
        os.mkfifo(color)
    elif kind == "other":
        color.write_text("PRIVATE KEY")
    with pytest.raises(
        Refusal, match=r"annotations.*(cannot be read|differs from the file that case 000000 published)"
    ):
        write_dataset(cases(), form, tmp_path / "set")
    written = [path for path in (tmp_path / "set").rglob("*") if path.is_file()] if (tmp_path / "set").exists() else []
    assert not [path for path in written if b"PRIVATE KEY" in path.read_bytes()]


def test_what_was_published_is_written(row: ResultRow, tmp_path: Path) -> None:
    assert write_dataset(lambda: annotated_cases([row]), "webdataset", tmp_path / "set").cases == 1
