"""blendwright blender list, add, remove: what is here, what can be had, and what is said where it cannot."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from blendwright.bridge.environments import making
from blendwright.bridge.environments.records import Environment, digest, write_record
from blendwright.bridge.environments.series import SERIES, own_blender, series_named
from blendwright.setup import blenders
from support.processes.shell import Shell

# No Python at all.
NOWHERE: dict[tuple[int, int], None] = {}


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return tmp_path / "data" / "blendwright" / "blenders"


def added(data: Path, name: str) -> Path:
    series = series_named(name)
    assert series is not None
    place = data / name
    (place / "bin").mkdir(parents=True)
    (place / "bin" / "python").symlink_to(sys.executable)
    made = Environment(name, series.version, f"{series.python_text}.0", digest(series.requirements))
    write_record(made, place)
    return place


def test_the_list_has_what_is_here_and_what_can_be_had(
    shell: Shell, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blenders, "find_interpreter", NOWHERE.get)
    place = added(data, "4.2")
    listed = {row["name"]: row for row in shell("blender", "list", "--json", code=0).document["blenders"]}
    own = listed["(this environment)"]
    assert own["blender"] == own_blender() and own["default"] and own["place"] == sys.prefix
    assert (
        listed["4.2"]["standing"] == "ready" and listed["4.2"]["place"] == str(place) and not listed["4.2"]["default"]
    )
    others = {each.name for each in SERIES if each.version != own_blender()} - {"4.2"}
    assert {listed[name]["standing"] for name in others} == {"no python"}
    assert all("Install Python" in listed[name]["cure"] for name in others)
    monkeypatch.delenv("COLUMNS", raising=False)  # nothing is wrapped
    shown = shell("blender", "list", code=0).out
    assert "4.2.23" in shown and "blendwright blender add 4.5" in shown


def test_what_is_broken_or_outdated_is_told_with_its_cure(shell: Shell, data: Path) -> None:
    (added(data, "4.2") / "bin" / "python").unlink()
    outdated = added(data, "5.1")
    write_record(Environment("5.1", "5.1.0", "3.13.0", "older pins"), outdated)
    listed = {row["name"]: row for row in shell("blender", "list", "--json", code=0).document["blenders"]}
    assert listed["4.2"]["standing"] == "broken" and "blendwright blender add 4.2" in listed["4.2"]["cure"]
    assert listed["5.1"]["standing"] == "outdated" and "blendwright blender add 5.1" in listed["5.1"]["cure"]
    checks = {check["name"]: check for check in shell("doctor", "--json", code=0).document["checks"]}
    assert "blendwright blender add 4.2" in checks["blender 4.2"]["cure"] and not checks["blender 4.2"]["required"]


def test_adding_what_is_there_does_nothing(shell: Shell, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = added(data, "4.2")
    monkeypatch.setattr(making, "_run", None)
    document = shell("blender", "add", "4.2", "--json", code=0).document
    assert document["added"] is False and document["blender"]["directory"] == str(place)
    assert "already exists" in shell("blender", "add", "4.2.23", code=0).out


def test_what_cannot_be_added_is_refused_before_anything_is_made(shell: Shell, data: Path, tmp_path: Path) -> None:
    unknown = shell("blender", "add", "2.79", "--json", code=2).document["error"]
    assert "not available as a wheel" in unknown["message"] and "5.2.3" in unknown["cure"]
    no_python = shell("blender", "add", "4.2", "--python", str(tmp_path / "python"), "--json", code=3).document["error"]
    assert "needs Python 3.11" in no_python["message"] and "blendwright blender add 4.2" in no_python["cure"]
    no_file = shell("blender", "add", str(tmp_path / "blender"), "--json", code=3).document["error"]
    assert "not an executable file" in no_file["message"]
    assert shell("blender", "add", "./x", "--python", "python", code=2).err
    assert not data.exists()


def test_an_environment_is_removed_by_its_name(shell: Shell, data: Path) -> None:
    place = added(data, "4.2")
    assert shell("blender", "remove", "4.2", "--json", code=0).document == {"ok": True, "removed": "4.2"}
    assert not place.exists()
    error = shell("blender", "remove", "4.2", "--json", code=2).document["error"]
    assert "blendwright blender list" in error["cure"]


def test_a_run_on_a_blender_that_is_not_here_says_how_to_get_it_and_gets_nothing(shell: Shell, data: Path) -> None:
    missing = next(each.name for each in SERIES if each.version != own_blender())
    error = shell(
        "call", "object.create_empty", "--args", '{"name": "A"}', "--blender", missing, "--json", code=3
    ).document
    assert f"blendwright blender add {missing}" in str(error)
    assert not data.exists()
