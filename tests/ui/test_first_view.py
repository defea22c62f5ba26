"""The first view of a long history: how much comes, and how long it takes until commits are seen."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser

from blendwright.journal import Journal
from journal.ledger import baseline, chain
from support.hosts.consoles import open_console
from ui.conftest import PICTURES

COMMITS = 5000
TRIES = 5
LARGEST = 300_000


def test_the_first_view_of_five_thousand_commits_is_quick_and_small(tmp_path: Path, browser: Browser) -> None:
    """Best of several, since whatever else the machine does only adds to it; what the processor did for the page is judged where the clock
    on the wall is not fit: that of the page's own thread and of this process, in which the console is."""
    journal = Journal(tmp_path / "long")
    journal.commit([baseline(), *chain([f"op{number}" for number in range(COMMITS - 1)])])
    journal.close()
    seconds, processor, sizes = list[float](), list[float](), list[int]()
    with open_console(tmp_path / "long") as console:
        for _ in range(TRIES):
            context = browser.new_context(viewport={"width": 1360, "height": 860})
            page = context.new_page()
            client: Any = context.new_cdp_session(page)
            client.send("Network.enable")
            client.send("Performance.enable", {"timeDomain": "threadTicks"})
            size = [0]

            def count(event: dict[str, Any], size: list[int] = size) -> None:
                size[0] += event["encodedDataLength"]

            client.on("Network.loadingFinished", count)
            link, before, begun = console.link, time.process_time(), time.perf_counter()
            page.goto(link, wait_until="commit")
            page.wait_for_selector(".commit-row .number")
            seconds.append(time.perf_counter() - begun)
            told = {one["name"]: one["value"] for one in client.send("Performance.getMetrics")["metrics"]}
            processor.append(time.process_time() - before + told["TaskDuration"])
            page.wait_for_timeout(500)
            sizes.append(size[0])
            assert page.locator(".commit-row").count() >= 10
            context.close()
    figures = {"seconds": min(seconds), "processor": min(processor), "bytes": max(sizes)}
    (PICTURES / "first-view.json").write_text(json.dumps(figures))
    assert max(sizes) < LARGEST
    assert min(*seconds, *processor) < 1.0
