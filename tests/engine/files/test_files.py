"""Files of calls: inside the roots only, staged into the scratch, brought out without losing anything."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from blendwright.engine.files.access import FileAccess
from blendwright.plan.validate import validate_arguments
from blendwright.policy.policy import Verdict
from blendwright.values.errors import ProtocolBreach, Refusal
from support.engine.copy_tool import TOOL, arguments, normalised


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = tmp_path / "root"
    made.mkdir()
    return made


@pytest.fixture
def scratch(tmp_path: Path) -> Path:
    made = tmp_path / "scratch"
    (made / "artifacts").mkdir(parents=True)
    return made


@pytest.fixture
def access(root: Path, tmp_path: Path) -> FileAccess:
    return FileAccess({str(root): Verdict.ALLOW}, tmp_path / "kept")


def refusal(access: FileAccess, **args: Any) -> tuple[str, str]:
    _, findings = normalised(access, **args)
    (finding,) = findings
    assert finding.cure
    return finding.fault.value, finding.pointer


def accepted(access: FileAccess, **args: Any) -> dict[str, Any]:
    found, findings = normalised(access, **args)
    assert findings == ()
    return found


@pytest.mark.proves("EXEC-PHASE-14")
def test_paths_become_absolute_and_straight(access: FileAccess, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / "a.obj").write_text("x")
    monkeypatch.chdir(root)
    assert accepted(access, source="./sub/../a.obj")["source"] == str(root / "a.obj")
    monkeypatch.setenv("HOME", str(root))
    assert accepted(access, source="~/a.obj")["source"] == str(root / "a.obj")
    assert validate_arguments(TOOL, {"source": "  a.obj "})[0]["source"] == "a.obj"


def test_a_path_that_was_left_out_stays_out(access: FileAccess, scratch: Path) -> None:
    args = accepted(access)
    assert args["source"] is None and args["target"] is None
    assert access.stage(TOOL, args, scratch).paths == {}


def test_what_is_outside_the_roots_is_refused_with_the_roots(access: FileAccess, root: Path, tmp_path: Path) -> None:
    (tmp_path / "outside.obj").write_text("x")
    (tmp_path / "root-but-not-quite").mkdir()
    for path in (tmp_path / "outside.obj", root / ".." / "outside.obj", tmp_path / "root-but-not-quite" / "x.obj"):
        assert refusal(access, source=str(path)) == ("POLICY_BLOCKED", "/source")
        assert refusal(access, target=str(path)) == ("POLICY_BLOCKED", "/target")
    _, (finding,) = normalised(access, source="/etc/passwd")
    assert str(root) in (finding.cure or "")


def test_without_a_root_the_cure_says_how_to_get_one(tmp_path: Path) -> None:
    _, (finding,) = normalised(FileAccess({}, tmp_path), source="/etc/passwd")
    assert "add one to [policy.roots]" in (finding.cure or "")


def test_a_link_out_of_a_root_is_outside(access: FileAccess, root: Path, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "a.obj").write_text("x")
    (root / "file.obj").symlink_to(tmp_path / "outside" / "a.obj")
    (root / "directory").symlink_to(tmp_path / "outside")
    assert refusal(access, source=str(root / "file.obj"))[0] == "POLICY_BLOCKED"
    assert refusal(access, source=str(root / "directory" / "a.obj"))[0] == "POLICY_BLOCKED"
    assert refusal(access, target=str(root / "directory" / "new.obj"))[0] == "POLICY_BLOCKED"


def test_a_file_to_read_must_be_a_file(access: FileAccess, root: Path) -> None:
    os.mkfifo(root / "fifo")
    for name in ("missing.obj", ".", "fifo"):
        assert refusal(access, source=str(root / name)) == ("TARGET_NOT_FOUND", "/source")


def test_a_file_to_write_is_no_directory_and_replaces_nothing_unasked(access: FileAccess, root: Path) -> None:
    (root / "there.obj").write_text("x")
    assert refusal(access, target=str(root)) == ("ARGS_INVALID", "/target")
    assert refusal(access, target=str(root / "there.obj")) == ("SCENE_CONFLICT", "/target")
    assert accepted(access, target=str(root / "there.obj"), overwrite=True)
    assert accepted(access, target=str(root / "new" / "deep.obj"))
    assert not (root / "new").exists(), "asking makes nothing"


@pytest.mark.parametrize(
    "path", ["a\x00b.obj", "x" * 300 + ".obj", "~nobody-of-that-name/a.obj", "loop/a.obj"], ids=ascii
)
def test_a_path_that_no_file_can_have_is_a_finding(
    access: FileAccess, root: Path, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    monkeypatch.chdir(root)
    (root / "loop").symlink_to(root / "loop")
    assert refusal(access, source=path)[1] == "/source"
    assert refusal(access, target=path)[1] == "/target"


@pytest.mark.parametrize("path", ["a\x00b.obj", "~nobody-of-that-name/a.obj", "loop/a.obj"], ids=ascii)
def test_whoever_asks_for_the_root_of_such_a_path_is_refused(
    access: FileAccess, root: Path, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    monkeypatch.chdir(root)
    (root / "loop").symlink_to(root / "loop")
    with pytest.raises(Refusal, match="not a usable path") as caught:
        access.rules_for(TOOL, arguments(source=path))
    assert caught.value.findings[0].pointer == "/source"


def test_what_is_read_is_copied_in_with_its_companions(access: FileAccess, root: Path, scratch: Path) -> None:
    (root / "a.obj").write_text("shape")
    (root / "a.mtl").write_text("colour")
    (root / "b.mtl").write_text("of another")
    args = accepted(access, source=str(root / "a.obj"))
    staged = access.stage(TOOL, args, scratch)
    place = Path(staged.paths[args["source"]])
    assert place.is_relative_to(scratch)
    assert {path.name: path.read_text() for path in place.parent.iterdir()} == {"a.obj": "shape", "a.mtl": "colour"}
    (root / "a.mtl").unlink()
    access.stage(TOOL, args, scratch)
    assert [path.name for path in place.parent.iterdir()] == ["a.obj"], "nothing of the last call is left"


def test_a_companion_that_leads_out_of_the_roots_is_left_behind(
    access: FileAccess, root: Path, scratch: Path, tmp_path: Path
) -> None:
    (tmp_path / "secret").write_text("secret")
    (root / "a.obj").write_text("shape")
    (root / "a.mtl").symlink_to(tmp_path / "secret")
    args = accepted(access, source=str(root / "a.obj"))
    place = Path(access.stage(TOOL, args, scratch).paths[args["source"]])
    assert [path.name for path in place.parent.iterdir()] == ["a.obj"]


def test_a_companion_that_is_a_loop_of_links_is_left_behind(access: FileAccess, root: Path, scratch: Path) -> None:
    (root / "a.obj").write_text("shape")
    (root / "a.mtl").symlink_to(root / "a.mtl")
    args = accepted(access, source=str(root / "a.obj"))
    place = Path(access.stage(TOOL, args, scratch).paths[args["source"]])
    assert [path.name for path in place.parent.iterdir()] == ["a.obj"]


def test_what_was_written_is_brought_to_its_place(access: FileAccess, root: Path, scratch: Path) -> None:
    args = accepted(access, target=str(root / "new" / "a.obj"))
    staged = access.stage(TOOL, args, scratch)
    place = Path(staged.paths[args["target"]])
    place.write_text("shape")
    place.with_suffix(".mtl").write_text("colour")
    assert not (root / "new").exists(), "nothing is outside before it is delivered"
    assert access.deliver(staged) == [str(root / "new" / "a.mtl"), str(root / "new" / "a.obj")]
    assert (root / "new" / "a.obj").read_text() == "shape"


def test_only_the_file_that_was_named_may_replace_another(access: FileAccess, root: Path, scratch: Path) -> None:
    (root / "a.obj").write_text("old shape")
    (root / "precious.txt").write_text("precious")
    args = accepted(access, target=str(root / "a.obj"), overwrite=True)
    staged = access.stage(TOOL, args, scratch)
    place = Path(staged.paths[args["target"]])
    place.write_text("new shape")
    assert access.deliver(staged) == [str(root / "a.obj")]
    assert (root / "a.obj").read_text() == "new shape"
    place.write_text("newer shape")
    place.with_suffix(".mtl").write_text("from the worker")
    (root / "a.mtl").write_text("precious")
    with pytest.raises(Refusal, match=r"a\.mtl"):
        access.deliver(staged)
    assert (root / "a.mtl").read_text() == "precious"
    assert (root / "a.obj").read_text() == "new shape"


def test_what_does_not_belong_to_the_named_file_stays_in_the_scratch(root: Path, scratch: Path, tmp_path: Path) -> None:
    """A room as a worker in the hands of a hostile file could leave it."""
    access = FileAccess({str(root): Verdict.ALLOW, str(root / "originals"): Verdict.DENY}, tmp_path / "kept")
    (root / "originals").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (root / "link").symlink_to(tmp_path / "elsewhere")
    staged = access.stage(TOOL, accepted(access, target=str(root / "out.usdc")), scratch)
    room = next(iter(staged.outputs))
    for name in ("out.usdc", "originals/evil", "link/evil", ".git/hooks/post-checkout", "evil", "volumes/deep/a.vdb"):
        (room / name).parent.mkdir(parents=True, exist_ok=True)
        (room / name).write_text("from the worker")
    (room / "volumes" / "smoke.vdb").write_text("smoke")
    (room / "volumes" / "evil.sh").write_text("evil")
    assert access.deliver(staged) == [str(root / "out.usdc"), str(root / "volumes" / "smoke.vdb")]
    assert {path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()} == {
        "out.usdc",
        "volumes/smoke.vdb",
    }
    assert not list((tmp_path / "elsewhere").iterdir())


def test_a_folder_beside_the_file_that_leads_elsewhere_is_refused(
    access: FileAccess, root: Path, scratch: Path, tmp_path: Path
) -> None:
    (tmp_path / "elsewhere").mkdir()
    (root / "volumes").symlink_to(tmp_path / "elsewhere")
    staged = access.stage(TOOL, accepted(access, target=str(root / "out.usdc")), scratch)
    room = next(iter(staged.outputs))
    (room / "volumes").mkdir()
    (room / "out.usdc").write_text("shape")
    (room / "volumes" / "smoke.vdb").write_text("smoke")
    with pytest.raises(Refusal, match="outside the allowed roots"):
        access.deliver(staged)
    assert not (root / "out.usdc").exists() and not list((tmp_path / "elsewhere").iterdir())


def test_what_is_delivered_is_a_new_file_that_no_worker_holds_open(
    access: FileAccess, root: Path, scratch: Path
) -> None:
    staged = access.stage(TOOL, accepted(access, target=str(root / "a.obj")), scratch)
    room = next(iter(staged.outputs))
    held = os.open(room / "a.obj", os.O_CREAT | os.O_WRONLY, 0o6755)
    os.write(held, b"shape")
    access.deliver(staged)
    os.write(held, b" and more")
    os.close(held)
    assert (root / "a.obj").read_bytes() == b"shape"
    assert not (root / "a.obj").stat().st_mode & 0o7111


def test_a_scratch_that_leads_elsewhere_is_not_followed(
    access: FileAccess, root: Path, scratch: Path, tmp_path: Path
) -> None:
    """Room is made by removing what was there, and files are copied in: both must not happen where a link leads."""
    victim = tmp_path / "victim"
    (victim / "target").mkdir(parents=True)
    (victim / "target" / "a.obj").write_text("untouched")
    (scratch / "files").symlink_to(victim)
    staged = access.stage(TOOL, accepted(access, target=str(root / "a.obj")), scratch)
    assert (victim / "target" / "a.obj").read_text() == "untouched"
    room = next(iter(staged.outputs))
    room.rmdir()
    room.parent.rmdir()
    room.parent.symlink_to(victim)
    with pytest.raises(Refusal, match="wrote no file"):
        access.deliver(staged)
    assert not (root / "a.obj").exists()


def test_links_that_a_worker_made_are_not_followed(
    access: FileAccess, root: Path, scratch: Path, tmp_path: Path
) -> None:
    (tmp_path / "secret").write_text("secret")
    args = accepted(access, target=str(root / "a.obj"))
    staged = access.stage(TOOL, args, scratch)
    Path(staged.paths[args["target"]]).symlink_to(tmp_path / "secret")
    with pytest.raises(Refusal, match="wrote no file"):
        access.deliver(staged)
    assert list(root.iterdir()) == []


def test_a_place_that_cannot_be_written_is_refused(access: FileAccess, root: Path, scratch: Path) -> None:
    args = accepted(access, target=str(root / "directory" / "a.obj"))
    staged = access.stage(TOOL, args, scratch)
    Path(staged.paths[args["target"]]).write_text("shape")
    (root / "directory").write_text("a file by now")
    with pytest.raises(Refusal, match="cannot be written") as caught:
        access.deliver(staged)
    assert caught.value.findings[0].fault.value == "EXECUTION_FAILED"


def test_artifacts_are_numbered_and_none_is_lost(access: FileAccess, scratch: Path, tmp_path: Path) -> None:
    for text in ("first", "second", "third"):
        (scratch / "artifacts" / "preview.png").write_text(text)
        access.keep_artifacts(["preview.png"], scratch)
    kept = {path.name: path.read_text() for path in (tmp_path / "kept").iterdir()}
    assert kept == {"preview.png": "first", "preview-2.png": "second", "preview-3.png": "third"}


def test_the_name_of_an_artifact_leads_nowhere_else(access: FileAccess, scratch: Path, tmp_path: Path) -> None:
    (tmp_path / "victim.txt").write_text("untouched")
    (scratch / "artifacts" / "victim.txt").write_text("from the worker")
    assert access.keep_artifacts(["../../victim.txt"], scratch) == [str(tmp_path / "kept" / "victim.txt")]
    assert (tmp_path / "victim.txt").read_text() == "untouched"


@pytest.mark.parametrize("name", ["", ".", "..", "a/..", "a\0b"], ids=ascii)
def test_a_name_that_no_artifact_can_have_is_a_breach(
    access: FileAccess, scratch: Path, tmp_path: Path, name: str
) -> None:
    with pytest.raises(ProtocolBreach):
        access.keep_artifacts([name], scratch)
    assert (scratch / "artifacts").is_dir() and not (tmp_path / "kept").exists()


def test_an_artifact_that_is_a_link_or_a_pipe_is_refused(access: FileAccess, scratch: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    (scratch / "artifacts" / "link.png").symlink_to(tmp_path / "secret")
    os.mkfifo(scratch / "artifacts" / "pipe.png")
    for name in ("link.png", "pipe.png"):
        with pytest.raises(Refusal, match="cannot be written"):
            access.keep_artifacts([name], scratch)
    assert not list((tmp_path / "kept").iterdir())


def test_a_file_that_is_too_large_is_refused_before_it_is_copied(root: Path, scratch: Path, tmp_path: Path) -> None:
    access = FileAccess({str(root): Verdict.ALLOW}, tmp_path / "kept", scratch_mb=1)
    (root / "a.obj").write_bytes(bytes(700 << 10))
    args = accepted(access, source=str(root / "a.obj"))
    access.stage(TOOL, args, scratch)
    (root / "a.mtl").write_bytes(bytes(700 << 10))
    with pytest.raises(Refusal, match="1 MB are allowed") as caught:
        access.stage(TOOL, args, scratch)
    assert caught.value.findings[0].fault.value == "LIMIT_EXCEEDED"
    assert not [path for path in scratch.rglob("*") if path.is_file()]


@pytest.mark.parametrize("name", ["blendwright.toml", "sub/journal.db", ".mcp.json", ".vscode/mcp.json"])
def test_settings_of_workspaces_and_hosts_are_never_written(access: FileAccess, root: Path, name: str) -> None:
    assert refusal(access, target=str(root / name)) == ("POLICY_BLOCKED", "/target")
    assert access.target_findings(root / name) and not access.target_findings(root / "scene.glb")


def test_artifacts_of_a_folder_stay_together_and_the_folder_is_numbered(
    access: FileAccess, scratch: Path, tmp_path: Path
) -> None:
    for text in ("first", "second"):
        (scratch / "artifacts" / "set").mkdir(exist_ok=True)
        for name in ("a.json", "b.png"):
            (scratch / "artifacts" / "set" / name).write_text(text)
        paths = access.keep_artifacts(["set/a.json", "set/b.png"], scratch)
    assert paths == [str(tmp_path / "kept" / "set-2" / name) for name in ("a.json", "b.png")]
    kept = {str(path.relative_to(tmp_path / "kept")): path.read_text() for path in (tmp_path / "kept").glob("*/*")}
    assert kept == {"set/a.json": "first", "set/b.png": "first", "set-2/a.json": "second", "set-2/b.png": "second"}


@pytest.mark.parametrize("name", ["a/../../b.png", "../set/b.png", "/set/b.png", "x/y/set/b.png"])
def test_the_folder_of_an_artifact_leads_nowhere_else(
    access: FileAccess, scratch: Path, tmp_path: Path, name: str
) -> None:
    (scratch / "artifacts" / "set").mkdir()
    (scratch / "artifacts" / "set" / "b.png").write_text("from the worker")
    (scratch / "artifacts" / "b.png").write_text("from the worker")
    (path,) = access.keep_artifacts([name], scratch)
    assert Path(path).is_relative_to(tmp_path / "kept")
    with pytest.raises(ProtocolBreach):
        access.keep_artifacts(["a\0b/c.png"], scratch)


def test_of_a_folder_with_a_link_in_it_nothing_is_kept(access: FileAccess, scratch: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    (scratch / "artifacts" / "set").mkdir()
    (scratch / "artifacts" / "set" / "a.png").write_text("a")
    (scratch / "artifacts" / "set" / "b.png").symlink_to(tmp_path / "secret")
    with pytest.raises(Refusal, match="cannot be written"):
        access.keep_artifacts(["set/a.png", "set/b.png"], scratch)
    assert not [path for path in (tmp_path / "kept").rglob("*") if path.is_file()]
    (scratch / "artifacts" / "out").symlink_to(tmp_path)
    with pytest.raises(Refusal, match="cannot be written"):
        access.keep_artifacts(["out/secret"], scratch)
