"""Lines in a real browser: two branches merged, a conflict with its cure, and the search for the commit that broke a check, watched."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

import blendwright
from support.hosts.consoles import OpenConsole, open_console
from support.plans.documents import box
from ui.conftest import LOOKS, PICTURES, SECONDS, go, serious_findings, width_of

Visit = Callable[..., Page]
HOSTILE = "<img src=x onerror=alert(1)>"


def moved(id: str, x: float) -> dict[str, Any]:
    return box(id, tool_name="object.transform", args={"object": "Box a", "location": [x, 0, 0]})


@pytest.fixture(scope="module")
def console(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenConsole]:
    directory: Path = tmp_path_factory.mktemp("lines") / "workspace"
    with blendwright.open(directory, spare=False) as scene:
        assert scene.run({"request_id": "made", "operations": [box("a"), box("b", "a")]}).ok
        scene.history.switch("side", create_at=3)
        assert scene.run({"request_id": HOSTILE, "operations": [box("c")]}).ok
        scene.history.switch("clash", create_at=3)
        assert scene.run({"request_id": HOSTILE, "operations": [moved("m", 5)]}).ok
        scene.history.switch("main")
        assert scene.run({"request_id": "broke it", "operations": [moved("m", -5)]}).ok
        assert scene.run({"request_id": "later", "operations": [box("d"), box("e", "d"), box("f", "e")]}).ok
    with open_console(directory) as console:
        yield console


def test_the_guilty_commit_is_found(console: OpenConsole, visit: Visit) -> None:
    page = visit(console, "lines")
    page.get_by_label("Condition").fill('scene.objects["Box a"].location[0] > -1')
    page.get_by_label("It holds at").fill("2")
    page.get_by_role("button", name="Search").click()
    expect(page.locator(".looked li").first).to_be_visible(timeout=SECONDS)
    expect(page.locator(".guilty h3")).to_contain_text("fails at commit 6", timeout=SECONDS)
    expect(page.locator(".guilty")).to_contain_text("broke it")
    expect(page.locator(".looked .found")).to_contain_text("#6 fails")
    page.get_by_role("link", name="Open commit 6").click()
    expect(page.locator("article .chip", has_text="#6")).to_be_visible(timeout=SECONDS)
    # Whoever comes later sees what was found.
    expect(visit(console, "lines").locator(".guilty h3")).to_contain_text("commit 6", timeout=SECONDS)


def test_every_look_of_lines_is_right_and_accessible(console: OpenConsole, visit: Visit) -> None:
    serious: dict[str, list[str]] = {}
    for theme, width, height in LOOKS:
        page = visit(console, color_scheme=theme, viewport={"width": width, "height": height}, bypass_csp=True)
        go(page, "lines")
        for source, shown in (("clash", ".note.bad"), ("side", ".note.info")):
            page.get_by_label("From").select_option(source)
            expect(page.locator(shown).first).to_be_visible()
            page.wait_for_timeout(300)
            name = f"lines-{source}-{theme}-{width}"
            page.screenshot(path=PICTURES / f"{name}.png")
            assert width_of(page) <= width, name
            if found := serious_findings(page):
                serious[name] = found
    assert serious == {}


def test_a_conflict_is_shown_with_its_cure_and_another_line_is_merged(console: OpenConsole, visit: Visit) -> None:
    page = visit(console, "lines")
    press = page.get_by_role("button", name="Merge")
    page.get_by_label("From").select_option("clash")
    expect(page.locator(".note.bad")).to_contain_text("'Box a' (objects)")
    expect(page.locator(".note.bad")).to_contain_text("Undo one of the two")
    expect(press).to_be_disabled()
    assert page.locator("img[src=x]").count() == 0
    page.get_by_label("From").select_option("side")
    expect(page.locator(".note.info")).to_contain_text("1 commit since commit 3")
    press.click()
    expect(page.locator(".toasts .note.ok")).to_contain_text("Merged: HEAD is at commit 10", timeout=SECONDS)
    expect(page.locator(".page .note.ok")).to_contain_text("side is already merged")
