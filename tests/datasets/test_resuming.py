"""A data set that was interrupted ends with the same bytes, and what is wrong is told before anything is spoilt."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from blendwright.datasets.samples import AnnotatedCase, Cases
from blendwright.datasets.write import FORMATS, Format, write_dataset
from blendwright.util import crash_points
from blendwright.values.errors import Refusal

SMALL: dict[str, Any] = {"pictures_per_unit": 1, "shard_bytes": 60_000}


class Died(BaseException):
    """The process is gone."""


def content(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}


def die() -> None:
    raise Died


@pytest.mark.parametrize("form", FORMATS)
def test_whoever_is_killed_anywhere_goes_on_to_the_same_bytes(cases: Cases, tmp_path: Path, form: Format) -> None:
    write_dataset(cases, form, tmp_path / "whole", **SMALL)
    wanted = content(tmp_path / "whole")
    target, deaths = tmp_path / "broken", 0
    for at in [*(["dataset.unit_written:1", "dataset.unit_written:2"] * 3), "dataset.before_finish:1"]:
        crash_points.arm(at, die)
        try:
            write_dataset(cases, form, target, **SMALL)
        except Died:
            deaths += 1
        finally:
            crash_points.arm()
        if not (target / ".progress.jsonl").exists():
            break
        # The last line may be cut off too.
        with (target / ".progress.jsonl").open("ab") as ledger:
            ledger.write(b'{"unit": 77, "dig')
    else:
        write_dataset(cases, form, target, **SMALL)
    assert deaths >= 4 and content(target) == wanted


@pytest.mark.parametrize("form", FORMATS)
def test_what_is_there_is_not_written_again_unless_its_cases_changed(
    copies: list[Path], tmp_path: Path, form: Format
) -> None:
    def cases() -> Iterator[AnnotatedCase]:
        return (AnnotatedCase(number, folder) for number, folder in enumerate(copies))

    crash_points.arm("dataset.unit_written:3", die)
    with pytest.raises(Died):
        write_dataset(cases, form, tmp_path / "set", **SMALL)
    crash_points.arm()
    # The first case is another one by now, and there are fewer: what was made of the others makes way.
    shutil.rmtree(copies[0])
    shutil.copytree(copies[1], copies[0])
    del copies[2:]
    write_dataset(cases, form, tmp_path / "set", **SMALL)
    write_dataset(cases, form, tmp_path / "fresh", **SMALL)
    assert content(tmp_path / "set") == content(tmp_path / "fresh")


def test_a_directory_with_something_else_is_left_alone(cases: Cases, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("dear")
    with pytest.raises(Refusal, match="is not empty"):
        write_dataset(cases, "coco", tmp_path / "mine")
    crash_points.arm("dataset.unit_written:1", die)
    with pytest.raises(Died):
        write_dataset(cases, "coco", tmp_path / "begun", **SMALL)
    crash_points.arm()
    with pytest.raises(Refusal, match="unfinished data set"):
        write_dataset(cases, "bop", tmp_path / "begun", **SMALL)
    assert content(tmp_path / "mine") == {"letter.txt": b"dear"}


def damaged(folder: Path, **changes: Any) -> None:
    path = folder / "annotations.json"
    document = json.loads(path.read_text())
    for pointer, value in changes.items():
        *parts, last = pointer.split("__")
        place = document
        for part in parts:
            place = place[int(part) if part.isdecimal() else part]
        place[last] = value
    path.write_text(json.dumps(document))


@pytest.mark.parametrize(
    "changes",
    [
        {"format": "something else"},
        {"pictures__0__files__color": "../../secret.png"},
        {"pictures__0__files__color": ".."},
        {"pictures__0__instances__0__category_id": 5},
        {"pictures__0__instances__0__mask_visible__counts": [1, 2]},
        {"pictures__0__instances__0__mask_visible__counts": [-1, 64 * 48 + 1]},
        {"pictures__0__instances__0__mask_visible__size": [48, 65]},
    ],
    ids=str,
)
def test_annotations_that_are_wrong_are_refused_before_anything_is_written(
    copies: list[Path], tmp_path: Path, changes: dict[str, Any]
) -> None:
    damaged(copies[0], **changes)
    with pytest.raises(Refusal, match=r"is not a valid annotations\.v1") as caught:
        write_dataset(lambda: iter([AnnotatedCase(0, copies[0])]), "coco", tmp_path / "set")
    assert str(copies[0]) in caught.value.findings[0].message
    assert not (tmp_path / "set").exists()


def test_categories_are_numbered_anew_where_cases_disagree(copies: list[Path], tmp_path: Path) -> None:
    damaged(copies[1], categories=[{"id": 1, "name": "wall", "keypoints": [], "skeleton": []}])
    both = [AnnotatedCase(0, copies[0]), AnnotatedCase(1, copies[1])]
    write_dataset(lambda: iter(both), "coco", tmp_path / "set")
    document = json.loads((tmp_path / "set" / "annotations" / "instances.json").read_text())
    assert [(each["id"], each["name"]) for each in document["categories"]] == [(1, "cup"), (2, "wall")]
    damaged(copies[1], categories=[{"id": 3, "name": "cup", "keypoints": ["x"], "skeleton": []}])
    with pytest.raises(Refusal, match="other keypoints"):
        write_dataset(lambda: iter(both), "coco", tmp_path / "other")


def test_no_case_is_no_data_set(tmp_path: Path) -> None:
    with pytest.raises(Refusal, match="no case has annotations"):
        write_dataset(lambda: iter(()), "coco", tmp_path / "set")
    assert not (tmp_path / "set").exists()
