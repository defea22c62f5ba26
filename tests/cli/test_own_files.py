"""Settings are taken from the user's own files only: whoever else could write them could decide what is allowed."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from blendwright.values.errors import EnvironmentUnfit
from blendwright.workspace.locations import is_workspace, user_file
from blendwright.workspace.opening import create_workspace
from blendwright.workspace.policy_files import FILE, load_policy
from support.processes.shell import Shell

ALLOWS_ALL = '[policy.levels]\ndestructive = "allow"\n'
SOMEBODY = 12345
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
Change = Callable[[Path], None]


def give_away(path: Path) -> None:
    os.chown(path, SOMEBODY, SOMEBODY)


def open_to_all(path: Path) -> None:
    path.chmod(path.stat().st_mode | 0o022)


def open_to_a_group(path: Path) -> None:
    os.chown(path, -1, SOMEBODY)
    path.chmod(path.stat().st_mode | 0o020)


WAYS = [
    pytest.param(give_away, marks=as_root),
    pytest.param(open_to_a_group, marks=as_root),
    open_to_all,
]


@pytest.mark.parametrize("change", WAYS)
@pytest.mark.parametrize("of", ["file", "directory"])
@pytest.mark.parametrize("whose", ["workspace", "user"])
def test_a_file_that_somebody_else_could_have_written_is_not_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: Change, of: str, whose: str
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    workspace = tmp_path / "workspace"
    file = workspace / FILE if whose == "workspace" else user_file()
    file.parent.mkdir(parents=True)
    file.write_text(ALLOWS_ALL)
    assert load_policy(workspace).policy.policy.levels.destructive == "allow"
    changed = file if of == "file" else file.parent
    change(changed)
    with pytest.raises(EnvironmentUnfit, match="is not used") as refused:
        load_policy(workspace)
    assert str(file) in refused.value.message and f"chmod go-w {changed}" in (refused.value.cure or "")


def test_a_link_into_a_directory_of_everybody_is_not_followed(tmp_path: Path) -> None:
    shared, workspace = tmp_path / "shared", tmp_path / "workspace"
    shared.mkdir()
    workspace.mkdir()
    shared.chmod(0o777)
    (shared / "planted.toml").write_text(ALLOWS_ALL)
    (workspace / FILE).symlink_to(shared / "planted.toml")
    with pytest.raises(EnvironmentUnfit, match="is not used"):
        load_policy(workspace)


@pytest.mark.parametrize("change", WAYS)
def test_no_workspace_is_made_where_somebody_else_could_put_files(tmp_path: Path, change: Change) -> None:
    place = tmp_path / "shared"
    place.mkdir()
    change(place)
    for workspace in (place, place / ".blendwright", place / "deeper" / "w"):
        with pytest.raises(EnvironmentUnfit, match="no workspace is created"):
            create_workspace(workspace)
        assert not is_workspace(workspace)
    assert list(place.iterdir()) == []


def test_in_a_directory_like_tmp_a_workspace_of_ones_own_is_fine(tmp_path: Path) -> None:
    place = tmp_path / "tmp"
    place.mkdir()
    place.chmod(0o1777)
    assert is_workspace(create_workspace(place / "mine", blender="/no/such/blender").directory)


@pytest.mark.parametrize("planted", [False, True])
def test_serve_refuses_with_exit_code_3_and_makes_nothing(shell: Shell, planted: bool) -> None:
    shared = shell.place / "shared"
    shared.mkdir()
    if planted:
        (shared / FILE).write_text(ALLOWS_ALL)
    shared.chmod(0o777)
    told = shell("serve", "--workspace", str(shared), code=3)
    assert str(shared) in told.err and "chmod go-w" in told.err and "Traceback" not in told.err
    assert sorted(path.name for path in shared.iterdir()) == ([FILE] if planted else [])
