"""The environment of a worker holds nothing of the user's."""

from pathlib import Path

import pytest

from blendwright.wire.worker_environment import private_directories, private_environment


def test_nothing_of_the_callers_environment_comes_along(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("API_KEY", "LD_PRELOAD", "LD_LIBRARY_PATH", "PYTHONPATH", "PYTHONSTARTUP", "DISPLAY", "SSH_AUTH_SOCK")
    for name in (*names, "HOME", "TMPDIR", "PATH"):
        monkeypatch.setenv(name, "of-the-user")
    environment = private_environment(tmp_path)
    assert not set(names) & set(environment)
    assert "of-the-user" not in environment.values()


@pytest.mark.parametrize("name", ["HOME", "TMPDIR", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR", "BLENDER_USER_RESOURCES"])
def test_what_is_written_goes_into_private_directories(name: str, tmp_path: Path) -> None:
    path = Path(private_environment(tmp_path)[name])
    assert any(path.is_relative_to(directory) for directory in private_directories(tmp_path))


def test_paths_are_absolute_for_a_relative_scratch() -> None:
    assert Path(private_environment(Path("scratch"))["HOME"]).is_absolute()


def test_hashes_do_not_depend_on_chance(tmp_path: Path) -> None:
    assert private_environment(tmp_path)["PYTHONHASHSEED"] == "0"
