"""Which Blender a workspace gets: what the caller names, then blendwright.toml, then that of this environment."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

import blendwright
from blendwright.bridge.environments.records import Environment, write_record
from blendwright.bridge.environments.series import own_blender
from blendwright.bridge.sources.blender_executable import BlenderExecutable
from blendwright.bridge.sources.named_blender import NamedBlender
from blendwright.bridge.sources.python_environment import PythonEnvironment
from blendwright.policy.policy import BlenderChoice, Policy
from blendwright.values.errors import EnvironmentUnfit, Refusal
from blendwright.workspace.blender_choice import chosen_blender
from blendwright.workspace.contracts import negotiated
from blendwright.workspace.locations import user_file
from blendwright.workspace.policy_files import FILE
from blendwright.workspace.preview import preview

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "plans"


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    user_file().parent.mkdir(parents=True)
    (tmp_path / "workspace").mkdir()
    return tmp_path / "workspace"


def use(file: Path, text: str) -> None:
    file.write_text(f'[blender]\nuse = "{text}"\n')


def test_the_caller_comes_before_the_workspace_and_the_workspace_before_the_user(workspace: Path) -> None:
    assert chosen_blender(workspace, None) == PythonEnvironment(Path(sys.executable))
    use(user_file(), "4.2")
    assert chosen_blender(workspace, None) == NamedBlender("4.2")
    use(workspace / FILE, "4.5")
    assert chosen_blender(workspace, None) == NamedBlender("4.5")
    assert chosen_blender(workspace, "5.1") == NamedBlender("5.1")
    assert chosen_blender(workspace, None, Policy(blender=BlenderChoice(use="5.0"))) == NamedBlender("5.0")


def test_a_workspace_names_what_its_user_has_added_and_never_a_program(workspace: Path, tmp_path: Path) -> None:
    """Whoever opens a workspace that somebody else made must not run what that one chose."""
    program = tmp_path / "workspace" / "blender"
    program.write_text("#!/bin/sh\ntouch ran\n")
    program.chmod(0o755)
    for text in (str(program), "./blender", "workspace/blender", "python", "studio"):
        use(workspace / FILE, text)
        with pytest.raises(Refusal, match="is not a Blender that was added") as caught:
            blendwright.open(workspace)
        assert str(workspace / FILE) in caught.value.message and "add PATH --name" in str(caught.value.cure)
    place = tmp_path / "data" / "blendwright" / "blenders" / "studio"
    place.mkdir(parents=True)
    write_record(Environment("studio", "4.3.2", "3.13.0", "0", executable=str(program)), place)
    assert chosen_blender(workspace, None) == NamedBlender("studio")
    assert not list(tmp_path.rglob("ran"))


def test_the_user_may_name_a_path_from_where_the_file_is(workspace: Path) -> None:
    use(user_file(), "/opt/blender/blender")
    assert chosen_blender(workspace, None) == BlenderExecutable(Path("/opt/blender/blender"))
    use(user_file(), "here/blender")
    assert chosen_blender(workspace, None) == BlenderExecutable(user_file().parent / "here" / "blender")


def test_opening_previewing_and_reading_use_the_same(workspace: Path) -> None:
    """One that is not there ends each of them with the command that gets it."""
    missing = next(name for name in ("4.2", "4.5") if not str(own_blender()).startswith(name))
    use(workspace / FILE, missing)
    with (
        blendwright.open(workspace, spare=False) as scene,
        pytest.raises(EnvironmentUnfit, match=f"no Blender {missing}"),
    ):
        scene.warm()
    plan = json.loads((EXAMPLES / "table_set.json").read_text())

    with pytest.raises(EnvironmentUnfit, match=f"no Blender {missing}"):
        negotiated(workspace)
    with pytest.raises(EnvironmentUnfit, match=f"no Blender {missing}"):
        preview(plan, workspace)
