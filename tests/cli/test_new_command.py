"""blendwright new: a workspace to start with."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

from blendwright.policy.policy import Policy
from blendwright.workspace.policy_files import load_policy, read_policy
from support.processes.shell import Shell


def files(place: Path) -> dict[str, bytes]:
    return {str(file.relative_to(place)): file.read_bytes() for file in place.rglob("*") if file.is_file()}


def test_a_new_workspace_is_ready_for_the_two_commands_that_it_names(shell: Shell) -> None:
    made = shell("new", "--blender", "/no/such/blender", "--json", code=0).document
    place = shell.place / ".blendwright"
    assert made["workspace"] == str(place) and made["externals"] == []
    assert made["written"] == [str(place / "blendwright.toml"), str(place / "example.json")]
    assert made["scene_hash"] is None, "an empty scene needs no Blender yet"
    assert shell("log", "--json", code=0).document["commits"] == []
    preview, run = (command.split()[1:] for command in made["next"])
    assert shell(*preview, "--json", code=0).document["ok"]
    assert shell(*run, "--json", code=0).document["ok"]
    assert (shell.place / "scene.png").is_file()


def test_where_a_workspace_is_already_nothing_is_changed(shell: Shell) -> None:
    shell("new", "--workspace", "mine", code=0)
    (shell.place / "mine" / "example.json").unlink()
    before = files(shell.place)
    told = shell("new", "--workspace", "mine", code=2)
    assert told.out == "" and "is a workspace already" in told.err and "another directory" in told.err
    assert shell("new", "--workspace", "mine", "--json", code=2).document["error"]["code"] == "execution_failed"
    assert files(shell.place) == before


def test_files_that_are_there_are_kept(shell: Shell) -> None:
    place = shell.place / ".blendwright"
    place.mkdir()
    (place / "blendwright.toml").write_text('[policy]\nnetwork = "allow"\n')
    made = shell("new", "--json", code=0).document
    assert made["written"] == [str(place / "example.json")]
    assert (place / "blendwright.toml").read_text() == '[policy]\nnetwork = "allow"\n'


def test_a_policy_that_is_not_sound_begins_nothing(shell: Shell) -> None:
    place = shell.place / ".blendwright"
    place.mkdir()
    (place / "blendwright.toml").write_text("nope = 1\n")
    assert "blendwright.toml:1: there is no setting 'nope'" in shell("new", code=2).err
    assert list(files(place)) == ["blendwright.toml"]


def test_a_scene_is_taken_in_and_one_that_is_none_leaves_nothing_behind(shell: Shell) -> None:
    shell("call", "object.create_empty", "--args", '{"name": "Pivot"}', "--export", "given.blend", code=0)
    given = (shell.place / "given.blend").read_bytes()
    made = shell("new", "--workspace", "a b/c", "--scene", "given.blend", "--json", code=0).document
    assert made["scene_hash"] == shell("log", "--json", code=0).document["commits"][0]["hash_after"]
    (baseline,) = shell("log", "--workspace", "a b/c", "--json", code=0).document["commits"]
    assert baseline["tool"] == "workspace.new" and baseline["hash_after"] == made["scene_hash"]
    assert made["next"][0] == "blendwright preview 'a b/c/example.json' --workspace 'a b/c'"
    assert (shell.place / "given.blend").read_bytes() == given

    (shell.place / "bad.blend").write_text("not a scene")
    (shell.place / "kept").mkdir()
    (shell.place / "kept" / "mine.txt").write_text("mine")
    for place in ("x/y", "kept"):
        before = files(shell.place)
        error = shell("new", "--workspace", place, "--scene", "bad.blend", "--json", code=3).document["error"]
        assert "bad.blend cannot be opened" in error["message"] and "scratch" not in error["message"]
        assert error["cure"] and files(shell.place) == before
    assert not (shell.place / "x").exists()
    assert "there is no file no.blend" in shell("new", "--workspace", "x", "--scene", "no.blend", code=2).err
    assert not (shell.place / "x").exists()


def test_the_policy_to_edit_decides_nothing_and_shows_every_default(shell: Shell) -> None:
    """Taking away the comment signs of its settings gives the policy that holds without it."""
    shell("new", code=0)
    place = shell.place / ".blendwright"
    loaded = load_policy(place)
    assert set(read_policy(place / "blendwright.toml")) == {
        "policy",
        "blender",
        "constraints",
        "limits",
        "audit",
        "journal",
        "assets",
    }
    assert not any("starter" in origin or str(place) in origin for origin in loaded.origins.values())
    text = (place / "blendwright.toml").read_text()
    shown = "".join(
        line.removeprefix("# ") + "\n" if "=" in line and line.startswith("# ") and line[2] != " " else line + "\n"
        for line in text.splitlines()
    )
    defaults = json.loads(Policy().model_dump_json())
    del defaults["constraints"]["determinism"]
    del defaults["blender"]["use"]
    del defaults["journal"]["audit_heads"], defaults["journal"]["audit_heads_command"]
    del defaults["assets"]["online"]  # counts in the user's own file only
    assert tomllib.loads(shown) == defaults
