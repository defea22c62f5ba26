"""Wheel and sdist as a stranger gets them: whole, alike, and at work in an environment that has nothing else."""

from __future__ import annotations

import json
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

import blendwright
from packages.conftest import ROOT, UV, Environment, run

EXAMPLES = ROOT / "examples"
Installed = Callable[[str], Environment]


def contents(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_the_wheel_holds_every_file_of_the_package(packages: tuple[Path, Path]) -> None:
    tracked = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "src/blendwright"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout.split()  # fmt: skip
    expected = {name.removeprefix("src/") for name in tracked if (ROOT / name).is_file()}
    held = {name for name in contents(packages[1]) if name.startswith("blendwright/")}
    assert held == expected
    assert "blendwright/py.typed" in held


def test_sources_and_sdist_build_the_same_wheel(packages: tuple[Path, Path], tmp_path: Path) -> None:
    script = "import sys, pathlib, build_packages as b; p = pathlib.Path(sys.argv[1]); b.build_wheel(b.copy_sources(p / 'tree'), p)"
    run(sys.executable, "-c", script, tmp_path, cwd=ROOT / "scripts")
    [direct] = tmp_path.glob("*.whl")
    assert contents(direct) == contents(packages[1])
    assert direct.read_bytes() == packages[1].read_bytes()


def test_the_sdist_has_what_a_packager_reads(packages: tuple[Path, Path]) -> None:
    with tarfile.open(packages[0]) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"LICENSE", "README.md", "CHANGELOG.md", "pyproject.toml"} <= names
    assert not {name for name in names if name.startswith(("tests", ".", "build"))}


def test_without_blender_plans_are_checked_and_doctor_says_what_is_missing(installed: Installed) -> None:
    environment = installed("")
    assert environment("--version").strip() == f"blendwright {blendwright.__version__}"
    assert "valid operations" in environment("validate", EXAMPLES / "plans" / "table_set.json")
    assert "valid program" in environment("validate", EXAMPLES / "programs" / "sunflower.star")
    assert "SCHEMA_INVALID" in environment("validate", EXAMPLES / "README.md", code=2)
    for catalogue in ("tools", "macros", "nodes", "schemas"):
        assert environment(catalogue).count("\n") > 5
    assert "no Blender" in environment("run", EXAMPLES / "plans" / "table_set.json", code=3)
    assert "blender" in environment("doctor", code=3)


def test_types_of_the_package_are_seen_by_a_type_checker(installed: Installed) -> None:
    environment = installed("")
    (environment.place / "typed.py").write_text(
        "import blendwright\n\nscene = blendwright.open('w')\nreveal_type(scene)\nscene.nothing_of_the_kind\n"
    )
    pyright = Path(sys.executable).with_name("pyright")
    python = environment.directory / "bin" / "python"
    said = run(pyright, "--pythonpath", python, "typed.py", cwd=environment.place, code=1)
    assert '"OpenScene"' in said and "nothing_of_the_kind" in said and "1 error" in said


def test_with_the_extra_a_plan_runs_and_a_picture_is_made(installed: Installed) -> None:
    environment = installed("[blender]")
    ran = environment("run", EXAMPLES / "plans" / "table_set.json", "--image", "table.png", "--json")
    assert json.loads(ran.partition("wrote ")[0])["ok"] is True
    assert (environment.place / "table.png").read_bytes().startswith(b"\x89PNG")
    assert "all hashes agree" in environment("replay")
    environment("doctor")


def test_what_commands_need_beside_code_is_inside(installed: Installed) -> None:
    environment = installed("[blender]")
    environment("new", "--workspace", "fresh")
    assert (environment.place / "fresh" / "blendwright.toml").is_file()
    entry = json.loads(environment("init-host", "claude-desktop", "--print", "--json"))["entry"]
    assert Path(entry["command"]).is_relative_to(environment.directory)
    assert "complete" in environment("completion", "bash")
    environment("extension", "--output", "window.zip")
    assert zipfile.is_zipfile(environment.place / "window.zip")
    page = "from blendwright.console.application import static_files; print(len(static_files()))"
    assert int(environment.python("-c", page)) > 5


@pytest.mark.skipif(not UV.is_file(), reason="there is no uv here: make test-packages brings one")
def test_uvx_runs_the_wheel_without_installing_it(packages: tuple[Path, Path], tmp_path: Path) -> None:
    said = run(
        UV, "tool", "run", "--python", sys.executable, "--from", packages[1], "blendwright", "--version", cwd=tmp_path
    )
    assert f"blendwright {blendwright.__version__}" in said
