"""Branches and tags: names for commits that users create and delete. A branch moves with the work; a tag stays at
its commit.

This module changes names only. HEAD moves in `navigation.py`.
"""

from __future__ import annotations

from collections.abc import Callable

from blendwright.engine.moves.commit_names import HEAD, find, find_branch, refusal, require_name
from blendwright.journal import Journal
from blendwright.records.branches import Branch
from blendwright.records.commits import Commit
from blendwright.values.errors import JournalError, Refusal
from blendwright.values.faults import Fault


def create_branch(journal: Journal, name: str, at: int | str = HEAD) -> Branch:
    """Create a branch at a commit without switching to it. Raises Refusal for an invalid or existing name."""
    require_name(name)
    commit = find(journal, at)
    _or_refuse(
        lambda: journal.branches.create(name, commit.number), "Choose another name, or delete the existing one first."
    )
    return Branch(name, commit.number, current=False)


def delete_branch(journal: Journal, name: str) -> Branch:
    """Delete a branch and keep its commits. Raises Refusal for the branch that HEAD is on."""
    branch = find_branch(journal, name)
    _or_refuse(lambda: journal.branches.delete(name), "Switch to another branch first: blendwright switch NAME")
    return branch


def set_tag(journal: Journal, name: str, at: int | str = HEAD) -> Commit:
    """Set a tag to a commit and return the commit. An existing tag moves. Raises Refusal for an invalid name."""
    require_name(name)
    commit = find(journal, at)
    _or_refuse(lambda: journal.branches.set_tag(name, commit.number), "Choose another name.")
    return commit


def delete_tag(journal: Journal, name: str) -> Commit:
    """Delete a tag and return its commit. Raises Refusal when the tag does not exist."""
    commit = journal.branches.tags().get(name)
    if commit is None:
        raise refusal(f"there is no tag {name}", "List the tags: blendwright tag")
    journal.branches.delete_tag(name)
    return journal.show(commit)


def _or_refuse(write: Callable[[], None], cure: str) -> None:
    """Call `write` and turn an objection of the journal into a Refusal."""
    try:
        write()
    except JournalError as error:
        raise Refusal.of(Fault.SCENE_CONFLICT, error.message, cure) from error
