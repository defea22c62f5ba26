"""A batch in a real browser: it is watched while it runs on real Blender, its cases, failures and pictures are looked at, live."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from support.hosts.consoles import OpenConsole, open_console
from ui.conftest import LOOKS, PICTURES, SECONDS, go, serious_findings, width_of

Visit = Callable[..., Page]
HOSTILE = "<img src=x onerror=alert(1)>"
PROGRAM = """
seed = param("seed", 0)
name = param("name", "")
mesh.create_primitive(kind = ["cube", "cone", "torus", "uv_sphere"][seed % 4], name = "Thing %d" % seed)
if seed == 3:
    object.delete(object = "Nothing")
"""


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("batches")
    (place / "paint.star").write_text(PROGRAM)
    rows = [{"seed": seed, "name": HOSTILE if seed == 1 else f"Thing {seed}"} for seed in range(8)]
    (place / "rows.jsonl").write_text("\n".join(json.dumps(row) for row in rows))
    return place / "toys"


@pytest.fixture(scope="module")
def running(root: Path) -> Iterator[subprocess.Popen[str]]:
    """A run of all rows, in a process of its own; ended before anything else is looked at."""
    command = [sys.executable, "-m", "blendwright", "batch", "run", "paint.star", "--params", "rows.jsonl"]
    more = ["--output", "picture", "--workers", "1", "--out", str(root), "--approve", "destructive", "--keep", "keep"]
    with subprocess.Popen([*command, *more], cwd=root.parent, stdout=subprocess.DEVNULL, text=True) as process:
        yield process
        process.kill()


@pytest.fixture(scope="module")
def console(root: Path, running: subprocess.Popen[str]) -> Iterator[OpenConsole]:
    end = time.monotonic() + 60
    while not (root / "results.db").exists():
        assert time.monotonic() < end
        time.sleep(0.05)
    with open_console(batches=[root]) as console:
        yield console


def test_a_batch_is_watched_while_it_runs(console: OpenConsole, running: subprocess.Popen[str], visit: Visit) -> None:
    page = visit(console)
    expect(page.locator(".page h1")).to_have_text("toys")
    expect(page.locator(".card .chip").first).to_have_text("running", timeout=SECONDS)
    expect(page.locator("tbody tr")).to_have_count(8, timeout=SECONDS)
    page.locator("tbody tr a").nth(2).focus()
    expect(page.locator(".card p[role=status]")).to_contain_text("8 of 8 cases finished", timeout=SECONDS * 2)
    expect(page.locator("tbody .chip.ok")).to_have_count(7)
    # Rows were replaced while they changed, and the list stayed where it was.
    assert running.wait(60) == 1
    expect(page.locator(".card .chip").first).to_have_text("finished")
    expect(page.locator(".changes li")).to_contain_text("Nothing")
    expect(page.get_by_role("link", name="failed 1")).to_be_visible()


def test_cases_are_filtered_and_one_is_looked_at(console: OpenConsole, visit: Visit) -> None:
    page = visit(console)
    page.get_by_role("link", name="failed 1").click()
    expect(page.locator("tbody tr")).to_have_count(1)
    expect(page.locator("tbody .was")).to_contain_text("Nothing")
    page.locator("tbody a").click()
    expect(page.locator("article h1")).to_have_text("Case 000003")
    expect(page.locator("article .note.bad")).to_contain_text("TARGET_NOT_FOUND")
    page.get_by_role("link", name="Previous case").click()
    expect(page.locator("article h1")).to_have_text("Case 000002")
    picture = page.locator("article .figure img[src^=blob]")
    expect(picture).to_be_visible()
    assert picture.evaluate("image => image.decode().then(() => image.naturalWidth)") > 100
    with page.expect_download() as saved:
        page.get_by_role("button", name="picture.png").click()
    assert saved.value.path().read_bytes()[:4] == b"\x89PNG" and saved.value.suggested_filename == "picture.png"


def test_the_sheet_of_pictures_and_hostile_parameters(console: OpenConsole, visit: Visit) -> None:
    page = visit(console, "pictures")
    expect(page.locator(".tile")).to_have_count(8)
    pictures = page.locator(".tile img[src^=blob]")
    expect(pictures).to_have_count(7)
    decoded = "images => Promise.all(images.map(one => one.decode().then(() => one.naturalWidth)))"
    assert all(pictures.evaluate_all(decoded))
    page.locator(".tile").nth(1).click()
    expect(page.locator("article pre")).to_contain_text(HOSTILE)
    assert page.locator("img[src=x]").count() == 0


def test_every_view_of_a_batch_looks_right_and_is_accessible(console: OpenConsole, visit: Visit) -> None:
    serious: dict[str, list[str]] = {}
    for theme, width, height in LOOKS:
        page = visit(console, color_scheme=theme, viewport={"width": width, "height": height}, bypass_csp=True)
        for view in ("cases", "cases/failed/0", "pictures", "cases/case/2", "cases/case/3"):
            go(page, view)
            page.wait_for_timeout(400)
            page.locator(".waiting").first.wait_for(state="detached")
            page.wait_for_function(
                "[...document.querySelectorAll('main img')].every(one => one.complete && one.naturalWidth)"
            )
            name = f"batch-{view.replace('/', '-')}-{theme}-{width}"
            page.screenshot(path=PICTURES / f"{name}.png")
            assert width_of(page) <= width, name
            if found := serious_findings(page):
                serious[name] = found
    assert serious == {}
