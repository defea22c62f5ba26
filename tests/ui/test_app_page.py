"""The page of the MCP App in Chromium, shown by a minimal host: turned around, before and after, hostile names."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Frame, Page, expect

from blendwright.server.context import ServerContext
from blendwright.server.tools import apps
from server.test_apps import ShowsApps
from support.hosts.mcp import call, cube, operation, plan, served

HOST = Path(__file__).with_name("app_host.html")
PICTURES = Path(__file__).parents[2] / "build" / "ui"
# What a host applies to an app that names no domains.
POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; connect-src 'none'"
)
HOSTILE = "<img src=x onerror=parent.hurt=1>"
Ask = Callable[[str, dict[str, Any]], dict[str, Any]]
Show = Callable[..., Frame]


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> Generator[ServerContext]:
    with served(tmp_path_factory.mktemp("served") / "workspace") as context:
        yield context


@pytest.fixture
def page(browser: Browser) -> Generator[Page]:
    page = browser.new_page(viewport={"width": 800, "height": 760})
    yield page
    page.close()


@pytest.fixture(scope="module")
def ask(context: ServerContext) -> Generator[Ask]:
    """What a tool answers; in another thread, since this one drives the browser."""
    with ThreadPoolExecutor(1) as beside:

        def ask(tool: str, args: dict[str, Any]) -> dict[str, Any]:
            found = beside.submit(call, context, "legacy", tool, args, extensions=[ShowsApps()]).result()
            return found.model_dump(mode="json", by_alias=True, exclude_none=True)

        yield ask


@pytest.fixture
def show(page: Page, ask: Ask) -> Show:
    def call_tool(name: str, text: str) -> str:
        return json.dumps(ask(name, json.loads(text)))

    def show(tool: str, args: dict[str, Any], theme: str = "light") -> Frame:
        page.expose_function("callTool", call_tool)  # pyright: ignore[reportUnknownMemberType]
        page.goto(HOST.as_uri())
        page.evaluate("given => showApp(...given)", [apps.page(), POLICY, {"theme": theme}, args, ask(tool, args)])
        frame = page.frames[-1]
        expect(frame.locator("#state")).to_contain_text("Drag to turn", timeout=60_000)
        return frame

    return show


def test_a_picture_comes_with_the_scene_to_be_turned_around(page: Page, show: Show, ask: Ask) -> None:
    made = plan(
        "app",
        cube("a", "Box"),
        operation("b", "mesh.create_primitive", {"kind": "uv_sphere", "name": "Ball", "location": [3, 0, 0]}),
    )
    assert not ask("plan_execute", {"plan": made})["isError"]
    frame = show("scene_image", {"views": ["iso"], "width": 200, "height": 150})
    assert "2 objects" in frame.inner_text("#state") and not frame.is_visible("#before")
    before = frame.locator("canvas").screenshot()
    frame.locator("canvas").focus()
    for _ in range(4):
        page.keyboard.press("ArrowRight")
    frame.wait_for_timeout(300)
    assert frame.locator("canvas").screenshot() != before
    assert page.evaluate("seen.sizes.length") > 0
    PICTURES.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=PICTURES / "app-scene.png")


def test_a_preview_has_a_before_and_an_after_and_says_what_changes(page: Page, show: Show) -> None:
    would = plan(
        "would", operation("c", "mesh.create_primitive", {"kind": "cone", "name": HOSTILE, "location": [0, 3, 0]})
    )
    frame = show("plan_preview", {"plan": would}, theme="dark")
    frame.wait_for_selector("#sides:not([hidden])", timeout=60_000)
    assert HOSTILE in frame.inner_text("#changes")
    assert frame.locator("img").count() == 1 and page.evaluate("window.hurt") is None
    after = frame.inner_text("#state")
    page.screenshot(path=PICTURES / "app-preview.png")
    frame.click("#before")
    assert frame.inner_text("#state") != after and frame.get_attribute("#before", "aria-pressed") == "true"
    assert {"tools/call", "ui/initialize"} <= set(page.evaluate("seen.methods"))
