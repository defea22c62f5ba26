"""A tab in a real browser: it stays in when it is loaded again, another one needs a link of its own, and another port gets nothing."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx2
import pytest
from playwright.sync_api import Page, expect

from blendwright.journal import Journal
from journal.ledger import baseline, chain
from support.hosts.consoles import OpenConsole, open_console
from ui.conftest import SECONDS

Visit = Callable[..., Page]


@pytest.fixture(scope="module")
def console(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenConsole]:
    directory = tmp_path_factory.mktemp("tabs") / "workspace"
    journal = Journal(directory)
    journal.commit([baseline(), *chain(["a"])])
    journal.close()
    with open_console(directory) as console:
        yield console


@pytest.fixture
def other_port() -> Iterator[tuple[str, list[str]]]:
    """A page that anybody on this machine may serve, and the cookies that it was sent."""
    sent: list[str] = []

    class Other(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            sent.append(self.headers.get("Cookie", ""))
            self.send_response(200)
            self.send_header("content-type", "text/html")
            self.end_headers()
            self.wfile.write(b"<img src='/pixel'>")

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Other)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/", sent
    server.shutdown()
    server.server_close()
    thread.join(60)


def test_a_tab_stays_in_when_it_is_loaded_again(console: OpenConsole, visit: Visit) -> None:
    page = visit(console)
    page.reload()
    expect(page.locator(".tabs a[aria-current]")).to_be_visible(timeout=SECONDS)
    expect(page.locator(".live")).to_have_text("live", timeout=SECONDS)


def test_another_tab_needs_a_link_and_leaves_the_first_alone(console: OpenConsole, visit: Visit) -> None:
    page = visit(console)
    second = page.context.new_page()
    second.goto(console.origin)
    expect(second.locator("main.boot")).to_contain_text("This tab needs a new link", timeout=SECONDS)
    expect(second.locator("main.boot")).to_contain_text("blendwright ui")
    second.goto("about:blank")
    second.goto(console.link)
    expect(second.locator(".tabs a[aria-current]")).to_be_visible(timeout=SECONDS)
    page.reload()
    expect(page.locator(".tabs a[aria-current]")).to_be_visible(timeout=SECONDS)
    second.get_by_role("button", name="End this session").click()
    expect(second.locator("main.boot")).to_contain_text("This tab needs a new link", timeout=SECONDS)
    page.reload()
    expect(page.locator(".tabs a[aria-current]")).to_be_visible(timeout=SECONDS)


def test_what_another_port_of_this_machine_is_sent_opens_nothing(
    console: OpenConsole, visit: Visit, other_port: tuple[str, list[str]]
) -> None:
    address, sent = other_port
    page = visit(console)
    other = page.context.new_page()
    other.goto(address, wait_until="networkidle")
    cookie = next(one for one in sent if "blendwright" in one)
    assert other.evaluate("Object.keys(sessionStorage).length + Object.keys(localStorage).length") == 0
    workspace = page.evaluate("location.hash").split("/")[1]
    headers = {"Cookie": cookie, "Origin": console.origin}
    with httpx2.Client(base_url=console.origin, headers=headers) as thief:
        for path in ("/api/session", f"/api/workspaces/{workspace}", f"/api/workspaces/{workspace}/events"):
            assert thief.get(path).status_code == 401
        undo = thief.post(f"/api/workspaces/{workspace}/move", json={"kind": "undo"})
        assert undo.status_code == 401
