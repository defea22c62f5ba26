"""What every command does alike: errors with a place and a cure, one JSON document, nothing cut off, nothing left behind."""

from __future__ import annotations

from pathlib import Path

import pytest

from blendwright.cli.main import main
from blendwright.values.errors import EnvironmentUnfit
from blendwright.views.export import copy_whole
from support.processes.shell import Ran

PLAN = b'{"request_id": "r", "operations": [{"operation_id": "a"}]}'


class Inside:
    """The program in this process: quick enough for every command, and sure to start no Blender."""

    def __init__(self, place: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
        self.place = place
        self._patch = monkeypatch
        self._captured = capfd

    def __call__(self, *arguments: str, code: int) -> Ran:
        self._patch.chdir(self.place)
        self._patch.delenv("COLUMNS", raising=False)
        self._patch.setattr("sys.argv", ["blendwright", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        said = self._captured.readouterr()
        assert ended.value.code == code, said
        return Ran(code, said.out, said.err)


@pytest.fixture
def inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Inside:
    return Inside(tmp_path, monkeypatch, capfd)


def test_without_a_command_the_help_is_shown_and_no_error(inside: Inside) -> None:
    for command in ((), ("audit",)):
        told = inside(*command, code=2)
        assert told.err.startswith("Usage: blendwright") and "error:" not in told.err and told.out == ""


def test_a_wrong_command_line_names_the_help_of_its_command(inside: Inside) -> None:
    assert "See: blendwright run --help" in inside("run", code=2).err
    assert "See: blendwright audit verify --help" in inside("audit", "verify", "--nope", code=2).err
    assert "Did you mean 'run'?" in inside("rnu", code=2).err


def test_the_version_is_told(inside: Inside) -> None:
    assert inside("--version", code=0).out.startswith("blendwright 0.")


@pytest.mark.parametrize(
    "command",
    [
        "log", "show 1", "diff 1 2", "checkout 1", "undo", "redo", "export x.blend", "adopt x.blend", "gc", "externals",
        "metrics", "audit verify", "audit list", "replay", "recover", "approve", "approve abcd", "snapshot", "gates Box",
    ],
)  # fmt: skip
def test_what_looks_at_a_workspace_begins_none(inside: Inside, command: str) -> None:
    error = inside(*command.split(), "--json", code=3).document["error"]
    assert "is not a workspace" in error["message"] and error["cure"]
    assert list(inside.place.iterdir()) == []


@pytest.mark.parametrize(
    "command", ["new", "run plan.json", "validate plan.json", "preview plan.json", "call scene.describe", "contract", "macros",
                "log", "undo", "approve", "snapshot", "ask something", "init-host codex --print", "serve --http 127.0.0.1:0"],
)  # fmt: skip
def test_a_file_is_not_taken_for_a_workspace(inside: Inside, command: str) -> None:
    (inside.place / "file").write_text("mine")
    (inside.place / "plan.json").write_bytes(PLAN)
    told = inside(*command.split(), "--workspace", "file", code=3)
    assert "cannot be a workspace: it is a file" in told.err and "Name another directory" in told.err
    assert (inside.place / "file").read_text() == "mine"


def test_what_cannot_be_read_is_named_with_a_cure(inside: Inside) -> None:
    for command in (("run", "no.json"), ("validate", "no.json"), ("preview", "no.json"), ("eval", "no"),
                    ("run", "plan.json", "--contract", "no.json"), ("contract", "--host", "no.json")):  # fmt: skip
        (inside.place / "plan.json").write_bytes(PLAN)
        answer = inside(*command, "--json", code=2).document
        error = answer.get("error", answer)
        assert "no" in error["message"] and "Errno" not in error["message"]
        assert error.get("cure") or error["details"]["findings"][0]["cure"]


def test_a_request_to_measure_by_must_be_whole(inside: Inside) -> None:
    (inside.place / "half.json").write_text('{"name": "half"}')
    told = inside("eval", ".", code=2).err
    assert "half.json/request: Field required" in told and "docs/planner.md" in told


def test_a_picture_must_be_named_as_one(inside: Inside) -> None:
    (inside.place / "plan.json").write_bytes(PLAN)
    for command in (("run", "plan.json"), ("preview", "plan.json"), ("ask", "something")):
        error = inside(*command, "--image", "picture.jpg", "--json", code=2)
        assert "picture.jpg is not the name of a .png file" in error.out and ".png." in error.out


def test_where_nothing_can_be_written_that_is_said(inside: Inside) -> None:
    """A name that is too long for any file stands for a directory that cannot be written to, which nothing is for root."""
    long = "x" * 300 + ".blend"
    (inside.place / "made.blend").write_bytes(b"made")
    with pytest.raises(EnvironmentUnfit, match="cannot be written: File name too long"):
        copy_whole(inside.place / "made.blend", inside.place / long)


def test_what_has_no_commit_yet_has_no_past(inside: Inside) -> None:
    inside("new", code=0)
    for command in ("undo", "redo", "show HEAD", "diff HEAD", "export x.blend", "adopt x.blend", "gc", "replay"):
        assert "has no commit yet" in inside(*command.split(), code=2).err
    assert inside("log", "--moves", code=0).out.strip() == "no moves"


def test_tables_are_not_cut_off_where_nobody_looks_at_a_screen(inside: Inside) -> None:
    listed = inside("tools", code=0).out.splitlines()
    assert any(line.startswith("material.ensure_principled  ") for line in listed)
    assert all(line.split()[0].count(".") == 1 for line in listed), "one line for each"
    assert "…" not in inside("tools", "mesh.create_primitive", code=0).out


def test_what_would_be_written_for_a_host_can_be_had_as_json(inside: Inside) -> None:
    said = inside("init-host", "codex", "--print", "--json", code=0).document
    assert said["written"] is False and said["entry"]["args"][-5:-3] == ["serve", "--workspace"]
    assert said["text"] == inside("init-host", "codex", "--print", code=0).out
    workspace, directory = (Path(said["entry"]["args"][place]) for place in (-3, -1))
    assert workspace == inside.place.resolve() / ".blendwright" and directory == inside.place.resolve()


@pytest.mark.parametrize("command", [("log",), ("snapshot",), ("audit", "verify")])
def test_a_damaged_journal_is_for_whoever_keeps_the_machine_and_says_so(
    inside: Inside, command: tuple[str, ...]
) -> None:
    place = inside.place / ".blendwright"
    place.mkdir()
    (place / "journal.db").write_bytes(b"SQLite format 3\0" + b"x" * 8192)
    error = inside(*command, "--json", code=3).document["error"]
    assert "journal.db" in error["message"] and error["cure"]


def test_a_single_finding_is_told_with_its_place_and_code_too(inside: Inside) -> None:
    (inside.place / "dup.json").write_text('{"request_id": "r", "operations": [{"args": {"a": 1, "a": 2}}]}')
    (finding,) = inside("run", "dup.json", "--json", code=2).document["details"]["findings"]
    assert (finding["code"], finding["pointer"]) == ("SCHEMA_INVALID", "/operations/0/args/a")
    said = inside("run", "dup.json", code=2).err
    assert "error: /operations/0/args/a: the key 'a' is given more than once" in said
    assert said.count("Give every key once.") == 1


def test_what_is_wanted_beside_a_plan_is_refused_before_it_runs(inside: Inside, tmp_path: Path) -> None:
    operation = (
        '{"operation_id": "a", "tool_name": "scene.find", "args": {}, "depends_on": [], "safety_level": "read_only"}'
    )
    (inside.place / "plan.json").write_text(f'{{"request_id": "r", "operations": [{operation}]}}')
    for option, place in (("--export", "out.blend"), ("--image", "out.png")):
        outside = str(tmp_path.parent / place)
        (finding,) = inside("run", "plan.json", option, outside, "--json", code=2).document["details"]["findings"]
        assert (finding["code"], finding["rule"]) == ("POLICY_BLOCKED", "path_outside")
    assert inside("log", "--json", code=0).document["commits"] == []


def test_a_scene_to_start_from_that_is_not_there_is_a_refusal(inside: Inside) -> None:
    (inside.place / "plan.json").write_bytes(PLAN)
    assert "there is no file no.blend" in inside("run", "plan.json", "--scene", "no.blend", code=2).err
