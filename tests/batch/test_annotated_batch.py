"""A batch whose cases are annotated, on real Blender: the example program, and the data set that the command makes of it."""

from __future__ import annotations

import contextlib
import io
import json
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from batch.batches import one_lane, open_keys
from support.processes.shell import Shell

TOYS = Path(__file__).parents[2] / "examples" / "batch" / "toys_on_table.star"
COCO: Any = import_module("pycocotools.coco").COCO


@pytest.fixture(scope="module")
def toys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("toys") / "out"
    root.mkdir()
    rows = (({"seed": seed, "width": 64, "samples": 1}, "") for seed in (3, 4))
    with one_lane(root, TOYS, rows, outputs=("annotations",)) as lane:
        for key in open_keys(root):
            report = lane.do(key)
            assert report.row is not None and report.row["status"] == "done", report
    return root


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


def test_the_annotations_of_a_case_are_its_published_output(toys: Path) -> None:
    for number in range(2):
        folder = toys / "cases" / f"{number:06d}" / "annotations"
        document = json.loads((folder / "annotations.json").read_text())
        named = set(document["pictures"][0]["files"].values())
        assert {path.name for path in folder.iterdir()} == named | {"annotations.json"}
        manifest = json.loads((folder.parent / "manifest.json").read_text())
        assert manifest["files"].keys() == {f"annotations/{path.name}" for path in folder.iterdir()}
        assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o644}
        kinds = {category["id"]: category["name"] for category in document["categories"]}
        instances = document["pictures"][0]["instances"]
        assert instances and all(each["object"].lower().startswith(kinds[each["category_id"]]) for each in instances)


@pytest.mark.parametrize("form", ["coco", "bop", "webdataset"])
def test_the_command_writes_a_data_set(toys: Path, shell: Shell, tmp_path: Path, form: str) -> None:
    target = tmp_path / "set"
    told = shell("batch", "dataset", str(toys), "--format", form, "--to", str(target), "--json", code=0).document
    assert told["ok"] and told["cases"] == 2 and "cone" in told["categories"]
    assert target.is_dir() and not list(target.glob(".*"))
    if form == "coco":
        with contextlib.redirect_stdout(io.StringIO()):
            opened = COCO(str(target / "annotations" / "instances.json"))
        assert len(opened.imgs) == 2 and len(opened.anns) > 3
    again = shell("batch", "dataset", str(toys), "--format", form, "--to", str(target), code=2)
    assert "is not empty" in again.err


def test_an_unknown_format_or_batch_is_refused(toys: Path, shell: Shell, tmp_path: Path) -> None:
    wrong = shell("batch", "dataset", str(toys), "--format", "voc", "--to", str(tmp_path / "set"), code=2)
    assert "coco, bop, webdataset" in " ".join(wrong.err.split())
    shell("batch", "dataset", str(tmp_path), "--format", "coco", "--to", str(tmp_path / "set"), code=2)
    assert not (tmp_path / "set").exists()
