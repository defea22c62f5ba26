"""A real Chromium on a real console: every test here is marked `ui`, and leaves its pictures in build/ui."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Dialog, Page, sync_playwright

from blendwright.console.workspaces import POLL_SECONDS
from support.hosts.consoles import OpenConsole

HERE = Path(__file__).parent
PICTURES = HERE.parents[1] / "build" / "ui"
AXE = HERE.parents[1] / "build" / "npm" / "node_modules" / "axe-core" / "axe.min.js"
# WebGL without a graphics card, and a browser that speaks to nobody but the console.
ARGUMENTS = (
    "--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip
SECONDS = 90_000
LOOKS = [("light", 1360, 860), ("dark", 1360, 860), ("light", 400, 800), ("dark", 400, 800)]

assert POLL_SECONDS < 1, "tests wait for what is told at once"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker(pytest.mark.ui)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    program = shutil.which("chromium") or shutil.which("google-chrome")
    if program is None:
        pytest.fail("there is no Chromium: bash scripts/chromium")
    PICTURES.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=list(ARGUMENTS))
        yield browser
        browser.close()


@pytest.fixture
def visit(browser: Browser) -> Iterator[Callable[..., Page]]:
    """Open a console by a link of its terminal; whatever a page complains about fails the test."""
    contexts: list[BrowserContext] = []
    wrong: list[str] = []

    def visit(console: OpenConsole, view: str = "", **options: Any) -> Page:
        wanted: dict[str, Any] = {"viewport": {"width": 1360, "height": 860}} | options
        context = browser.new_context(**wanted)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(SECONDS)

        def on_dialog(dialog: Dialog) -> None:
            wrong.append(f"a dialog: {dialog.message}")
            dialog.dismiss()

        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("console", lambda said: wrong.append(said.text) if said.type == "error" and _ours(said.text) else None)
        page.on("dialog", on_dialog)
        page.goto(console.link)
        page.wait_for_selector(".tabs a[aria-current]")
        if view:
            go(page, view)
        return page

    yield visit
    for context in contexts:
        context.close()
    assert wrong == []


def _ours(text: str) -> bool:
    """A refusal that a test asks for is told by the browser as well."""
    return not text.startswith("Failed to load resource")


def go(page: Page, view: str) -> None:
    workspace = page.evaluate("location.hash").split("/")[1]
    page.evaluate("address => { location.hash = address; }", f"#/{workspace}/{view}")


def width_of(page: Page) -> int:
    """How wide the page is, and what scrolls in it as a whole: nobody should have to scroll sideways."""
    return page.evaluate("Math.max(document.documentElement.scrollWidth, document.querySelector('main').scrollWidth)")


def serious_findings(page: Page) -> list[str]:
    """What axe says of the page as it is now."""
    page.evaluate(AXE.read_text() + "; undefined")
    found: dict[str, Any] = page.evaluate("axe.run(document, { resultTypes: ['violations'] })")
    return [
        f"{one['id']}: {node['target']} {node['failureSummary']}"
        for one in found["violations"]
        if one["impact"] in ("serious", "critical")
        for node in one["nodes"][:3]
    ]
