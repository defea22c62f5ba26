"""The door of the console: links, sessions, hosts, origins and tokens. On a real server; nothing here needs a Blender."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from blendwright.console import responses as answers
from blendwright.console import sessions
from blendwright.console.guard import MAX_BODY_BYTES, MAX_ENTRY_BYTES, PAGE_KEY
from blendwright.console.serve import ConsoleSettings, make_console
from blendwright.console.sessions import Sessions
from blendwright.journal import Journal
from blendwright.schemas.json_reader import read_json
from blendwright.values.errors import EnvironmentUnfit, Refusal
from blendwright.web.listening import free_port
from journal.ledger import baseline, chain
from support.hosts.consoles import OpenConsole, open_console


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("shown") / "workspace"
    journal = Journal(directory)
    journal.commit([baseline(), *chain(["a", "b"])])
    journal.close()
    return directory


@pytest.fixture(scope="module")
def console(workspace: Path) -> Iterator[OpenConsole]:
    with open_console(workspace) as console:
        yield console


def test_a_link_is_good_once(console: OpenConsole) -> None:
    secret = console.secret
    first = console.client().post("/api/session", json={"link": secret})
    assert first.status_code == 200
    stolen = console.client().post("/api/session", json={"link": secret})
    assert stolen.status_code == 401
    assert stolen.json()["error"]["code"] == "link_used"
    assert "set-cookie" not in stolen.headers


@pytest.mark.parametrize("link", ["", "guessed", "x" * 1001, None, 7])
def test_nothing_but_a_link_opens(console: OpenConsole, link: object) -> None:
    answer = console.client().post("/api/session", json={"link": link})
    assert answer.status_code in (401, 409)
    assert "set-cookie" not in answer.headers


def test_a_link_that_nobody_used_is_over_after_a_while() -> None:
    now = [0.0]
    kept = Sessions(lambda: now[0])
    link = kept.new_link()
    now[0] = sessions.LINK_SECONDS + 1
    assert kept.enter(link) is None


def test_a_session_that_nobody_uses_is_over_after_a_while() -> None:
    now = [0.0]
    kept = Sessions(lambda: now[0])
    session = kept.enter(kept.new_link())
    assert session is not None
    now[0] = sessions.IDLE_SECONDS - 1
    cookies = {session.id: session.secret}
    assert kept.find(session.key, cookies) is session
    now[0] = 2 * sessions.IDLE_SECONDS - 2
    assert kept.find(session.key, {}) is None, "a key alone does not keep a session either"
    now[0] += 2
    assert kept.find(session.key, cookies) is None


def test_the_cookie_is_kept_from_scripts_and_from_other_sites(console: OpenConsole) -> None:
    answer = console.client().post("/api/session", json={"link": console.secret})
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert "path=/" in cookie
    # The id that the audit names opens nothing.
    name, _, value = cookie.partition("=")
    assert answer.json()["session"] not in value
    web = console.client(Cookie=f"{name}={answer.json()['session']}")
    assert web.get("/api/session", headers={PAGE_KEY: answer.json()["key"]}).status_code == 401


def test_a_cookie_alone_opens_nothing(console: OpenConsole) -> None:
    """A browser sends it to every port of this machine, so to whoever listens there."""
    page, other = console.session(), console.session()
    stolen = httpx2.Client(base_url=console.origin, cookies=page.web.cookies, headers={"Origin": console.origin})
    own = {PAGE_KEY: page.told["key"]}
    with stolen:
        for headers in ({}, {PAGE_KEY: ""}, {PAGE_KEY: page.told["session"]}, {PAGE_KEY: other.told["key"]}):
            for path in ("/api/session", page.path, f"{page.path}/pictures/1", f"{page.path}/events"):
                answer = stolen.get(path, headers=headers)
                assert answer.status_code == 401, path
                assert answer.json()["error"]["cure"]
                assert page.told["key"] not in answer.text
            for path in (f"{page.path}/move", f"{page.path}/approvals/x"):
                assert stolen.post(path, json={"kind": "undo"}, headers=headers).status_code == 401
            assert stolen.delete("/api/session", headers=headers).status_code == 401
        assert stolen.get("/api/session", headers=own).status_code == 200
        assert "key" not in stolen.get("/api/session", headers=own).json(), "it is told once"
    # Nor does the key without the cookie.
    assert console.client(**own).get("/api/session").status_code == 401
    assert page.read()["head"] == 3


def test_tabs_of_one_browser_are_sessions_of_their_own(console: OpenConsole) -> None:
    first = console.session()
    second = first.web.post("/api/session", json={"link": console.secret}).json()
    assert second["session"] != first.told["session"]
    keys = [{PAGE_KEY: one["key"]} for one in (first.told, second)]
    told = [first.web.get("/api/session", headers=key).json()["session"] for key in keys]
    assert told == [first.told["session"], second["session"]]
    assert first.web.delete("/api/session", headers=keys[1]).status_code == 200
    assert [first.web.get("/api/session", headers=key).status_code for key in keys] == [200, 401]


def test_a_cookie_that_another_port_sets_does_not_lock_out(console: OpenConsole) -> None:
    page = console.session()
    own = "; ".join(f"{name}={value}" for name, value in page.web.cookies.items())
    answer = page.web.get("/api/session", headers={"Cookie": f'odd"[]=\\"; =; {own}'})
    assert answer.status_code == 200


def test_without_a_session_there_is_the_page_and_nothing_else(console: OpenConsole) -> None:
    web, known = console.client(), console.session().path
    assert web.get("/").status_code == 200
    assert web.get("/app.js").status_code == 200
    for path in ("/api/session", f"{known}/commits", "/api/x"):
        assert web.get(path).status_code == 401


@pytest.mark.parametrize(
    "path", ["/../application.py", "/%2e%2e/application.py", "/static/app.js", "//etc/passwd", "/app.py"]
)
def test_only_the_files_of_the_page_are_served(console: OpenConsole, path: str) -> None:
    assert console.client().get(path).status_code == 404


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "localhost:1", "127.0.0.1.evil.example"])
def test_a_name_that_only_leads_here_is_refused(console: OpenConsole, host: str) -> None:
    page = console.session()
    assert page.web.get("/api/session", headers={"Host": host}).status_code == 421
    assert page.web.get("/", headers={"Host": host}).status_code == 421


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "", "http://127.0.0.1:1"])
def test_a_forged_origin_is_refused_whatever_else_is_right(console: OpenConsole, origin: str) -> None:
    page = console.session()
    assert page.get("/commits").status_code == 200
    forged = {"Origin": origin}
    assert page.web.get(f"{page.path}/commits", headers=forged).status_code == 403
    assert page.web.post(f"{page.path}/move", json={"kind": "undo"}, headers=forged).status_code == 403


def test_another_site_is_refused_where_the_browser_says_so(console: OpenConsole) -> None:
    page = console.session()
    for site in ("cross-site", "same-site"):
        assert page.web.get(f"{page.path}/commits", headers={"Sec-Fetch-Site": site}).status_code == 403
    assert page.web.get(f"{page.path}/commits", headers={"Sec-Fetch-Site": "same-origin"}).status_code == 200


def test_something_outside_leads_to_the_page_and_to_nothing_else(console: OpenConsole) -> None:
    page = console.session()
    led = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    assert page.web.get("/", headers={**led, "Cookie": ""}).status_code == 200
    for path in ("/app.js", "/api/session", f"{page.path}/commits", f"{page.path}/scenes/1/blend?download=1"):
        assert page.web.get(path, headers=led).status_code == 403, path
    for name, other in (("Sec-Fetch-Dest", "iframe"), ("Sec-Fetch-Dest", "script"), ("Sec-Fetch-Mode", "no-cors")):
        assert page.web.get("/", headers={**led, name: other}).status_code == 403
    assert page.web.get("/", headers={**led, "Origin": "http://evil.example"}).status_code == 403


def test_links_are_for_a_window_with_its_key(workspace: Path, console: OpenConsole) -> None:
    page = console.session()
    for headers in ({}, {"X-Window-Key": ""}, {"X-Window-Key": "None"}):
        assert page.web.post("/api/links", headers=headers).status_code == 401, "no window is attached to this one"
    settings = ConsoleSettings((workspace,), port=1, window_key="a key")
    assert "a key" not in repr(settings)


def test_an_act_without_an_origin_is_refused(console: OpenConsole, workspace: Path) -> None:
    page = console.session()
    with httpx2.Client(base_url=console.origin, cookies=page.web.cookies) as bare:
        act = bare.post(f"{page.path}/move", json={"kind": "undo"}, headers={PAGE_KEY: page.told["key"]})
        assert act.status_code == 403
    assert page.read()["head"] == 3


def test_a_session_can_be_left(console: OpenConsole) -> None:
    page = console.session()
    cookies, key = dict(page.web.cookies), {PAGE_KEY: page.told["key"]}
    assert page.web.delete("/api/session").status_code == 200
    assert not page.web.cookies
    assert httpx2.get(f"{console.origin}/api/session", cookies=cookies, headers=key).status_code == 401


def test_a_browser_is_told_to_run_and_frame_nothing_else(console: OpenConsole) -> None:
    page = console.session()
    for path in ("/", "/app.js", f"{page.path}/commits", "/api/nothing"):
        headers = page.web.get(path).headers
        policy = headers["content-security-policy"]
        for part in (
            "default-src 'none'",
            "script-src 'self'",
            "frame-ancestors 'none'",
            "require-trusted-types-for 'script'",
        ):
            assert part in policy
        assert "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert "access-control-allow-origin" not in headers
    assert page.get("/commits").headers["cache-control"] == "no-store"


def test_the_page_has_no_script_and_no_style_inside() -> None:
    from blendwright.console.application import static_files

    page = static_files()["index.html"].content.decode()
    assert "style=" not in page
    assert "onload" not in page
    assert page.count("<script") == page.count("></script>") == 2
    for name, file in static_files().items():
        text = file.content.decode()
        for forbidden in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function"):
            assert forbidden not in text, (name, forbidden)
        assert "://" not in text.replace("http://www.w3.org/2000/svg", ""), name


def test_whoever_has_no_session_sends_little(console: OpenConsole) -> None:
    """What it sends is read before anybody knows who it is."""
    large = b'{"link": "' + b"x" * MAX_ENTRY_BYTES + b'"}'
    for web in (console.client(), console.session().web):
        assert web.post("/api/session", content=large).status_code == 413
        assert web.post("/api/session", content=iter([large])).status_code == 413
    assert console.client().post("/api/session", json={"link": console.secret}).status_code == 200


def test_a_large_act_does_not_hold_up_the_page(console: OpenConsole, monkeypatch: pytest.MonkeyPatch) -> None:
    page = console.session()
    begun, ends = threading.Event(), threading.Event()

    def slow(text: bytes) -> object:
        begun.set()
        assert ends.wait(60)
        return read_json(text)

    monkeypatch.setattr(answers, "read_json", slow)
    act = threading.Thread(target=lambda: page.act("/tags", name="", number=1))
    act.start()
    try:
        assert begun.wait(60)
        assert console.client().get("/", timeout=10).status_code == 200
    finally:
        ends.set()
        act.join(60)


def test_a_body_that_is_too_large_is_refused(console: OpenConsole) -> None:
    page = console.session()
    answer = page.web.post(f"{page.path}/tags", content=b" " * (MAX_BODY_BYTES + 1))
    assert answer.status_code == 413


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"{", b'{"kind": 1, "kind": 2}', b"\xff", b'{"kind": "leap"}', b'{"kind": "checkout"}']
)
def test_an_act_that_makes_no_sense_is_refused_with_a_reason(console: OpenConsole, body: bytes) -> None:
    page = console.session()
    answer = page.web.post(f"{page.path}/move", content=body)
    assert answer.status_code == 409
    assert answer.json()["error"]["message"]


def test_a_console_that_only_shows_does_nothing(workspace: Path) -> None:
    with open_console(workspace, read_only=True) as console:
        page = console.session()
        assert page.told["read_only"] is True
        assert page.read("/commits")["total"] == 3
        for path, fields in (
            ("/move", {"kind": "undo"}),
            ("/tags", {"name": "x", "number": 1}),
            ("/approvals/abc", {}),
        ):
            answer = page.act(path, **fields)
            assert answer.status_code == 403
            assert answer.json()["error"]["code"] == "read_only"
        assert page.web.delete("/api/session").status_code == 200


def test_a_workspace_that_another_process_holds_says_who(workspace: Path) -> None:
    journal = Journal(workspace)
    try:
        with open_console(workspace) as console:
            page = console.session()
            assert page.read()["holder"]["pid"] > 0
            answer = page.act("/move", kind="undo")
            assert answer.status_code == 423
            assert "in use by process" in answer.json()["error"]["message"]
            assert answer.json()["holder"]["pid"]
    finally:
        journal.close()


def test_others_can_reach_it_only_where_that_was_asked_for(workspace: Path, tmp_path: Path) -> None:
    with pytest.raises(Refusal, match="other machines can reach"):
        make_console(ConsoleSettings((workspace,), host="0.0.0.0", port=1))
    make_console(ConsoleSettings((workspace,), host="0.0.0.0", port=1, any_address=True)).close()
    with pytest.raises(Refusal, match="occurs twice"):
        make_console(ConsoleSettings((workspace, workspace), port=1))
    with pytest.raises(EnvironmentUnfit, match="cannot listen on"):
        free_port("192.0.2.1")
    with pytest.raises(EnvironmentUnfit, match="not a workspace"):
        make_console(ConsoleSettings((tmp_path / "nothing",), port=1))


def test_the_first_view_of_a_long_history_is_small(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "long")
    names = [f"operation-{number}" for number in range(4999)]
    journal.commit([baseline(), *chain(names, request="a long request")])
    journal.close()
    with open_console(tmp_path / "long") as console:
        page = console.session()
        files = ("/", "/style.css", "/theme.js", "/icon.svg", *_modules(console))
        size = sum(len(page.web.get(path).content) for path in files)
        size += (
            len(page.get().content)
            + len(page.get("/commits?offset=0&limit=50").content)
            + len(page.get("/commits/5000").content)
        )
        assert size < 300_000  # `make test-ui` measures the time
        middle = page.read("/commits?offset=2500&limit=50")
        assert [one["number"] for one in middle["commits"]] == list(range(2500, 2450, -1))
        assert page.read("/commits?offset=4999&limit=50")["commits"][0]["kind"] == "baseline"
        assert page.read("/commits?offset=5000&limit=50")["commits"] == []


def _modules(console: OpenConsole) -> list[str]:
    from blendwright.console.application import static_files

    return [f"/{name}" for name in static_files() if name.endswith(".js") and name != "theme.js"]


def test_names_of_commits_are_data_and_nothing_else(tmp_path: Path) -> None:
    hostile = [
        "<img src=x onerror=alert(1)>",
        "\u202egnp.exe",
        "x" * 10_000,
        "\x00\x1b[31m",
        "'; DROP TABLE commits; --",
    ]
    journal = Journal(tmp_path / "hostile")
    journal.commit([baseline(), *chain(hostile, request="<script>alert(1)</script>")])
    journal.close()
    with open_console(tmp_path / "hostile") as console:
        page = console.session()
        answer = page.get("/commits")
        assert answer.headers["content-type"] == "application/json"
        assert [one["operation"] for one in answer.json()["commits"][:5]] == hostile[::-1]
        assert page.read("/commits/2")["operation_id"] == hostile[0]


def test_what_another_process_does_is_seen(workspace: Path) -> None:
    with open_console(workspace) as console:
        page = console.session()
        with page.web.stream("GET", f"{page.path}/events") as stream:
            lines = stream.iter_lines()
            assert next(lines) == ": still here"
            journal = Journal(workspace)
            head = journal.head
            assert head is not None
            journal.commit(chain(["live"], before=head.hash_after, request="seen at once"))
            journal.close()
            told = next(line for line in lines if "seen at once" in line)
            assert '"status":"succeeded"' in told


@pytest.mark.parametrize("end", ["left", "replaced"])
def test_nothing_is_told_to_a_session_that_is_over(workspace: Path, end: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "MAX_SESSIONS", 2)
    with open_console(workspace) as console:
        page, other = console.session(), console.session()
        with page.web.stream("GET", f"{page.path}/events") as stream:
            lines = stream.iter_lines()
            assert next(lines) == ": still here"
            assert other.read()
            if end == "left":
                assert page.web.delete("/api/session").status_code == 200
            else:
                console.session()
            journal = Journal(workspace)
            head = journal.head
            assert head is not None
            journal.commit(chain([f"after {end}"], before=head.hash_after, request=f"it was {end}"))
            journal.close()
            assert not any(f"it was {end}" in line for line in lines), "the stream ends, and tells nothing of this"
        assert page.get().status_code == 401


@pytest.mark.parametrize(
    "path",
    ["scenes/{}/glb", "scenes/{}/blend", "scenes/{}/objects", "scenes/{}/audit", "compare/1/{}", "compare/{}/1/pictures",
     "pictures/{}", "commits/{}"],
)  # fmt: skip
def test_a_commit_that_is_not_there_is_said_without_a_blender(console: OpenConsole, path: str) -> None:
    page = console.session()
    assert page.get(f"/{path.format(77)}").status_code == 404
    # More digits than Python makes a number of.
    assert page.get(f"/{path.format('9' * 5000)}").status_code == 409


def test_every_module_of_the_first_view_is_asked_for_at_once() -> None:
    """What is found only when another one has come would add a round trip to the first view; what only other views need would be in
    its way."""
    from blendwright.console.application import static_files

    files = {name: file.content.decode() for name, file in static_files().items()}
    needed, new = {"theme.js"}, {"app.js"}
    while new:
        needed |= new
        new = {
            name for one in new for name in re.findall(r'^import .* from "\./(.+)";$', files[one], re.MULTILINE)
        } - needed
    assert needed == set(re.findall(r'"/([^"]+\.js)"', files["index.html"]))
