"""blendwright.toml: workspace before user before defaults, value by value, and nothing in it that does not exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import blendwright
from blendwright.policy.policy import Policy, Rules, Verdict
from blendwright.policy.session_contract import Proposal
from blendwright.values.errors import BlendwrightError, EnvironmentUnfit, Refusal
from blendwright.workspace.locations import user_file
from blendwright.workspace.policy_files import FILE, allowed_roots, load_policy

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """A workspace, and the file of the user's own policy."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    workspace, own = tmp_path / "workspace", user_file()
    workspace.mkdir()
    own.parent.mkdir(parents=True)
    assert own == tmp_path / "config" / "blendwright" / FILE
    return workspace, own


def test_without_files_everything_is_as_by_default(places: tuple[Path, Path]) -> None:
    loaded = load_policy(places[0])
    assert loaded.policy == Policy()
    assert set(loaded.origins.values()) == {"default"}
    assert loaded.policy.policy.levels.destructive is Verdict.ASK


def test_the_workspace_comes_before_the_user_and_the_user_before_the_defaults(places: tuple[Path, Path]) -> None:
    workspace, own = places
    own.write_text(
        '[policy.levels]\ndestructive = "deny"\nsafe_write = "ask"\n[policy.tools]\n"file.*" = "ask"\n[policy.roots]\n"/data" = "ask"\n'
    )
    (workspace / FILE).write_text(
        '[policy.levels]\ndestructive = "allow"\n[policy.tools]\n"object.delete" = "deny"\n[constraints]\ncall_seconds = 5\n'
    )
    loaded = load_policy(workspace)
    rules = loaded.policy.policy
    assert (rules.levels.read_only, rules.levels.safe_write, rules.levels.destructive) == ("allow", "ask", "allow")
    assert rules.tools == {"file.*": "ask", "object.delete": "deny"}
    assert rules.roots == {".": "allow", "/data": "ask"}, "a root of one's own does not take the default away"
    assert loaded.policy.constraints.call_seconds == 5
    assert loaded.origins["policy.levels.destructive"] == str(workspace / FILE)
    assert loaded.origins["policy.levels.safe_write"] == str(own)
    assert loaded.origins["policy.levels.read_only"] == "default"
    assert loaded.origins["constraints.call_seconds"] == str(workspace / FILE)


def test_neither_home_nor_the_whole_file_system_is_a_root_by_itself(
    places: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Hosts start servers where they like, often there."""
    workspace, _ = places
    monkeypatch.setenv("HOME", str(tmp_path))
    for everything in (tmp_path, Path("/")):
        monkeypatch.chdir(everything)
        assert load_policy(workspace).policy.policy.roots == {}
    monkeypatch.chdir(workspace)
    assert load_policy(workspace).policy.policy.roots == {".": "allow"}
    monkeypatch.chdir(tmp_path)
    (workspace / FILE).write_text('[policy.roots]\n"." = "allow"\n')
    assert load_policy(workspace).policy.policy.roots == {".": "allow"}, "whoever names it means it"
    (workspace / FILE).write_text('[policy.roots]\n"/data" = "ask"\n')
    assert load_policy(workspace).policy.policy.roots == {"/data": "ask"}


def test_roots_that_a_program_names_take_the_place_of_the_policy_s() -> None:
    policy = Policy(policy=Rules(roots={".": Verdict.ASK, "/data": Verdict.ALLOW}, network="allow"))
    assert allowed_roots(policy, None) == policy
    named = allowed_roots(policy, ["here", Path("there")]).policy
    assert named.roots == {"here": Verdict.ALLOW, "there": Verdict.ALLOW} and named.network == "allow"
    assert allowed_roots(policy, []).policy.roots == {}, "none is none"


@pytest.mark.parametrize(
    ("text", "line", "told", "cure"),
    [
        ('[policy.levels]\ndestructiv = "deny"\n', 2, "policy.levels.destructiv", "Did you mean 'destructive'?"),
        ('\n\n[polcy]\nnetwork = "deny"\n', 3, "polcy", "Did you mean 'policy'?"),
        ("[limits]\n# calls\ncalls_at_onse = 3\n", 3, "limits.calls_at_onse", "Did you mean 'calls_at_once'?"),
        ('[policy]\nnetwork = "maybe"\n', 2, "policy.network", None),
        ('[policy]\ntrusted_python = "allow"\n', 2, "policy.trusted_python", None),
        ("[constraints]\ncall_seconds = -1\n", 2, "constraints.call_seconds", None),
        ("[constraints]\nmemory_mb = 100\n", 2, "constraints.memory_mb", None),
        ('[policy.tools]\n"object.delete" = "sometimes"\n', 2, "object.delete", None),
        ('[constraints]\ndeterminism = "mostly"\n', 2, "constraints.determinism", None),
    ],
)
def test_what_does_not_exist_or_makes_no_sense_is_refused_with_its_place(
    places: tuple[Path, Path], text: str, line: int, told: str, cure: str | None
) -> None:
    file = places[0] / FILE
    file.write_text(text)
    with pytest.raises(Refusal) as refused:
        load_policy(places[0])
    (finding,) = refused.value.findings
    assert f"{file}:{line}:" in finding.message and told in finding.message
    if cure is not None:
        assert finding.cure == cure


def test_every_mistake_of_a_file_is_told_at_once(places: tuple[Path, Path]) -> None:
    (places[0] / FILE).write_text('[policy]\nnetwrk = "deny"\n[limits]\npayload_bytes = 1\n[audits]\n')
    with pytest.raises(Refusal) as refused:
        load_policy(places[0])
    assert len(refused.value.findings) == 3


@pytest.mark.parametrize("text", ["[policy\n", "\xff", "a = 1\na = 2\n"])
def test_what_is_no_toml_is_refused(places: tuple[Path, Path], text: str) -> None:
    (places[0] / FILE).write_bytes(text.encode("latin-1"))
    with pytest.raises(Refusal, match=FILE):
        load_policy(places[0])


def test_the_example_of_the_documentation_is_complete_and_loads(places: tuple[Path, Path]) -> None:
    found = re.search(r"```toml\n(.*?)```", (DOCS / "policy.md").read_text("utf-8"), re.DOTALL)
    assert found is not None
    lines = found[1].splitlines(keepends=True)
    own = [line for line in lines if line.startswith("audit_heads_command")]
    online = lines[next(at for at, line in enumerate(lines) if line.startswith("[assets.online]")) :]
    (places[0] / FILE).write_text("".join(line for line in lines[: -len(online)] if line not in own))
    places[1].write_text("[journal]\n" + "".join(own + online))
    loaded = load_policy(places[0])
    untold = [name for name, origin in loaded.origins.items() if origin == "default"]
    assert untold == [], "the example names every setting there is"


def test_a_policy_that_cannot_be_is_refused_before_the_workspace_is_touched(places: tuple[Path, Path]) -> None:
    workspace, _ = places
    (workspace / FILE).write_text("[polici]\n")
    with pytest.raises(Refusal):
        blendwright.open(workspace)
    assert sorted(path.name for path in workspace.iterdir()) == [FILE]


def test_a_proposal_that_cannot_be_is_refused_before_the_workspace_is_touched(places: tuple[Path, Path]) -> None:
    workspace, _ = places
    with pytest.raises(Refusal, match="'teleport'"):
        blendwright.open(workspace / "new", proposal=Proposal(features=("teleport",)))
    assert not (workspace / "new").exists()


def test_a_file_nested_without_end_is_no_policy(places: tuple[Path, Path]) -> None:
    workspace, _ = places
    (workspace / FILE).write_text("a = " + "[" * 5000)
    with pytest.raises(Refusal, match="is not TOML"):
        load_policy(workspace)


def test_a_user_without_a_home_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def nobody(uid: int) -> None:
        raise KeyError(uid)

    for name in ("HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("pwd.getpwuid", nobody)
    with pytest.raises(EnvironmentUnfit, match="home") as caught:
        user_file()
    assert "HOME" in (caught.value.cure or "")


@pytest.mark.parametrize("root", ["~nobody-of-this-name/x", "a\\u0000b"])
def test_a_directory_that_cannot_be_is_named(places: tuple[Path, Path], root: str) -> None:
    workspace, _ = places
    (workspace / FILE).write_text(f'[policy.roots]\n"{root}" = "allow"\n')
    with pytest.raises(BlendwrightError, match="impossible directory") as caught, blendwright.open(workspace):
        pass
    assert "blendwright.toml" in (caught.value.cure or "")
