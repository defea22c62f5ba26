"""The console as a person uses it, in a real browser: a run is watched, approved, declined, undone, compared, forked, turned and proven."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

import blendwright
from blendwright.journal import Journal
from blendwright.values.report import OperationReport, RunReport
from blendwright.workspace.run_records import RunRecords
from journal.ledger import baseline, chain
from support.hosts.consoles import OpenConsole, open_console
from support.plans.documents import box, of_operations, valid
from ui.conftest import LOOKS, PICTURES, SECONDS, go, serious_findings, width_of

Visit = Callable[..., Page]
HOSTILE = ("<img src=x onerror=alert(1)>", "\u202egnp.exe", "N" * 255)
VIEWS = ("history", "history/3", "plans", "approvals", "scene", "proof", "history/compare/2/3")


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("ui") / "workspace"
    operations = [
        box(id, args={"kind": "cube", "name": name, "location": [3 * at, 0, 0]})
        for at, (id, name) in enumerate(zip("abc", HOSTILE, strict=True))
    ]
    with blendwright.open(directory, spare=False) as scene:
        assert scene.run({"request_id": "made", "operations": [box("a"), box("b", "a"), box("c", "b")]}).ok
        assert scene.run({"request_id": "<b>hostile</b>", "operations": operations}).ok
    return directory


@pytest.fixture(scope="module")
def console(workspace: Path) -> Iterator[OpenConsole]:
    with open_console(workspace) as console:
        yield console


def test_a_run_of_another_process_is_watched_while_it_goes_on(
    console: OpenConsole, workspace: Path, visit: Visit
) -> None:
    page = visit(console, "plans")
    operations = [
        box(f"{n:04}", *([] if n < 20 else [f"{n - 20:04}"]), args={"kind": "cube", "name": f"Live {n}"})
        for n in range(200)
    ]
    states: list[str] = []

    def run() -> None:
        with blendwright.open(workspace, spare=False) as scene:
            states.append(scene.run({"request_id": "watched", "operations": operations}).status)

    running = threading.Thread(target=run)
    running.start()
    expect(page.locator(".plan h1", has_text="watched")).to_be_visible(timeout=SECONDS)
    expect(page.locator(".plan header .chip.ok")).to_have_text("succeeded", timeout=SECONDS)
    running.join()
    assert states == ["succeeded"]
    expect(page.locator(".plan header .dim")).to_contain_text("200 of 200 operations")
    expect(page.locator(".operation").first).to_contain_text("done")
    with blendwright.open(workspace, spare=False) as scene:
        scene.history.checkout(7)


def test_a_question_is_approved_and_another_declined(console: OpenConsole, workspace: Path, visit: Visit) -> None:
    page = visit(console, "approvals")
    with blendwright.open(workspace, spare=False) as scene:
        for name in ("Box c", "Box b"):
            delete = box("gone", tool_name="object.delete", args={"object": name}, safety_level="destructive")
            assert not scene.run({"request_id": f"remove {name}", "operations": [delete]}).ok
    expect(page.locator(".approval")).to_have_count(2)
    expect(page.locator(".tabs .count")).to_have_text("2")
    first = page.locator(".approval", has_text="Box c").first
    first.get_by_role("button", name="Preview its effects").click()
    expect(first.locator(".change-group", has_text="removed").first).to_be_visible(timeout=SECONDS)
    page.screenshot(path=PICTURES / "approvals-waiting.png")
    first.get_by_role("button", name="Approve once").click()
    expect(page.locator(".approval")).to_have_count(1)
    page.locator(".approval").get_by_role("button", name="Decline").click()
    expect(page.locator(".approval")).to_have_count(0)
    with blendwright.open(workspace, spare=False) as scene:
        delete = box("gone", tool_name="object.delete", args={"object": "Box c"}, safety_level="destructive")
        assert scene.run({"request_id": "remove Box c", "operations": [delete]}).ok
        scene.history.undo()


def test_undo_and_redo_and_a_comparison(console: OpenConsole, visit: Visit) -> None:
    page = visit(console, "history")
    head = page.locator(".commit-row.head .number")
    before = head.inner_text()
    page.get_by_role("button", name="Undo").click()
    expect(head).not_to_have_text(before, timeout=SECONDS)
    page.locator(".commit-row.head").click()
    page.get_by_role("button", name="Redo").click()
    expect(head).to_have_text(before, timeout=SECONDS)
    go(page, "history/compare/2/3")
    expect(page.locator(".change-group", has_text="Box b").first).to_be_visible(timeout=SECONDS)
    slider = page.locator(".slider input")
    slider.wait_for(timeout=SECONDS * 2)
    slider.focus()
    for _ in range(20):
        page.keyboard.press("ArrowLeft")
    assert page.locator(".slider").evaluate("element => element.style.getPropertyValue('--cut')") == "30%"


def test_a_fork_is_opened(console: OpenConsole, workspace: Path, visit: Visit) -> None:
    page = visit(console, "history/3")
    page.get_by_role("button", name="Fork").click()
    page.get_by_label("Directory").fill("forked")
    page.get_by_role("button", name="Fork", exact=True).last.click()
    expect(page.locator("select[aria-label=Workspace] option:checked")).to_have_text("forked", timeout=SECONDS)
    expect(page.locator(".commit-row")).to_have_count(1)
    assert (workspace.parent / "forked" / "journal.db").is_file()


def test_the_scene_is_turned_by_mouse_and_by_keys(console: OpenConsole, visit: Visit) -> None:
    page = visit(console, "scene/3")
    canvas = page.locator("canvas.scene-canvas")
    canvas.wait_for(timeout=SECONDS)
    position = "() => document.querySelector('.scene').view.position"
    first = page.evaluate(position)
    box = canvas.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 300, box["y"] + 300)
    page.mouse.down()
    page.mouse.move(box["x"] + 420, box["y"] + 330, steps=4)
    page.mouse.up()
    turned = page.evaluate(position)
    assert turned["turn"] != first["turn"]
    canvas.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("+")
    keyed = page.evaluate(position)
    assert keyed["turn"] > turned["turn"]
    assert keyed["away"] < turned["away"]
    page.mouse.wheel(0, 240)
    page.wait_for_timeout(100)
    assert page.evaluate(position)["away"] > keyed["away"]
    # Something was drawn: more than the two colours of the ground.
    shot = canvas.screenshot()
    assert len(shot) > 8000
    page.locator(".object-row button", has_text="Box a").first.click()
    assert page.evaluate("() => document.querySelector('.scene').view.selected") == "Box a"


def test_the_chain_is_verified(console: OpenConsole, visit: Visit) -> None:
    page = visit(console, "proof")
    expect(page.locator(".seal h2")).to_have_text("The audit chain is valid", timeout=SECONDS)
    expect(page.locator("tbody tr")).not_to_have_count(0)


def test_hostile_names_are_texts_and_nothing_else(console: OpenConsole, visit: Visit) -> None:
    """A dialog, an error or a request to elsewhere fails the test: `visit` sees to the first two."""
    page = visit(console, "history")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    for view in ("history", "history/5", "history/6", "plans", "scene/7"):
        go(page, view)
        page.wait_for_timeout(400)
    expect(page.locator(".object-row", has_text="<img src=x onerror=alert(1)>")).to_be_visible(timeout=SECONDS)
    expect(page.locator(".object-row", has_text="\\u{202e}gnp.exe")).to_be_visible()
    assert page.locator("img[src=x]").count() == 0
    assert all(url.startswith((console.origin, "blob:", "data:")) for url in asked), asked


def test_every_view_looks_right_and_is_accessible(console: OpenConsole, visit: Visit) -> None:
    """The pictures are for people; what axe finds serious fails the test."""
    serious: dict[str, Any] = {}
    for theme, width, height in LOOKS:
        page = visit(console, color_scheme=theme, viewport={"width": width, "height": height}, bypass_csp=True)
        for view in VIEWS:
            go(page, view)
            page.wait_for_timeout(500)
            page.locator(".waiting").first.wait_for(state="detached", timeout=SECONDS * 2)
            name = f"{view.replace('/', '-')}-{theme}-{width}"
            page.screenshot(path=PICTURES / f"{name}.png")
            wide = width_of(page)
            assert wide <= width, f"{name} is {wide} wide"
            if found := serious_findings(page):
                serious[name] = found
    assert serious == {}


def test_the_graph_of_a_thousand_operations_stays_fluid(tmp_path: Path, browser: Browser, visit: Visit) -> None:
    """In a trace of a run that is watched: the processor time of script between two frames, by the browser's own account. The journal is
    written as a run writes it, one operation at a time, so that the page is told two hundred times a second."""
    operations = [box(f"{n:04}", *([] if n < 50 else [f"{n - 50:04}"])) for n in range(1000)]
    schedule = valid(of_operations(*operations, request_id="long")).schedule("registry", "scene")
    names = [one.id for one in schedule.order]
    with contextlib.closing(Journal(tmp_path / "long")) as journal, open_console(tmp_path / "long") as console:
        journal.commit([baseline()])
        record = RunRecords(tmp_path / "long").begin(schedule)
        page = visit(console, "plans")
        page.locator(".plan header .chip.accent", has_text="running").wait_for(timeout=SECONDS)
        browser.start_tracing(page=page, categories=["devtools.timeline"])
        for entry in chain(names, request="long"):
            journal.commit([entry])
            page.wait_for_timeout(4)
        expect(page.locator(".plan header .dim")).to_contain_text("1,000 of 1,000 operations", timeout=SECONDS)
        trace: list[dict[str, Any]] = json.loads(browser.stop_tracing())["traceEvents"]
        page.screenshot(path=PICTURES / "plan-1000.png")
        done = tuple(OperationReport(id, "mesh.create_primitive", "succeeded", at) for at, id in enumerate(names))
        record.end(RunReport("operations", "long", "succeeded", done))
        expect(page.locator(".plan header .chip.ok")).to_have_text("succeeded", timeout=SECONDS)
    frames = _script_by_frame(trace)
    assert len(frames) > 20, "nothing was drawn while it ran"
    assert max(frames) < 16, sorted(frames)[-5:]


def _script_by_frame(trace: list[dict[str, Any]]) -> list[float]:
    """Milliseconds of script from one frame of the page's own thread to the next."""
    drawn = [one for one in trace if one["name"] == "FireAnimationFrame"]
    [thread] = {(one["pid"], one["tid"]) for one in drawn}
    ours = sorted((one for one in trace if (one["pid"], one["tid"]) == thread), key=lambda one: one["ts"])
    frames, spent, until = list[float](), 0.0, 0
    for one in ours:
        if one["name"] == "FireAnimationFrame":
            frames.append(spent / 1000)
            spent = 0.0
        # What is called by a call is part of it.
        elif one["name"] in ("FunctionCall", "RunMicrotasks") and one["ts"] >= until:
            spent += one.get("tdur", one.get("dur", 0))
            until = one["ts"] + one.get("dur", 0)
    return [*frames, spent / 1000]
