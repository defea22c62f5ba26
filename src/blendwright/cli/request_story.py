"""blendwright log --request: what planners were asked for a request, what came back, and what it did to the scene."""

from __future__ import annotations

from rich.text import Text

from blendwright.app.read_workspace import read_journal
from blendwright.cli.output import Exit, console, print_json
from blendwright.records.commits import Commit
from blendwright.records.planner_attempts import Attempt
from blendwright.run.history import refusal

STYLES = {"succeeded": "green", "failed": "red", "unfinished": "yellow"}


def tell_story(workspace: str, request_id: str, json: bool) -> int:
    """Raises Refusal for a request that nobody made here."""
    with read_journal(workspace) as journal:
        attempts = journal.attempts(request_id)
        # Rounds of a plan that says that it is not done run under ids of their own.
        ids = dict.fromkeys([request_id, *(str(attempt.outcome["request_id"]) for attempt in attempts)])
        commits = tuple(commit for id in ids for commit in journal.commits_of(id))
    if not attempts and not commits:
        raise refusal(f"there is no request {request_id}", "See which there are: blendwright log --json")
    if json:
        print_json(
            {
                "ok": True,
                "request_id": request_id,
                "attempts": [attempt.to_json() for attempt in attempts],
                "commits": [_commit(commit) for commit in commits],
            }
        )
    else:
        _show(attempts, commits)
    return Exit.DONE


def _commit(commit: Commit) -> dict[str, object]:
    return {
        "number": commit.number,
        "operation_id": commit.operation_id,
        "tool": commit.tool,
        "hash_after": commit.hash_after,
        "timestamp": commit.timestamp,
    }


def _show(attempts: tuple[Attempt, ...], commits: tuple[Commit, ...]) -> None:
    out = console()
    if attempts:
        out.print(Text(attempts[0].asked, style="bold"))
    for attempt in attempts:
        status, spent = str(attempt.outcome["status"]), f"{attempt.usage.get('total', 0)} tokens"
        about = f"{attempt.timestamp[:19]}  {attempt.model}  {spent}  prompt {attempt.prompt_hash[:12]}"
        out.print(Text(f"attempt {attempt.number}  ", style="bold").append(about, style="dim"))
        became = f"{attempt.outcome['stage']} {attempt.outcome['message']}".rstrip()
        out.print(Text(f"  {status}  ", style=STYLES.get(status, "yellow")).append(became, style="default"))
    for commit in commits:
        about = f"{commit.timestamp[:19]}  {commit.tool}  {commit.operation_id}  {commit.hash_after[-12:]}"
        out.print(Text(f"commit {commit.number}  ", style="bold").append(about, style="default"))
