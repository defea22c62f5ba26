"""What Tab completes, in the shells themselves; those that are not here are left out."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from blendwright.cli.commands import COMMANDS
from blendwright.tools.catalog import NAMES
from support.processes.shell import Shell

BASH = """
source "$1"; shift
COMP_WORDS=(blendwright "$@"); COMP_CWORD=$#
_blendwright
printf '%s\\n' "${COMPREPLY[@]}"
"""
FISH = 'source $argv[1]; complete -C "blendwright $argv[2..-1]"'


@pytest.fixture(scope="module")
def scripts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("completion")
    for name in ("bash", "zsh", "fish"):
        (place / name).write_text(Shell(place)("completion", name, code=0).out)
    (place / "plan.json").write_text("{}")
    (place / "pictures").mkdir()
    return place


def completed(place: Path, *words: str) -> set[str]:
    """What bash offers for the last of the words."""
    done = subprocess.run(
        ["bash", "--norc", "-c", BASH, "bash", str(place / "bash"), *words],
        cwd=place, capture_output=True, text=True, check=True, timeout=30,
    )  # fmt: skip
    assert done.stderr == ""
    return set(done.stdout.split())


def test_commands_are_completed_and_those_in_them(scripts: Path) -> None:
    assert completed(scripts, "") == set(COMMANDS)
    assert completed(scripts, "re") == {"redo", "replay", "recover"}
    assert completed(scripts, "batch", "") == {"run", "status", "retry", "dataset", "show", "export"}
    assert completed(scripts, "--verbose", "aud") == {"audit"}


def test_options_are_completed_with_their_choices(scripts: Path) -> None:
    assert completed(scripts, "run", "--bo") == {"--boundary"}
    assert completed(scripts, "batch", "run", "--ke") == {"--keep"}
    assert "--help" in completed(scripts, "undo", "--")
    assert completed(scripts, "run", "--boundary", "") == {"operation", "plan"}
    assert completed(scripts, "run", "--dialect", "=", "s") == {"steps"}
    assert completed(scripts, "completion", "") == {"bash", "zsh", "fish"}
    assert completed(scripts, "doctor", "--host", "gem") == {"gemini-cli"}
    assert completed(scripts, "--bo") == set(), "an option of a command only"


def test_tools_schemas_files_and_directories_are_completed(scripts: Path) -> None:
    assert completed(scripts, "call", "mesh.create") == {name for name in NAMES if name.startswith("mesh.create")}
    assert completed(scripts, "schemas", "planner") == {"planner_operations.v1"}
    assert completed(scripts, "run", "pl") == {"plan.json"}
    assert completed(scripts, "run", "--workspace", "p") == {"pictures"}, "a workspace is a directory"


def test_the_value_of_an_option_is_not_taken_for_a_command(scripts: Path) -> None:
    assert completed(scripts, "batch", "--workspace", "run", "") == completed(scripts, "batch", "run", "")
    assert completed(scripts, "run", "--set", "undo", "pl") == {"plan.json"}
    assert completed(scripts, "run", "--request-id", "pl") == set(), "whatever one likes"


@pytest.mark.skipif(shutil.which("zsh") is None, reason="there is no zsh here")
def test_zsh_reads_its_script(scripts: Path) -> None:
    loaded = f"autoload -U compinit; compinit -D; source {scripts / 'zsh'}; print -r -- $_comps[blendwright]"
    done = subprocess.run(["zsh", "-fc", loaded], capture_output=True, text=True, check=True, timeout=30)
    assert done.stdout.strip() == "_blendwright" and done.stderr == ""


@pytest.mark.skipif(shutil.which("fish") is None, reason="there is no fish here")
@pytest.mark.parametrize(
    ("words", "offered"),
    [("und", "undo"), ("batch ru", "run"), ("run --bound", "--boundary"), ("run --boundary pl", "plan")],
)
def test_fish_completes(scripts: Path, words: str, offered: str) -> None:
    command = ["fish", "--no-config", "-c", FISH, str(scripts / "fish"), *words.split()]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=30)
    assert done.stdout.partition("\t")[0].strip() == offered and done.stderr == ""


def test_a_shell_that_is_not_known_is_refused(scripts: Path) -> None:
    assert "'bash', 'zsh', 'fish'" in Shell(scripts)("completion", "tcsh", code=2).err.replace('"', "'")
