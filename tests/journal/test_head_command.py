"""The head of the audit chain is told to a command of the user's: on opening, behind commits and on closing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from blendwright.journal import Journal
from blendwright.journal.audit import head_command
from blendwright.values.errors import EnvironmentUnfit, Refusal
from blendwright.values.events import Event, Remark
from blendwright.workspace.policy_files import load_policy
from blendwright.workspace.settings import load_settings
from journal.ledger import audit, begun


def told(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()]


def test_every_end_of_the_chain_is_told(tmp_path: Path) -> None:
    begun(tmp_path / "w", ["a"]).close()
    file = tmp_path / "heads"
    journal = Journal(tmp_path / "w", head_command=["tee", "-a", str(file)])
    [first] = told(file)
    for number in range(20):
        journal.commit([audit(f"x{number}", "failed", "scene-a", None)])
    head = journal.audit.verify().head
    journal.close()
    heads = told(file)
    assert (heads[-1]["sequence"], heads[-1]["hash"]) == (head.sequence, head.hash)
    assert heads[-1]["workspace"] == first["workspace"] and first["sequence"] == head.sequence - 20
    assert len(heads) < 20, "only the newest is told where many come"


@pytest.mark.parametrize(
    ("command", "problem"),
    [
        (["false"], "exit code 1"),
        (["no such command of anybody"], "No such file"),
        (["sleep", "60"], "did not end within"),
        (["bad\0name"], "null"),
    ],
)
def test_a_command_that_does_not_work_is_noticed_on_opening(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: list[str], problem: str
) -> None:
    monkeypatch.setattr(head_command, "SECONDS", 0.3)
    begun(tmp_path, ["a"]).close()
    with pytest.raises(EnvironmentUnfit, match=problem) as refused:
        Journal(tmp_path, head_command=command)
    assert "audit_heads_command" in (refused.value.cure or "")
    Journal(tmp_path).close()


def test_no_commit_fails_with_the_command_and_observers_are_told(tmp_path: Path) -> None:
    begun(tmp_path / "w", ["a"]).close()
    flag, seen = tmp_path / "broken", list[Event]()
    # A shell only because the user names one.
    command = ["sh", "-c", f"cat > /dev/null; test ! -e {flag}"]
    journal = Journal(tmp_path / "w", head_command=command, observe=seen.append)
    flag.touch()
    journal.commit([audit("x", "failed", "scene-a", None)])
    journal.close()
    assert any(isinstance(one, Remark) and "exit code 1" in one.message for one in seen)


def test_the_arguments_of_a_command_are_no_shell_text(tmp_path: Path) -> None:
    begun(tmp_path / "w").close()
    file = tmp_path / "a; touch b"
    Journal(tmp_path / "w", head_command=["tee", str(file)]).close()
    assert told(file) and not (tmp_path / "b").exists() and not Path("b").exists()


def test_only_the_users_own_file_can_name_a_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    own = tmp_path / "blendwright" / "blendwright.toml"
    own.parent.mkdir()
    own.write_text('[journal]\naudit_heads_command = ["logger", "-t", "heads"]\n')
    workspace = tmp_path / "w"
    workspace.mkdir()
    assert load_settings(workspace).head_command == ("logger", "-t", "heads")
    named = workspace / "blendwright.toml"
    named.write_text('# from elsewhere\n[journal]\naudit_heads_command = ["sh", "-c", "anything"]\n')
    with pytest.raises(Refusal) as refused:
        load_policy(workspace)
    [finding] = refused.value.findings
    assert f"{named}:3" in finding.message and str(own) in (finding.cure or "")
    own.write_text("[journal]\naudit_heads_command = []\n")
    named.unlink()
    with pytest.raises(Refusal):
        load_policy(workspace)
