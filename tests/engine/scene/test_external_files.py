"""Which external files a worker may read, and what is said of each: on files, without Blender."""

from __future__ import annotations

import hashlib
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from blendwright.engine.files.roots import FileRoots
from blendwright.engine.scene.external_files import External, Externals, findings_about
from blendwright.policy.policy import Verdict

USED = ("images/a",)


def present(path: Path, *used_by: str) -> External:
    content = path.read_bytes()
    return External(str(path), "present", len(content), hashlib.sha256(content).hexdigest(), used_by or USED)


def readable(roots: list[Path], *externals: External, workspace: Path | None = None) -> tuple[Path, ...]:
    receipt = {"externals": [external.to_json() for external in externals]}

    def naming_files(*, all_lines: bool) -> list[Any]:
        return [SimpleNamespace(receipt=receipt)] if all_lines else []

    journal: Any = SimpleNamespace(naming_files=naming_files)
    found = Externals(FileRoots({str(root): Verdict.ALLOW for root in roots}, workspace)).readable(journal)
    for each in found:
        stat = each.path.lstat()
        assert (each.device, each.inode) == (stat.st_dev, stat.st_ino)
    return tuple(each.path for each in found)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    inside = tmp_path / "inside"
    inside.mkdir()
    (inside / "a.png").write_bytes(b"a")
    (inside / "b.blend").write_bytes(b"b")
    (tmp_path / "outside.png").write_bytes(b"c")
    return inside


def test_only_plain_files_inside_the_roots_are_readable(place: Path) -> None:
    outside = place.parent / "outside.png"
    link = place / "link.png"
    link.symlink_to(outside)
    recorded = [present(place / "a.png"), present(outside), present(link)]
    assert readable([place], *recorded) == (place / "a.png",)
    assert readable([place.parent / "other"], *recorded) == ()


def test_a_link_that_leads_elsewhere_by_now_is_not_followed(place: Path) -> None:
    recorded = present(place / "a.png")
    assert readable([place], recorded) == (place / "a.png",)
    (place / "a.png").unlink()
    (place / "a.png").symlink_to(place.parent / "outside.png")
    assert readable([place], recorded) == ()


def test_files_that_no_scene_has_business_with_are_withheld(place: Path) -> None:
    """Hidden ones, the workspace's own, and those that are not what they are used as, whatever a link calls them."""
    (place / "ws").mkdir()
    (place / ".git").mkdir()
    for name in (".env", ".env.png", ".git/a.png", "ws/journal.db", "ws/a.png", "notes.txt", "a.ttf"):
        (place / name).write_bytes(b"secret")
    (place / "link.png").symlink_to(place / "notes.txt")
    files = Externals(FileRoots({str(place): Verdict.ALLOW}, place / "ws"))
    for path in (*place.glob("*.*"), *place.glob(".git/*"), *place.glob("ws/*")):
        if path.is_file() and path.name not in ("b.blend",):
            expected = "present" if path == place / "a.png" else "withheld"
            assert files.now(External(str(path), "present", None, None, USED)).state == expected, path
            assert readable([place], present(path), workspace=place / "ws") == (
                (path,) if expected == "present" else ()
            )
    assert readable([place], present(place / "a.ttf", "fonts/a")) == (place / "a.ttf",)
    (finding,) = findings_about([files.now(present(place / ".env"))])
    assert "has the wrong suffix for its use" in finding.message and finding.cure


def test_a_linked_file_is_never_readable_and_one_that_is_gone_neither(place: Path) -> None:
    linked = present(place / "b.blend", "libraries/b.blend", "objects/x")
    gone = present(place / "a.png")
    (place / "a.png").unlink()
    assert readable([place], linked, gone) == ()
    (finding,) = findings_about([linked])
    assert "does not open linked files" in finding.message


def test_a_file_that_changed_since_is_said_to_have(place: Path) -> None:
    files, recorded = Externals(FileRoots({str(place): Verdict.ALLOW})), present(place / "a.png")
    assert files.now(recorded) == recorded
    (place / "a.png").write_bytes(b"other")
    assert files.now(recorded).state == "changed"
    (place / "a.png").unlink()
    assert files.now(recorded).state == "missing"
    (place / "a.png").mkdir()
    assert files.now(recorded).state == "not_a_file"
    assert Externals(FileRoots({})).now(recorded).state == "outside_roots"


def test_only_a_library_that_a_call_has_named_is_followed(place: Path) -> None:
    paths = [
        {"kind": "libraries", "name": "b.blend", "path": str(place / "b.blend")},
        {"kind": "images", "name": "a", "path": str(place / "a.png")},
        {"kind": "images", "name": "far", "path": "C:\\a.png"},
    ]
    worker: Any = SimpleNamespace(external_files=lambda: paths)
    files = Externals(FileRoots({str(place): Verdict.ALLOW}))
    picture, library = files.named_since(worker, [], [])
    assert (picture.state, library.state, library.followed) == ("present", "present", False)
    assert [each.path for each in files.readable_files([picture, library])] == [place / "a.png"]
    picture, library = files.named_since(worker, [], [str(place / "b.blend")])
    assert library.followed and External.of_json(library.to_json()) == library
    assert [each.path for each in files.readable_files([library])] == [place / "b.blend"]
    (place / "b.blend").write_bytes(b"other")
    changed = files.now(library)
    assert (changed.state, changed.followed) == ("changed", True)
    # What is known is not recorded again, unless a call reads it.
    assert files.named_since(worker, [picture, library], []) == ()
    (again,) = files.named_since(worker, [picture, library], [str(place / "b.blend")])
    assert again.sha256 != library.sha256


def test_in_a_folder_of_assets_only_a_library_that_a_call_has_named_is_read(place: Path) -> None:
    (place / ".hidden").mkdir()
    (place / ".hidden" / "c.blend").write_bytes(b"c")
    paths = [
        {"kind": "libraries", "name": name, "path": str(place / name)} for name in ("b.blend", ".hidden/c.blend")
    ] + [{"kind": "images", "name": "a", "path": str(place / "a.png")}]
    worker: Any = SimpleNamespace(external_files=lambda: paths)
    files = Externals(FileRoots({str(place / "elsewhere"): Verdict.ALLOW}, None, [place]))
    states = {Path(each.path).name: each.state for each in files.named_since(worker, [], [])}
    assert states == {"a.png": "outside_roots", "b.blend": "present", "c.blend": "withheld"}
    assert files.readable_files(files.named_since(worker, [], [])) == ()
    named = files.named_since(worker, [], [entry["path"] for entry in paths])
    assert [each.path for each in files.readable_files(named)] == [place / "b.blend"]
