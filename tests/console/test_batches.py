"""Batches in the console: cases by pages, what became of each, and files that never lead out of the directory of a case."""

from __future__ import annotations

import os
import queue
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import apsw
import pytest

from blendwright.batch.console.batches import DirectoryBatch
from blendwright.batch.console.routes import picture_of
from blendwright.batch.definition import Batch, BatchSource, Output
from blendwright.batch.results.sqlite import FILE, SqliteResults
from blendwright.batch.results.table import ResultRow
from blendwright.console.guard import POLICY
from blendwright.console.serve import ConsoleSettings, make_console
from blendwright.values.errors import EnvironmentUnfit, Refusal
from support.hosts.consoles import OpenConsole, Page, open_console

BATCH = Batch(BatchSource("toys.star", "x = 1"), (Output("picture", "picture.png"),), "registry", "5.2.3")
HOSTILE = "<img src=x onerror=alert(1)>"
PNG = b"\x89PNG\r\n\x1a\n" + b"picture"
OUTPUTS = ("scene.glb", "annotations/mask.png", "picture.png", "page.html", 'odd "name".txt')


def finish(results: SqliteResults, root: Path, seed: int, **changes: Any) -> None:
    """Publish a case as a lane does: files in its directory, then the row."""
    params = {"seed": seed, "name": HOSTILE}
    claim = results.claim(BATCH.case(0, params).key, f"lane-{seed % 2}")
    assert claim is not None
    directory = root / "cases" / claim.case.name
    for name in OUTPUTS:
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        (directory / name).write_bytes(PNG)
    failed = seed % 5 == 4
    finding = {"code": "TARGET_NOT_FOUND", "message": f"there is no '{HOSTILE}'", "cure": "Make it first."}
    made = ResultRow(
        claim.case.number, claim.case.key, params, "failed" if failed else "done", "bw3:hash", str(directory),
        outputs={} if failed else {name: {"path": name, "sha256": "0" * 64, "bytes": len(PNG)} for name in OUTPUTS},
        findings=(finding,) if failed else (), times={"run": 1.5, "total": 2.0}, operations=4, reused=3,
    )  # fmt: skip
    assert results.publish(replace(made, **changes), claim.fence)


def begin(root: Path, cases: int) -> SqliteResults:
    results = SqliteResults(root / FILE)
    results.begin(BATCH)
    results.add(BATCH, [({"seed": seed, "name": HOSTILE}, f"t.csv:{seed + 2}") for seed in range(cases)])
    return results


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("batch") / "toys"
    with begin(root, 12) as results:
        for seed in range(10):
            finish(results, root, seed)
        assert results.claim(BATCH.case(0, {"seed": 10, "name": HOSTILE}).key, "lane-0") is not None
    return root


@pytest.fixture(scope="module")
def console(root: Path) -> Iterator[OpenConsole]:
    with open_console(batches=[root]) as console:
        yield console


@pytest.fixture
def page(console: OpenConsole) -> Page:
    return console.session()


def test_how_far_a_batch_is_and_why_cases_failed(page: Page, root: Path) -> None:
    told = page.web.get("/api/session").json()
    assert told["workspaces"] == [] and [one["name"] for one in told["batches"]] == ["toys"]
    found = page.read()
    assert found["counts"] == {"waiting": 1, "running": 1, "done": 8, "failed": 2}
    assert (found["program"], found["blender"], found["runs"]) == ("toys.star", "5.2.3", False)
    assert found["failures"] == [{"code": "TARGET_NOT_FOUND", "message": f"there is no '{HOSTILE}'", "cases": 2}]


def test_cases_come_by_pages_and_by_their_status(page: Page) -> None:
    first, second = page.read("/cases?limit=5"), page.read("/cases?limit=5&offset=10")
    assert (first["total"], [one["number"] for one in first["cases"]]) == (12, [0, 1, 2, 3, 4])
    assert [(one["number"], one["status"]) for one in second["cases"]] == [(10, "running"), (11, "waiting")]
    failed = page.read("/cases?status=failed")
    assert [one["number"] for one in failed["cases"]] == [4, 9] and failed["total"] == 2
    assert failed["cases"][0]["finding"].startswith("there is no") and failed["cases"][0]["picture"] is None
    done = first["cases"][0]
    assert (done["picture"], done["seconds"]) == ("picture.png", 2.0) and HOSTILE in done["params"]
    for wrong in ("status=lost", "limit=0", "limit=101", "offset=-1", "offset=x"):
        assert page.get(f"/cases?{wrong}").status_code == 409, wrong


def test_one_case_is_told_whole(page: Page) -> None:
    done = page.read("/cases/3")
    assert (done["params"], done["source"]) == ({"seed": 3, "name": HOSTILE}, "t.csv:5")
    row = done["row"]
    assert (row["scene_hash"], row["times"], row["reused"]) == ("bw3:hash", {"run": 1.5, "total": 2.0}, 3)
    assert [one["name"] for one in row["files"]] == list(OUTPUTS) and row["files"][0]["sha256"] == "0" * 64
    failed = page.read("/cases/4")
    assert failed["row"]["findings"][0]["cure"] == "Make it first." and failed["row"]["files"] == []
    assert page.read("/cases/11")["row"] is None
    assert page.get("/cases/12").status_code == 404


@pytest.mark.parametrize(
    ("names", "shown"),
    [
        (("annotations/0000_depth.png", "annotations/0000_color.png"), "annotations/0000_color.png"),
        (("annotations/0000_color.png", "still.PNG", "front.png"), "still.PNG"),
        (("still.exr", "scene.glb"), None),
    ],
)
def test_the_picture_of_a_case_is_what_a_camera_saw(names: tuple[str, ...], shown: str | None) -> None:
    row = ResultRow(0, "0" * 64, {}, "done", outputs={name: {} for name in names})
    assert picture_of(row) == shown


def test_pictures_are_shown_and_everything_else_is_saved(page: Page) -> None:
    shown = page.get("/cases/3/files/picture.png")
    assert (shown.content, shown.headers["content-type"]) == (PNG, "image/png")
    assert shown.headers["content-security-policy"] == POLICY and shown.headers["x-content-type-options"] == "nosniff"
    assert page.get("/cases/3/files/annotations/mask.png").status_code == 200
    for name, saved in (("page.html", "page.html"), ("scene.glb", "scene.glb"), ('odd "name".txt', "odd__name_.txt")):
        answer = page.get(f"/cases/3/files/{name}")
        assert answer.status_code == 200 and answer.headers["content-type"] == "application/octet-stream"
        assert answer.headers["content-disposition"] == f'attachment; filename="000003-{saved}"'


@pytest.mark.parametrize(
    "name",
    ["manifest.json", "../000001/picture.png", "..%2f000001%2fpicture.png", "%2fetc%2fpasswd", "picture.png%00", "."],
)
def test_only_files_of_the_row_are_served(page: Page, root: Path, name: str) -> None:
    (root / "cases" / "000003" / "manifest.json").write_text("{}")
    assert page.get(f"/cases/3/files/{name}").status_code == 404


def test_no_way_out_of_the_directory_of_a_case(tmp_path: Path) -> None:
    """Whoever can write rows, or puts links where files were, still reads nothing of elsewhere with this page."""
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "picture.png").write_bytes(b"secret")
    root = tmp_path / "toys"
    away: dict[str, Any] = {"../../../secret/picture.png": {}, str(secret / "picture.png"): {}, "picture.png": {}}
    with begin(root, 5) as results:
        finish(results, root, 0, outputs=away)
        finish(results, root, 1, location=str(secret))
        finish(results, root, 2)
        finish(results, root, 3)
        finish(results, root, 4, outputs=away, location=str(root / "cases" / "000001"))
    (root / "cases" / "000000" / "picture.png").unlink()
    (root / "cases" / "000000" / "picture.png").symlink_to(secret / "picture.png")
    (root / "cases" / "000002").rename(root / "cases" / "moved")
    (root / "cases" / "000002").symlink_to(secret)
    (root / "cases" / "000003" / "picture.png").unlink()
    os.mkfifo(root / "cases" / "000003" / "picture.png")
    with open_console(batches=[root]) as console:
        page = console.session()
        for name in ("picture.png", "..%2f..%2f..%2fsecret%2fpicture.png", f"%2f{str(secret)[1:]}%2fpicture.png"):
            assert page.get(f"/cases/0/files/{name}").status_code == 404
        for n in (1, 2, 3, 4):
            answer = page.get(f"/cases/{n}/files/picture.png")
            assert answer.status_code == 404 and b"secret" not in answer.content


def test_a_batch_is_read_only_and_needs_a_session(page: Page, console: OpenConsole) -> None:
    for path in ("", "/cases", "/cases/3", "/cases/3/files/picture.png", "/events"):
        assert console.client().get(page.path + path).status_code == 401
    assert page.act("/cases/3").status_code == 405
    assert page.web.get("/api/batches/nothing").status_code == 404


def test_a_page_hears_of_every_case_that_ends(tmp_path: Path) -> None:
    root = tmp_path / "toys"
    with begin(root, 3) as results, open_console(batches=[root]) as console:
        page = console.session()
        with page.web.stream("GET", f"{page.path}/events") as stream:
            lines = (line for line in stream.iter_lines() if line.startswith("data: "))
            assert '"waiting":3' in next(lines)
            finish(results, root, 0)
            while '"done":1' not in (line := next(lines)):
                pass
            finish(results, root, 1)
            while '"done":2' not in (line := next(lines)):
                pass
            assert '"per_second":' in line and '"seconds_left":' in line


def test_a_batch_that_cannot_be_read_now_is_told_and_gone_on_with(tmp_path: Path) -> None:
    root = tmp_path / "toys"
    with begin(root, 1), open_console(batches=[root]) as console:
        page = console.session()
        root.rename(tmp_path / "aside")
        with page.web.stream("GET", f"{page.path}/events") as stream:
            told = (line for line in stream.iter_lines() if line.startswith(("event: ", "data: ")))
            assert next(told) == "event: away" and "contains no batch" in next(told)
            (tmp_path / "aside").rename(root)
            assert next(told) == "event: changes" and '"waiting":1' in next(told)


def test_every_time_that_a_batch_goes_away_is_told_once(root: Path) -> None:
    away, ended, heard = threading.Event(), threading.Event(), queue.SimpleQueue[str]()

    class Batch(DirectoryBatch):
        def runs(self) -> bool:
            if away.is_set():
                raise EnvironmentUnfit("it is away")
            return super().runs()

    def hear(event: str, _: object) -> None:
        heard.put(event)

    following = threading.Thread(target=Batch(root).follow, args=(ended, hear))
    following.start()
    try:
        for _ in range(2):
            assert heard.get(timeout=60) == "changes"
            away.set()
            assert heard.get(timeout=60) == "away"
            with pytest.raises(queue.Empty):
                heard.get(timeout=1.5)
            away.clear()
    finally:
        ended.set()
        following.join(60)


def test_a_row_that_somebody_changed_takes_no_page_with_it(tmp_path: Path) -> None:
    root = tmp_path / "toys"
    with begin(root, 3) as results:
        for seed in range(3):
            finish(results, root, seed)
    connection: Any = apsw.Connection(str(root / FILE))
    connection.execute("""UPDATE cases SET row = '{"outputs": [5], "findings": []}' WHERE number = 1""")
    connection.close()
    with open_console(batches=[root]) as console:
        page = console.session()
        assert [one["finding"] is None for one in page.read("/cases")["cases"]] == [True, False, True]
        assert "is invalid" in page.read("/cases/1")["row"]["findings"][0]["message"]
        assert page.get("/cases/1/files/picture.png").status_code == 404


@pytest.mark.slow
def test_ten_thousand_cases_stay_quick_and_small(tmp_path: Path) -> None:
    root = tmp_path / "many"
    with begin(root, 10_000), open_console(batches=[root]) as console:
        page = console.session()
        before = time.process_time()
        answers = [page.get(path) for path in ("", "/cases?offset=9900", "/cases?offset=4000&status=waiting")]
        spent = time.process_time() - before
    assert all(answer.status_code == 200 and len(answer.content) < 30_000 for answer in answers)
    assert answers[1].json()["cases"][0]["number"] == 9900
    # Server and client are in this process; each answer takes a few hundredths of a second at most.
    assert spent < 1.0


def test_a_table_that_is_not_made_yet_is_newer_or_damaged(tmp_path: Path) -> None:
    (tmp_path / FILE).touch()
    with open_console(batches=[tmp_path]) as console:
        page = console.session()
        assert page.read()["program"] is None and page.read("/cases") == {"total": 0, "cases": []}
        connection: Any = apsw.Connection(str(tmp_path / FILE))
        connection.execute("PRAGMA user_version = 99")
        newer = page.get()
        assert newer.status_code == 409 and "schema version 99" in newer.json()["error"]["message"]
        connection.close()
        (tmp_path / FILE).write_bytes(b"nothing of the kind" * 100)
        damaged = page.get("/cases")
        assert damaged.status_code == 500 and "results.db is damaged" in damaged.json()["error"]["message"]


def test_what_is_no_batch_is_said(tmp_path: Path, root: Path) -> None:
    with pytest.raises(Refusal, match="contains no batch"):
        make_console(ConsoleSettings((), (tmp_path,), port=1))
    with pytest.raises(Refusal, match="twice"):
        make_console(ConsoleSettings((), (root, root), port=1))
