"""The file that a window opens, followed by a real browser: it leads into the console, once."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Browser, expect

from blendwright.blender.window.console_page import write_console_page
from blendwright.journal import Journal
from journal.ledger import baseline, chain
from support.hosts.consoles import open_console

KEY = "the key of a window"


def test_a_browser_follows_the_file_into_the_console_once(tmp_path: Path, browser: Browser) -> None:
    journal = Journal(tmp_path / "workspace")
    journal.commit([baseline(), *chain(["a"])])
    journal.close()
    with open_console(tmp_path / "workspace", window_key=KEY) as console:
        core = {"console": f"{console.origin}/", "console_key": KEY}
        address = write_console_page(tmp_path, core)
        first, second = browser.new_context(), browser.new_context()
        page = first.new_page()
        page.goto(address)
        page.wait_for_selector(".tabs a[aria-current]", timeout=60_000)
        assert page.url.startswith(f"{console.origin}/") and "link" not in page.url
        # Somebody who gets hold of the file later is not let in.
        late = second.new_page()
        late.goto(address)
        expect(late.locator("main.boot")).to_contain_text("this link was already used", timeout=60_000)
        late.goto(write_console_page(tmp_path, core))
        late.wait_for_selector(".tabs a[aria-current]", timeout=60_000)
        first.close()
        second.close()
