"""The batches of a fleet in the console, on a real PostgreSQL: what is shown while others write, and a database that goes away."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2
import psycopg
import pytest

from blendwright.batch.definition import Batch, BatchSource, Output
from blendwright.batch.outputs.shared_storage import FsspecOutputs
from blendwright.batch.outputs.store import attempt_name
from blendwright.batch.results.table import Counts, ResultRow
from blendwright.fleet import console_batches as fleet_batches
from blendwright.fleet import results_view
from blendwright.fleet.address import Address, read_address
from blendwright.fleet.console_batches import Fleet
from blendwright.fleet.database import Database
from blendwright.fleet.reading import MAX_CONNECTIONS, ReadingDatabase
from blendwright.fleet.results import PostgresResults
from blendwright.fleet.results_view import PostgresResultsView
from blendwright.values.errors import EnvironmentUnfit, Refusal
from fleet.cluster import Cluster
from fleet.machines import COMMAND, wait_until
from support.hosts.consoles import OpenConsole, Page, open_console

BATCH = Batch(BatchSource("prop.star", "x = 1"), (Output("picture", "picture.png"),), "f" * 64, "5.2.3")
PNG = b"\x89PNG\r\n\x1a\n" + b"picture"
OUTPUTS = ("scene.glb", "picture.png", "page.html")
HIDDEN = "never to be seen"


class Place:
    """A place of outputs, to which cases are published as lanes do it."""

    def __init__(self, database: Database, url: str) -> None:
        self.url = url
        self.store = FsspecOutputs(url)
        self.results = PostgresResults(database, url)

    def begin(self, cases: int, batch: Batch = BATCH) -> None:
        self.results.begin(batch)
        self.results.add(batch, [(params(seed), f"t.csv:{seed + 2}") for seed in range(cases)])

    def finish(self, seed: int, staging: Path, **changes: Any) -> None:
        claim = self.results.claim(BATCH.case(0, params(seed)).key, f"machine-{seed % 2}:17")
        assert claim is not None
        failed = seed % 5 == 4
        name = attempt_name(claim.case.number, claim.fence)
        files: dict[str, Any] = {}
        if not failed:
            staged = staging / f"staged-{os.urandom(4).hex()}"
            staged.mkdir()
            for output in OUTPUTS:
                (staged / output).write_bytes(PNG)
            files = dict(self.store.publish(staged, name, claim.case.key, "hash").files)
        finding = {"code": "TARGET_NOT_FOUND", "message": "there is no 'Door'", "cure": "Make it first."}
        row = ResultRow(
            claim.case.number, claim.case.key, claim.case.params, "failed" if failed else "done", "bw3:hash",
            None if failed else self.store.location(name), files, (finding,) if failed else (),
            {"run": 1.5, "total": 2.0}, operations=4, reused=3,
        )  # fmt: skip
        assert self.results.publish(replace(row, **changes), claim.fence)


def params(seed: int) -> dict[str, Any]:
    return {"seed": seed, "secret": HIDDEN}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the console is started, with a policy."""
    here = tmp_path / "here"
    here.mkdir()
    (here / "blendwright.toml").write_text('[audit]\nredact = ["secret"]\n')
    monkeypatch.chdir(here)
    return here


@pytest.fixture
def place(database: Database, tmp_path: Path, here: Path) -> Place:
    """Ten cases that ended, two of them badly, one that runs and one that waits."""
    place = Place(database, f"file://{tmp_path / 'props'}")
    place.begin(12)
    for seed in range(10):
        place.finish(seed, tmp_path)
    assert place.results.claim(BATCH.case(0, params(10)).key, "machine-0:17") is not None
    return place


@pytest.fixture
def console(place: Place) -> Iterator[OpenConsole]:
    with open_console(engine="env") as console:
        yield console


@pytest.fixture
def page(console: OpenConsole) -> Page:
    return console.session()


def do(database: Database, sql: Any, *bindings: Any) -> None:
    database.run(lambda connection: connection.execute(sql, bindings))


def test_a_fleet_is_shown_as_a_directory_is(page: Page, place: Place, cluster: Cluster) -> None:
    (told,) = page.told["batches"]
    assert told["name"] == place.url and told["engine"].startswith(f"postgres://{cluster.user}@127.0.0.1:")
    found = page.read()
    assert found["counts"] == {"waiting": 1, "running": 1, "done": 8, "failed": 2}
    assert (found["program"], found["blender"], found["runs"]) == ("prop.star", "5.2.3", False)
    assert found["failures"] == [{"code": "TARGET_NOT_FOUND", "message": "there is no 'Door'", "cases": 2}]
    first, last = page.read("/cases?limit=5"), page.read("/cases?limit=5&offset=10")
    assert (first["total"], [one["number"] for one in first["cases"]]) == (12, [0, 1, 2, 3, 4])
    assert [(one["number"], one["status"]) for one in last["cases"]] == [(10, "running"), (11, "waiting")]
    failed = page.read("/cases?status=failed&limit=1&offset=1")
    assert (failed["total"], [one["number"] for one in failed["cases"]]) == (2, [9])
    case = page.read("/cases/3")
    assert (case["source"], case["worker"], case["row"]["times"]["total"]) == ("t.csv:5", "machine-1:17", 2.0)
    assert [one["name"] for one in case["row"]["files"]] == sorted(OUTPUTS) and case["row"]["picture"] == "picture.png"
    assert page.read("/cases/4")["row"]["findings"][0]["cure"] == "Make it first."
    assert page.read("/cases/11")["row"] is None and page.get("/cases/12").status_code == 404


def test_what_the_policy_hides_is_not_shown(page: Page) -> None:
    assert page.read("/cases/3")["params"] == {"seed": 3, "secret": "…"}
    answers = [page.get(path).text for path in ("", "/cases", "/cases?status=failed", "/cases/4", "/cases/11")]
    assert not [text for text in answers if HIDDEN in text]


def test_files_are_shown_or_saved(page: Page) -> None:
    shown = page.get("/cases/3/files/picture.png")
    assert (shown.content, shown.headers["content-type"]) == (PNG, "image/png")
    saved = page.get("/cases/3/files/page.html")
    assert saved.headers["content-disposition"] == 'attachment; filename="000003-page.html"'
    for name in ("manifest.json", "..%2f000001%2fpicture.png", "%2fetc%2fpasswd", "."):
        assert page.get(f"/cases/3/files/{name}").status_code == 404, name


def test_no_row_leads_out_of_its_place(place: Place, tmp_path: Path) -> None:
    secret = tmp_path / "secret" / "cases" / "000012"
    secret.mkdir(parents=True)
    (secret / "picture.png").write_bytes(b"secret")
    above = "../../../secret/cases/000012/picture.png"
    away: dict[str, Any] = {above: {}, str(secret / "picture.png"): {}, "picture.png": {}}
    place.begin(17)
    place.finish(12, tmp_path, outputs=away, location=f"file://{secret}")
    place.finish(13, tmp_path, outputs=away, location=f"{place.url}/cases/000003")
    for seed in (15, 16):
        place.finish(seed, tmp_path)
    cases = tmp_path / "props" / "cases"
    (cases / "000012" / "picture.png").unlink()
    (cases / "000012" / "picture.png").symlink_to(secret / "picture.png")
    (cases / "000015").rename(cases / "aside")
    (cases / "000015").symlink_to(secret)
    (cases / "000016" / "picture.png").unlink()
    os.mkfifo(cases / "000016" / "picture.png")
    with open_console(engine="env") as console:
        page = console.session()
        ways = (
            "picture.png",
            "..%2f..%2f..%2fsecret%2fcases%2f000012%2fpicture.png",
            f"%2f{str(secret)[1:]}%2fpicture.png",
        )
        answers = [page.get(f"/cases/{n}/files/{name}") for n in (12, 13, 15, 16) for name in ways]
    assert {answer.status_code for answer in answers} == {404}
    assert not [answer for answer in answers if b"secret" in answer.content]


def test_files_on_storage_are_read_through_it(database: Database, here: Path, tmp_path: Path) -> None:
    """The storage of one process, which is that of the console here; S3 is read by the same code."""
    place = Place(database, "memory://props")
    place.begin(1)
    place.finish(0, tmp_path)
    with open_console(engine="env", places=[place.url]) as console:
        page = console.session()
        assert page.read("/cases/0")["row"]["has_files"] and page.read("/cases")["cases"][0]["picture"] == "picture.png"
        assert page.get("/cases/0/files/picture.png").content == PNG
        place.store.remove("000000")
        assert page.get("/cases/0/files/picture.png").status_code == 404


@pytest.mark.parametrize("url", ["gs://bucket/props", "http://127.0.0.1:9/props", "file:///nowhere/at/all"])
def test_files_that_cannot_be_read_here_are_named_without_a_link(database: Database, place: Place, url: str) -> None:
    do(database, "UPDATE spaces SET outputs = %s", url)
    with open_console(engine="env") as console:
        page = console.session()
        case = page.read("/cases/3")["row"]
        assert (case["has_files"], case["picture"], len(case["files"])) == (False, None, 3)
        assert {one["picture"] for one in page.read("/cases")["cases"]} == {None}
        assert page.get("/cases/3/files/picture.png").status_code == 404


def test_places_come_with_the_newest_first_and_new_ones_without_a_restart(
    database: Database, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fleet_batches, "LIST_SECONDS", 0.0)
    Place(database, "memory://second").begin(1)
    with open_console(engine="env") as console, open_console(engine="env", places=[place.url]) as one:
        page = console.session()
        assert names(page) == ["memory://second", place.url] and names(one.session()) == [place.url]
        Place(database, "memory://third").begin(1)
        place.begin(12)
        again = page.web.get("/api/session").json()["batches"]
        assert [each["name"] for each in again] == [place.url, "memory://third", "memory://second"]
        assert page.web.get(f"/api/batches/{again[1]['id']}").json()["counts"]["waiting"] == 1
    with pytest.raises(Refusal, match=r"no batch was submitted to .* for memory://none"):
        Fleet("env", ["memory://none"]).open()


def names(page: Page) -> list[str]:
    return [each["name"] for each in page.told["batches"]]


def told(lines: Iterator[str], wanted: Sequence[str]) -> str:
    """What is told of the next event that says all of it."""
    return next(line for line in lines if line.startswith("data: ") and all(one in line for one in wanted))


def test_a_page_hears_how_far_it_is_while_cases_end(
    page: Page, place: Place, tmp_path: Path, database: Database
) -> None:
    with page.web.stream("GET", f"{page.path}/events") as stream:
        lines = stream.iter_lines()
        assert '"runs":false' in told(lines, ['"done":8'])
        place.finish(11, tmp_path)
        assert '"per_second":' in told(lines, ['"done":9', '"waiting":0'])
        do(database, "INSERT INTO procrastinate_workers DEFAULT VALUES")
        job = (
            "INSERT INTO procrastinate_jobs (queue_name, task_name, args, status, worker_id)"
            " SELECT 'q', 't', jsonb_build_object('outputs', %s::text, 'jobs', '[]'::jsonb), 'doing', id FROM procrastinate_workers"
        )
        do(database, job, place.url)
        told(lines, ['"runs":true'])
        # As of a worker that died, and nobody has taken up what it did.
        do(database, "UPDATE procrastinate_workers SET last_heartbeat = now() - interval '10 minutes'")
        told(lines, ['"runs":false'])


def test_a_database_that_goes_away_is_told_and_comes_back(
    page: Page, place: Place, cluster: Cluster, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with page.web.stream("GET", f"{page.path}/events") as stream:
        lines = stream.iter_lines()
        told(lines, ['"done":8'])
        answers = list[httpx2.Response]()
        for _ in range(2):
            cluster.stop("QUIT")
            try:
                answers = [page.get(path) for path in ("", "/cases", "/cases/3", "/cases/3/files/picture.png")]
                assert [answer.status_code for answer in answers] == [409] * 4
                assert all("does not answer" in answer.json()["error"]["message"] for answer in answers)
                assert "automatically" in answers[0].json()["error"]["cure"]
                assert "does not answer" in told(lines, ['"message":'])
                assert page.web.get("/api/session").json()["batches"] == page.told["batches"]
            finally:
                cluster.start()
            assert '"waiting":1' in told(lines, ['"done":8'])
    assert page.read()["counts"]["done"] == 8
    place.finish(11, tmp_path)
    wait_until(lambda: page.read()["counts"]["done"] == 9, 20, "what was written since is seen")
    assert not [answer for answer in answers if cluster.password in answer.text]
    assert "Traceback" not in caplog.text and cluster.password not in caplog.text


def test_nothing_can_be_written_and_nothing_takes_long(database: Database, place: Place) -> None:
    reading = ReadingDatabase(read_address("env"))
    sequence = "SELECT nextval('procrastinate_jobs_id_seq')"
    for sql in ("UPDATE cases SET status = 'waiting', row = NULL", "CREATE TABLE more (number integer)", sequence):
        with pytest.raises(EnvironmentUnfit, match="read-only transaction"):
            reading.all(sql)
    with pytest.raises(EnvironmentUnfit, match=r"did not answer within 0\.2 s"):
        reading.all("SELECT pg_sleep(10)", seconds=0.2)
    assert reading.all("SHOW default_transaction_read_only") == [("on",)]
    reading.close()
    assert place.results.counts(BATCH.id) == Counts(1, 1, 8, 2)


def test_looking_makes_no_tables_and_needs_no_right_but_to_read(cluster: Cluster, database_url: str) -> None:
    with pytest.raises(Refusal, match="no batch was submitted"):
        Fleet("env").open()
    with psycopg.connect(database_url, autocommit=True) as connection:
        assert connection.execute("SELECT to_regnamespace('blendwright')").fetchone() == (None,)
        database = Database(Address("the database", database_url)).open()
        Place(database, "memory://read").begin(3)
        database.close()
        connection.execute("DROP ROLE IF EXISTS looker")
        connection.execute("CREATE ROLE looker LOGIN PASSWORD 'looking'")
        reading = ReadingDatabase(Address("it", re.sub(r"//[^@]*@", "//looker:looking@", database_url)))
        with pytest.raises(EnvironmentUnfit, match=r"cannot be read: permission denied"):
            reading.places()
        connection.execute("GRANT USAGE ON SCHEMA blendwright TO looker")
        connection.execute("GRANT SELECT ON ALL TABLES IN SCHEMA blendwright TO looker")
        assert reading.places() == ["memory://read"]
        view = PostgresResultsView(reading, "memory://read")
        assert view.counts(BATCH.id) == Counts(waiting=3) and not view.is_worked_on()
        reading.close()
        connection.execute("UPDATE blendwright.version SET number = 99")
        with pytest.raises(EnvironmentUnfit, match="have version 99"):
            Fleet("env").open()


def test_many_who_look_share_few_connections(page: Page, database: Database) -> None:
    def look(n: int) -> int:
        return page.get(f"/cases/{n % 4}/files/picture.png").status_code

    with ThreadPoolExecutor(12) as pool:
        answers = list(pool.map(look, range(60)))
    sql = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'blendwright ui'"
    ((connections,),) = database.run(lambda connection: connection.execute(sql).fetchall())
    assert set(answers) == {200} and 1 <= connections <= MAX_CONNECTIONS


def test_what_takes_long_to_count_is_not_counted_for_everybody_who_looks(
    database: Database, place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(results_view, "PAUSES", 1e7)
    reading = ReadingDatabase(read_address("env"))
    view = PostgresResultsView(reading, place.url)
    before, counts = view.version(), view.counts(BATCH.id)
    place.finish(11, tmp_path)
    # Something was written, so lists are read again; what was counted stands meanwhile, and says how long.
    wait_until(lambda: view.version() != before, 30, "the server says that something was written")
    assert view.counts(BATCH.id) is counts and view.pause > 60
    total, cases = view.page(BATCH.id, offset=11, limit=5)
    assert (total, [one.status for one in cases]) == (12, ["done"])
    reading.close()


def test_rows_that_somebody_changed_take_nothing_with_them(database: Database, page: Page) -> None:
    do(database, """UPDATE cases SET row = '{"outputs": [5], "findings": 5}' WHERE number = 1""")
    do(database, "UPDATE cases SET params = '[1]' WHERE number = 2")
    large = "jsonb_build_object('source', repeat('x', 9000000))"
    do(database, f"UPDATE cases SET row = (row::jsonb || {large})::json WHERE number = 3")
    found = page.read("/cases")["cases"]
    assert [one["finding"] is not None for one in found[:5]] == [False, True, False, True, True]
    assert "is invalid" in page.read("/cases/3")["row"]["findings"][0]["message"]
    assert page.read("/cases/2")["params"] == {}
    do(database, """UPDATE cases SET row = '{"findings": [{"code": "\\u0000", "message": "x"}]}' WHERE number = 4""")
    wait_until(lambda: len(page.read()["failures"]) == 2, 20, "one reason is none that could be told")
    do(database, "UPDATE batches SET definition = '{}'")
    with open_console(engine="env") as another:
        answer = another.session().get()
    assert answer.status_code == 409 and "is invalid" in answer.json()["error"]["message"]


def test_the_password_is_nowhere_in_the_page_or_beside_it(place: Place, cluster: Cluster, here: Path) -> None:
    command = [*COMMAND, "ui", "--engine", "env", "--no-open"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=here, text=True, stdin=pipe, stdout=pipe, stderr=pipe) as process:
        try:
            assert process.stderr is not None and process.stdout is not None
            said = ""
            while (found := re.search(r"(http://\S+?)/#link=(\S+)", said)) is None:
                line = process.stderr.readline()
                assert line, said
                said += line
            with httpx2.Client(base_url=found[1], headers={"Origin": found[1]}, timeout=60) as web:
                entered = web.post("/api/session", json={"link": found[2]})
                web.headers["x-page-key"] = entered.json()["key"]
                path = f"/api/batches/{entered.json()['batches'][0]['id']}"
                shown = [entered.text, *(web.get(path + more).text for more in ("", "/cases", "/cases/3"))]
                cluster.stop("QUIT")
                try:
                    shown += [web.get(path).text, web.get("/api/session").text]
                finally:
                    cluster.start()
            title = Path(f"/proc/{process.pid}/cmdline").read_text()
            process.send_signal(signal.SIGTERM)
            said += process.stderr.read() + process.stdout.read()
            assert process.wait(60) == 0
        finally:
            process.kill()
    assert "prop.star" in shown[1] and "does not answer" in shown[-2]
    assert not [text for text in (*shown, said, title) if cluster.password in text]
    assert "Traceback" not in said
