"""Batches of a fleet in a real browser: progress that comes by itself, a database that goes away and comes back, and how it looks."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from blendwright.batch.definition import Batch, BatchSource, Output
from blendwright.batch.outputs.shared_storage import FsspecOutputs
from blendwright.batch.results.table import ResultRow
from blendwright.fleet.address import VARIABLE, Address
from blendwright.fleet.database import Database
from blendwright.fleet.results import PostgresResults
from fleet.cluster import Cluster, running_cluster
from support.hosts.consoles import OpenConsole, open_console
from ui.conftest import LOOKS, PICTURES, SECONDS, go, serious_findings, width_of

Visit = Callable[..., Page]
BATCH = Batch(BatchSource("prop.star", "x = 1"), (Output("picture", "picture.png"),), "f" * 64, "5.2.3")
PICTURE = Path(__file__).parents[2] / "docs" / "pictures" / "console-plan.png"


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    try:
        with running_cluster() as cluster:
            yield cluster
    except subprocess.CalledProcessError:
        pytest.skip("there is no PostgreSQL: bash scripts/postgresql")


class Farm:
    """A batch in a database, and whoever does its cases."""

    def __init__(self, database: Database, place: Path) -> None:
        self.place = place
        self.url = f"file://{place}/shared/props"
        self.store = FsspecOutputs(self.url)
        self.results = PostgresResults(database, self.url)
        self.results.begin(BATCH)
        self.results.add(BATCH, [({"seed": seed}, "") for seed in range(8)])

    def finish(self, seed: int) -> None:
        claim = self.results.claim(BATCH.case(0, {"seed": seed}).key, "machine-1:17")
        assert claim is not None
        row = ResultRow(claim.case.number, claim.case.key, claim.case.params, "done", times={"run": 0.8, "total": 1.1})
        document = row.to_json()
        if seed == 3:
            finding = {"code": "TARGET_NOT_FOUND", "message": "there is no object 'Door'", "cure": "Make it first."}
            document |= {"status": "failed", "findings": [finding]}
        else:
            staged = self.place / f"staged-{seed}"
            staged.mkdir()
            (staged / "picture.png").write_bytes(PICTURE.read_bytes())
            files = self.store.publish(staged, claim.case.name, claim.case.key, "hash").files
            document |= {"location": self.store.location(claim.case.name), "outputs": dict(files)}
        assert self.results.publish(ResultRow.from_json(json.loads(json.dumps(document))), claim.fence)


@pytest.fixture(scope="module")
def farm(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Farm]:
    database = Database(Address("it", cluster.new_database("page"))).open()
    yield Farm(database, tmp_path_factory.mktemp("farm"))
    database.close()


@pytest.fixture(scope="module")
def console(cluster: Cluster, farm: Farm) -> Iterator[OpenConsole]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv(VARIABLE, cluster.url("page"))
        with open_console(engine="env") as console:
            yield console


def test_progress_comes_by_itself_and_a_database_that_goes_away_comes_back(
    console: OpenConsole, farm: Farm, cluster: Cluster, visit: Visit
) -> None:
    page = visit(console)
    status, notes = page.locator(".card p[role=status]"), page.locator(".card .note.bad")
    expect(page.locator(".page h1")).to_have_text(farm.url)
    expect(page.locator(".page header p")).to_contain_text("prop.star in Blender 5.2.3 · results in postgres://")
    expect(status).to_contain_text("0 of 8 cases finished")
    for seed in range(4):
        farm.finish(seed)
    expect(status).to_contain_text("4 of 8 cases finished", timeout=SECONDS)
    expect(page.locator("tbody .chip.ok")).to_have_count(3, timeout=SECONDS)
    expect(page.locator(".changes li")).to_contain_text("Door")
    cluster.stop("QUIT")
    expect(notes).to_contain_text("does not answer", timeout=SECONDS)
    expect(page.locator(".card .chip").first).to_have_text("unknown")
    page.screenshot(path=PICTURES / "fleet-away-light-1360.png")
    late = visit(console)  # whoever comes meanwhile is told as well
    expect(late.locator(".card .note.bad").first).to_contain_text("does not answer", timeout=SECONDS)
    cluster.start()
    for one in (page, late):
        expect(one.locator(".card .note.bad")).to_have_count(0, timeout=SECONDS)
        expect(one.locator(".page header p")).to_contain_text("prop.star")
        expect(one.locator("tbody tr")).to_have_count(8, timeout=SECONDS)
    for seed in range(4, 8):
        farm.finish(seed)
    for one in (page, late):
        expect(one.locator(".card p[role=status]")).to_contain_text("8 of 8 cases finished", timeout=SECONDS)
        expect(one.locator(".card .chip").first).to_have_text("finished")
    assert cluster.password not in page.content() + late.content()


def test_every_view_of_a_fleet_looks_right_and_is_accessible(console: OpenConsole, visit: Visit) -> None:
    serious: dict[str, list[str]] = {}
    for theme, width, height in LOOKS:
        page = visit(console, color_scheme=theme, viewport={"width": width, "height": height}, bypass_csp=True)
        for view in ("cases", "pictures", "cases/case/2", "cases/case/3"):
            go(page, view)
            page.wait_for_timeout(400)
            page.locator(".waiting").first.wait_for(state="detached")
            page.wait_for_function(
                "[...document.querySelectorAll('main img')].every(one => one.complete && one.naturalWidth)"
            )
            name = f"fleet-{view.replace('/', '-')}-{theme}-{width}"
            page.screenshot(path=PICTURES / f"{name}.png")
            assert width_of(page) <= width, name
            if found := serious_findings(page):
                serious[name] = found
    assert serious == {}


def test_files_that_this_machine_cannot_read_are_named_without_a_link(
    console: OpenConsole, farm: Farm, visit: Visit
) -> None:
    cases = farm.place / "shared" / "props" / "cases"
    cases.rename(farm.place / "aside")
    try:
        page = visit(console, "cases/case/2")
        expect(page.locator("article")).to_contain_text("This machine cannot read the files")
        expect(page.locator("article table")).to_contain_text("picture.png")
        assert page.get_by_role("button", name="picture.png").count() == 0
        assert page.locator("article img").count() == 0
    finally:
        (farm.place / "aside").rename(cases)
