"""`scripts/gui-root` where a root cannot be had: it says why, and leaves nothing that could be taken for one."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from gui.root import PROJECT

# Nobody listens there.
NO_MIRROR = "http://127.0.0.1:9/debian"


@pytest.fixture
def script(tmp_path: Path) -> Path:
    """The script in a project that has no roots."""
    (tmp_path / "scripts").mkdir()
    return Path(shutil.copy(PROJECT / "scripts" / "gui-root", tmp_path / "scripts"))


def run(script: Path, *arguments: str, user: int | None = None) -> tuple[int, str]:
    done = subprocess.run(
        ["bash", "scripts/gui-root", *arguments],
        cwd=script.parents[1],
        env={**os.environ, "BLENDWRIGHT_DEBIAN_MIRROR": NO_MIRROR},
        user=user,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stderr


def test_a_mirror_that_cannot_be_reached_leaves_nothing_but_the_log(script: Path) -> None:
    place = script.parents[1] / ".envs" / "gui"
    # What a script that was killed has left: neither is a root.
    (place / "making-trixie.abcdef" / "usr").mkdir(parents=True)
    (place / "trixie" / "usr").mkdir(parents=True)
    code, said = run(script, "trixie")
    assert code == 3
    assert "no root of Debian trixie" in said
    assert NO_MIRROR in said
    assert sorted(path.name for path in place.iterdir()) == ["lock", "trixie", "trixie.log"]
    assert not (place / "trixie" / "etc").exists()


def test_a_whole_root_is_taken_as_it_is_and_that_of_another_recipe_is_not(script: Path) -> None:
    found = re.search('^packages="(.*)"$', script.read_text(), re.MULTILINE)
    assert found is not None
    mark = script.parents[1] / ".envs" / "gui" / "sid" / "etc" / "blendwright-gui-root"
    mark.parent.mkdir(parents=True)
    mark.write_text(found[1] + "\n")
    assert run(script, "sid") == (0, "")
    mark.write_text(found[1] + " emacs\n")
    assert run(script, "sid")[0] == 3
    assert mark.exists(), "the former root stays until there is another"


def test_who_is_not_root_is_told_so(script: Path) -> None:
    for directory in (script.parent, script.parents[1]):
        directory.chmod(0o755)
    code, said = run(script, user=65534)
    assert (code, said) == (3, "gui-root: a root is made and entered as root; run this command as root\n")


def test_a_suite_without_a_recipe_is_named(script: Path) -> None:
    assert run(script, "bookworm") == (2, "gui-root: there is no recipe for 'bookworm', only for trixie and sid\n")
