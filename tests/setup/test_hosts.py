from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from blendwright.setup.hosts import HOSTS, entry, host_named, install, installed, snippet
from blendwright.values.errors import EnvironmentUnfit, Refusal

ROOT = Path(__file__).parents[2]


@pytest.fixture(params=sorted(HOSTS))
def place(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, Path]:
    host = HOSTS[request.param]
    return host.name, host.file("user" if host.user else "project", home=tmp_path, project=tmp_path)


def test_an_entry_goes_in_once_and_can_be_read_back(place: tuple[str, Path], tmp_path: Path) -> None:
    name, file = place
    host = host_named(name)
    wanted = entry(host, tmp_path / "work space")
    assert installed(host, file) is None
    assert install(host, file, wanted)
    assert installed(host, file) == wanted
    assert not install(host, file, wanted)
    assert wanted["args"][-5:] == ["serve", "--workspace", str(tmp_path / "work space"), "--directory", str(tmp_path)]


def test_another_entry_is_replaced_only_when_asked_to(place: tuple[str, Path], tmp_path: Path) -> None:
    name, file = place
    host = host_named(name)
    install(host, file, entry(host, tmp_path / "a"))
    other = entry(host, tmp_path / "b")
    with pytest.raises(Refusal, match="another entry"):
        install(host, file, other)
    assert install(host, file, other, replace=True)
    assert installed(host, file) == other


def test_the_rest_of_a_json_file_stays(tmp_path: Path) -> None:
    host = host_named("gemini-cli")
    file = tmp_path / "settings.json"
    file.write_text(json.dumps({"theme": "dark", "mcpServers": {"other": {"command": "x"}}}))
    install(host, file, entry(host, tmp_path))
    found = json.loads(file.read_text())
    assert found["theme"] == "dark"
    assert found["mcpServers"]["other"] == {"command": "x"}


def test_comments_and_order_of_a_toml_file_stay(tmp_path: Path) -> None:
    host = host_named("codex")
    file = tmp_path / "config.toml"
    before = '# mine\nmodel = "m"\n\n[mcp_servers.blendwright]\ncommand = "old"\n\n[mcp_servers.other]\ncommand = "x" # keep\n'
    file.write_text(before)
    install(host, file, entry(host, tmp_path), replace=True)
    text = file.read_text()
    assert text.startswith('# mine\nmodel = "m"\n\n[mcp_servers.other]\ncommand = "x" # keep\n')
    assert "old" not in text
    assert tomllib.loads(text)["mcp_servers"]["blendwright"] == entry(host, tmp_path)


def test_a_file_that_cannot_be_read_is_not_touched(tmp_path: Path) -> None:
    host = host_named("cursor")
    file = tmp_path / "mcp.json"
    file.write_text("{ // a comment\n}")
    with pytest.raises(Refusal, match="is not JSON"):
        install(host, file, entry(host, tmp_path))
    assert file.read_text() == "{ // a comment\n}"


def test_a_file_that_only_its_owner_may_read_stays_so(place: tuple[str, Path], tmp_path: Path) -> None:
    name, file = place
    host = host_named(name)
    install(host, file, entry(host, tmp_path / "a"))
    file.chmod(0o600)
    install(host, file, entry(host, tmp_path / "b"), replace=True)
    assert file.stat().st_mode & 0o777 == 0o600


def test_a_file_that_cannot_be_replaced_is_whole_and_alone_afterwards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    host, file = host_named("cursor"), tmp_path / "mcp.json"
    file.write_text('{"theme": "dark"}')

    def full(self: Path, target: Path) -> Path:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(EnvironmentUnfit, match="No space left"):
        install(host, file, entry(host, tmp_path))
    assert file.read_text() == '{"theme": "dark"}'
    assert list(tmp_path.iterdir()) == [file]


def test_an_unknown_host_gets_a_suggestion() -> None:
    with pytest.raises(Refusal) as caught:
        host_named("gemini_cli")
    assert "gemini-cli" in str(caught.value.cure)


def test_what_is_printed_is_what_would_be_written(tmp_path: Path) -> None:
    codex, vscode = host_named("codex"), host_named("vscode")
    assert tomllib.loads(snippet(codex, entry(codex, tmp_path)))["mcp_servers"]["blendwright"] == entry(codex, tmp_path)
    assert json.loads(snippet(vscode, entry(vscode, tmp_path)))["servers"]["blendwright"]["type"] == "stdio"


def test_servers_whose_names_begin_like_ours_stay_with_the_comments_above_them(tmp_path: Path) -> None:
    host = host_named("codex")
    file = tmp_path / "config.toml"
    other = '# the studio\'s\n[mcp_servers.blendwright-studio]\ncommand = "studio"\n'
    old = '[mcp_servers.blendwright]\n# of last year\ncommand = "old"\n\n[mcp_servers.blendwright.env]\nA = "b"\n\n'
    file.write_text(old + other)
    assert install(host, file, entry(host, tmp_path), replace=True)
    assert file.read_text() == other + "\n" + snippet(host, entry(host, tmp_path))


@pytest.mark.parametrize(
    "text",
    [
        '[mcp_servers]\nblendwright = {command = "old"}\n',
        '[mcp_servers]\nother = {command = "x"}\nblendwright.command = "old"\n',
        'mcp_servers = {blendwright = {command = "old"}}\n',
        '[mcp_servers."blendwright"]\ncommand = "old"\n',
        'note = """\n[mcp_servers.blendwright]\n"""\n[mcp_servers.blendwright]\ncommand = "old"\n',
        'mcp_servers = {other = {command = "x"}}\n',
        'mcp_servers = "none"\n',
    ],
)
def test_a_toml_file_that_would_not_survive_is_left_alone(tmp_path: Path, text: str) -> None:
    host = host_named("codex")
    file = tmp_path / "config.toml"
    file.write_text(text)
    with pytest.raises(Refusal) as caught:
        install(host, file, entry(host, tmp_path), replace=True)
    assert "--print" in (caught.value.cure or "")
    assert file.read_text() == text and list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize(
    "text", ["[]", "7", '{"mcpServers": ["x"]}', '{"mcpServers": "x"}', '{"a": "\\ud800"}', "[" * 100_000]
)
def test_a_json_file_of_another_shape_is_left_alone(tmp_path: Path, text: str) -> None:
    host = host_named("cursor")
    file = tmp_path / "mcp.json"
    file.write_text(text)
    with pytest.raises(Refusal) as caught:
        install(host, file, entry(host, tmp_path), replace=True)
    assert "--print" in (caught.value.cure or "")
    assert file.read_text() == text and list(tmp_path.iterdir()) == [file]


def test_an_entry_of_another_shape_is_replaced_only_when_asked_to(tmp_path: Path) -> None:
    host = host_named("cursor")
    file = tmp_path / "mcp.json"
    file.write_text('{"mcpServers": {"blendwright": "old"}}')
    with pytest.raises(Refusal, match="another entry"):
        install(host, file, entry(host, tmp_path))
    assert install(host, file, entry(host, tmp_path), replace=True)
    assert installed(host, file) == entry(host, tmp_path)


def test_text_that_is_not_utf8_and_a_directory_are_told_as_such(place: tuple[str, Path], tmp_path: Path) -> None:
    host, file = host_named(place[0]), place[1]
    file.mkdir(parents=True)
    with pytest.raises(EnvironmentUnfit, match="cannot be read"):
        install(host, file, entry(host, tmp_path))
    file.rmdir()
    file.write_bytes(b"\xff\xfe{")
    with pytest.raises(Refusal, match=r"is not (JSON|TOML)"):
        install(host, file, entry(host, tmp_path))
    assert file.read_bytes() == b"\xff\xfe{"


def test_a_private_file_is_never_readable_for_others(place: tuple[str, Path], tmp_path: Path) -> None:
    host, file = host_named(place[0]), place[1]
    file.parent.mkdir(parents=True, exist_ok=True)
    file.touch(mode=0o600)
    seen: set[int] = set()
    watching = True

    def watch(event: str, details: tuple[object, ...]) -> None:
        # With which permissions is it there, at every moment that Python tells of? A hook cannot be taken away again.
        if watching and event in ("os.chmod", "os.rename"):
            seen.update(part.stat().st_mode & 0o777 for part in file.parent.glob(".*.part"))

    before = os.umask(0o022)
    sys.addaudithook(watch)
    try:
        install(host, file, entry(host, tmp_path))
    finally:
        watching = False
        os.umask(before)
    assert seen == {0o600} and file.stat().st_mode & 0o777 == 0o600


def test_a_link_to_a_file_elsewhere_stays_a_link(place: tuple[str, Path], tmp_path: Path) -> None:
    host, file = host_named(place[0]), place[1]
    kept = tmp_path / "dotfiles" / "kept"
    kept.parent.mkdir()
    kept.touch(mode=0o640)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.symlink_to(kept)
    assert install(host, file, entry(host, tmp_path))
    assert file.is_symlink() and not kept.is_symlink()
    assert installed(host, kept) == entry(host, tmp_path) and kept.stat().st_mode & 0o777 == 0o640


def test_the_ends_of_lines_of_a_toml_file_stay(tmp_path: Path) -> None:
    host = host_named("codex")
    file = tmp_path / "config.toml"
    file.write_bytes(b'model = "m"\r\n')
    install(host, file, entry(host, tmp_path))
    assert file.read_bytes().startswith(b'model = "m"\r\n')


def test_an_entry_that_names_a_module_starts_python_without_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", [str(tmp_path / "other.py")])
    ours = entry(host_named("cursor"), tmp_path)
    assert (ours["command"], ours["args"][:4]) == (sys.executable, ["-P", "-m", "blendwright", "serve"])


def test_the_module_does_not_import_from_the_working_directory(tmp_path: Path) -> None:
    planted = "raise SystemExit('imported from the working directory')"
    for name in ("__future__", "orjson", "pydantic", "rich", "typing", "signal", "starlark"):
        (tmp_path / f"{name}.py").write_text(planted)
    for arguments in (["--version"], ["tools"]):
        command = [sys.executable, "-B", "-m", "blendwright", *arguments]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr


def test_every_start_of_python_leaves_out_the_working_directory() -> None:
    """What is started with -m or by a file is started with -P."""
    starts = re.compile(r"(?<!\"-P\", )(?<!\"-P\", \"-s\", )\"-m\", (?!\"not slow)")
    found = [
        f"{file.relative_to(ROOT)}:{number}"
        for folder in ("src", "packaging")
        for file in sorted((ROOT / folder).rglob("*.py"))
        for number, line in enumerate(file.read_text("utf-8").splitlines(), 1)
        if starts.search(line)
    ]
    assert found == []
    arguments = json.loads((ROOT / "packaging/bundle/manifest.json").read_text())["server"]["mcp_config"]["args"]
    assert arguments[arguments.index("python") + 1] == "-P"
