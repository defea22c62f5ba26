"""Somebody puts a link in the place of a directory after its path was judged: nothing outside the roots is read or written by it.

A child process swaps the directory and a link to outside as fast as the system lets it, by one atomic rename; calls go on meanwhile.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import textwrap
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import Any

import pytest

from blendwright.engine.files.access import FileAccess
from blendwright.engine.files.delivery import deliver_picture
from blendwright.engine.files.roots import FileRoots
from blendwright.engine.scene.external_files import External, Externals
from blendwright.policy.policy import Verdict
from blendwright.server.resources import Resources
from blendwright.util import crash_points, no_follow
from blendwright.values.errors import Refusal
from blendwright.values.outcome import Outcome
from support.engine.copy_tool import TOOL, normalised

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="two names are exchanged by a call of Linux")

SECONDS = 1.5
EXCHANGE = 2  # RENAME_EXCHANGE
AT_FDCWD = -100
libc = ctypes.CDLL(None, use_errno=True)

SWAPPER = textwrap.dedent("""
    import ctypes, sys
    exchange = ctypes.CDLL(None).renameat2
    one, other = (name.encode() for name in sys.argv[1:])
    print("ready", flush=True)
    while True:
        exchange(-100, one, -100, other, 2)
""")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """`root/work` with a file in it, `root/link` to `outside`, which has a file of the same name."""
    for directory, content in (("root/work", b"inside"), ("outside", b"secret")):
        (tmp_path / directory).mkdir(parents=True)
        (tmp_path / directory / "a.png").write_bytes(content)
    (tmp_path / "root" / "link").symlink_to(tmp_path / "outside")
    (tmp_path / "scratch" / "artifacts").mkdir(parents=True)
    return tmp_path


@pytest.fixture
def access(place: Path) -> FileAccess:
    return FileAccess({str(place / "root"): Verdict.ALLOW}, place / "root" / "work")


def swap(place: Path) -> None:
    names = [os.fsencode(place / "root" / name) for name in ("work", "link")]
    assert libc.renameat2(AT_FDCWD, names[0], AT_FDCWD, names[1], EXCHANGE) == 0, os.strerror(ctypes.get_errno())


@contextmanager
def swapping(place: Path) -> Generator[None]:
    names = [str(place / "root" / name) for name in ("work", "link")]
    swapper = subprocess.Popen([sys.executable, "-c", SWAPPER, *names], stdout=subprocess.PIPE)
    try:
        assert swapper.stdout is not None and swapper.stdout.readline() == b"ready\n"
        yield
    finally:
        swapper.kill()
        swapper.communicate()


def for_a_while() -> Iterator[int]:
    """Attempts as long as there is time."""
    ends, number = monotonic() + SECONDS, 0
    while monotonic() < ends:
        number += 1
        yield number


# ---------------------------------------------------------------------- as fast as it goes


def test_what_is_imported_is_never_from_outside(access: FileAccess, place: Path) -> None:
    read: list[bytes] = []
    with swapping(place):
        for _ in for_a_while():
            args, findings = normalised(access, source=str(place / "root" / "work" / "a.png"))
            if findings:
                continue
            try:
                staged = access.stage(TOOL, args, place / "scratch")
            except Refusal:
                continue
            read.append(Path(staged.paths[args["source"]]).read_bytes())
    assert set(read) == {b"inside"}, f"{read.count(b'secret')} of {len(read)} imports read outside the roots"


def test_what_is_exported_never_gets_outside(access: FileAccess, place: Path) -> None:
    written = refused = 0
    with swapping(place):
        for number in for_a_while():
            args, findings = normalised(access, target=str(place / "root" / "work" / "deep" / f"{number}.obj"))
            if findings:
                continue
            staged = access.stage(TOOL, args, place / "scratch")
            Path(staged.paths[args["target"]]).write_bytes(b"shape")
            try:
                written += len(access.deliver(staged))
            except Refusal:
                refused += 1
    assert written and refused
    assert sorted(path.name for path in (place / "outside").rglob("*")) == ["a.png"]


def test_no_external_file_is_recorded_or_made_readable_outside(place: Path) -> None:
    files = Externals(FileRoots({str(place / "root"): Verdict.ALLOW}))
    recorded = External(str(place / "root" / "work" / "a.png"), "present", 6, None, ("images/a",))
    journal: Any = OneOrigin(recorded)
    outside = (place / "outside" / "a.png").stat().st_ino
    (place / "outside" / "a.png").write_bytes(b"longer than inside")
    sizes: set[int | None] = set()
    inodes: set[int] = set()
    with swapping(place):
        for _ in for_a_while():
            sizes.add(files.now(recorded).size)
            inodes |= {each.inode for each in files.readable(journal)}
    assert sizes <= {None, 6} and 6 in sizes
    assert inodes and outside not in inodes


class OneOrigin:
    """A journal as far as external files are concerned."""

    def __init__(self, external: External) -> None:
        self.receipt = {"externals": [external.to_json()]}

    def naming_files(self, *, all_lines: bool) -> list[OneOrigin]:
        return [self]


# ---------------------------------------------------------------------- at the worst instant


def test_a_swap_after_the_path_was_judged_is_refused(access: FileAccess, place: Path) -> None:
    args, findings = normalised(access, source=str(place / "root" / "work" / "a.png"))
    assert not findings
    swap(place)
    with pytest.raises(Refusal, match="has become a link"):
        access.stage(TOOL, args, place / "scratch")


def test_a_swap_while_a_file_is_delivered_does_not_lead_it_out(
    access: FileAccess, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    args, _ = normalised(access, target=str(place / "root" / "work" / "b.obj"))
    staged = access.stage(TOOL, args, place / "scratch")
    Path(staged.paths[args["target"]]).write_bytes(b"shape")

    def reach(name: str) -> None:
        if name == "files.before_move":
            swap(place)

    monkeypatch.setattr(crash_points, "reach", reach)
    access.deliver(staged)
    assert not (place / "outside" / "b.obj").exists()
    swap(place)
    assert (place / "root" / "work" / "b.obj").read_bytes() == b"shape"


def test_artifacts_do_not_go_where_a_new_link_leads(access: FileAccess, place: Path) -> None:
    (place / "scratch" / "artifacts" / "b.png").write_bytes(b"picture")
    swap(place)
    with pytest.raises(Refusal, match="has become a link"):
        access.keep_artifacts(["b.png"], place / "scratch")
    assert [path.name for path in (place / "outside").iterdir()] == ["a.png"]


def test_a_picture_is_not_delivered_through_a_link(place: Path) -> None:
    outcome = Outcome("render.preview", 1, artifacts=(str(place / "root" / "work" / "a.png"),))
    target = place / "root" / "work" / "b.png"
    assert deliver_picture(outcome, target).ok
    (place / "root" / "work" / "c.png").symlink_to(place / "outside" / "a.png")
    assert deliver_picture(outcome, place / "root" / "work" / "c.png").ok, "the link is replaced, not followed"
    assert (place / "outside" / "a.png").read_bytes() == b"secret"
    swap(place)
    assert "has become a link" in deliver_picture(outcome, target).message


def test_the_server_shows_no_picture_that_a_link_leads_to(place: Path) -> None:
    workspace = place / "workspace"
    (workspace / "artifacts").mkdir(parents=True)
    (workspace / "artifacts" / "own.png").write_bytes(b"own")
    (workspace / "artifacts" / "link.png").symlink_to(place / "outside" / "a.png")
    parts: dict[str, Any] = {"workspace": workspace, "artifacts": workspace / "artifacts", "tools": {}, "macros": {}}
    context: Any = type("Context", (), parts)()
    picture = Resources(context)._kinds["artifacts"].read  # pyright: ignore[reportPrivateUsage]
    assert picture("own.png") == b"own"
    with pytest.raises(LookupError):
        picture("link.png")


# ---------------------------------------------------------------------- what stays possible


def test_links_that_lead_to_where_calls_may_be_still_work(access: FileAccess, place: Path) -> None:
    (place / "root" / "short").symlink_to(place / "root" / "work")
    args, findings = normalised(access, source=str(place / "root" / "short" / "a.png"))
    assert not findings and args["source"] == str(place / "root" / "work" / "a.png")
    staged = access.stage(TOOL, args, place / "scratch")
    assert Path(staged.paths[args["source"]]).read_bytes() == b"inside"


def test_a_path_with_detours_is_not_opened(place: Path) -> None:
    for path in (Path("root/work/a.png"), place / "root" / ".." / "outside" / "a.png"):
        with pytest.raises(OSError, match="its path is not absolute"):
            no_follow.open_file(path)
