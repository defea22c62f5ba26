"""`blendwright batch` as its user has it."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from support.processes.shell import Shell

BOXES = """
size = param("size", 1, min = 1, max = 5)
mesh.create_primitive(kind = "cube", name = "Box", size = size)
"""


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    (tmp_path / "boxes.star").write_text(BOXES)
    return Shell(tmp_path)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("missing.star",), "cannot read missing.star"),
        (("boxes.star", "--seeds", "5:5"), "is not a range of seeds"),
        (("boxes.star", "--seeds", "0:5"), "seed"),
        (("boxes.star", "--seeds", "0:5", "--params", "t.csv"), "cannot be combined"),
        (("boxes.star", "--params", "t.csv"), "file t.csv not found"),
        (("boxes.star", "--output", "jpeg"), "unknown kind of output"),
        (("boxes.star", "--set", "size=9"), "size"),
        (("boxes.star", "--keep", "all"), "not one of keep, compact, drop"),
        (("boxes.star", "--cases", "3"), "--cases works only with a batch file"),
    ],
)
def test_what_cannot_run_is_refused_and_leaves_nothing(shell: Shell, arguments: tuple[str, ...], said: str) -> None:
    ran = shell("batch", "run", *arguments, "--out", "out", code=2)
    assert said in ran.err
    assert not (shell.place / "out").exists()


def test_a_batch_that_is_not_there_is_named(shell: Shell) -> None:
    for arguments in (("status", "out"), ("show", "out", "1"), ("retry", "out", "--failed")):
        assert "contains no batch" in shell("batch", *arguments, code=2).err
    assert not (shell.place / "out").exists()


def test_a_table_is_run_gone_on_with_and_looked_at(shell: Shell) -> None:
    table = shell.place / "t.csv"
    table.write_text("size\n1\n9\n")
    run = ("batch", "run", "boxes.star", "--params", "t.csv", "--output", "glb", "--workers", "1", "--out", "out")
    ran = shell(*run, code=1)
    assert "1 of 2 cases done, 1 failed" in ran.err
    with (shell.place / "out" / "results.csv").open() as file:
        done, failed = csv.DictReader(file)
    assert (done["status"], done["param_size"], failed["status"], failed["source"]) == (
        "done",
        "1",
        "failed",
        "t.csv:3",
    )
    assert (Path(done["location"]) / "scene.glb").stat().st_size > 500
    status = shell("batch", "status", "out", "--json", code=0).document
    assert (status["done"], status["failed"]) == (1, 1)
    assert status["failures"][0]["number"] == 1
    assert "size" in status["failures"][0]["findings"][0]["message"]
    assert "failed case 000001, t.csv:3" in shell("batch", "show", "out", "1", code=0).out
    assert "scene.glb" in shell("batch", "show", "out", done["key"][:8], code=0).out
    assert "has no case 7" in shell("batch", "show", "out", "7", code=2).err
    # What is finished is finished: no lane is started for it.
    assert "2 cases were already finished" in shell(*run, code=1).err
    # A row that is gone does not count, and only what is new is run.
    table.write_text("size\n1\n2\n")
    case, summary = shell(*run, "--json", code=0).lines
    assert (case["event"], case["number"], case["params"]) == ("case", 2, {"size": 2})
    assert (summary["event"], summary["cases"], summary["done"], summary["failed"]) == ("summary", 2, 2, 0)
