"""Names that people give to commits: branches, which go along with the work, and tags, which stay. What may be one, and how it is kept.

Only names are written here; HEAD moves in `history.py`.
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
    """A branch at a commit; HEAD stays on its own. Raises Refusal for a name that cannot be one, or is taken."""
    require_name(name)
    commit = find(journal, at)
    _told(lambda: journal.branches.create(name, commit.number), "Choose another name, or delete that one first.")
    return Branch(name, commit.number, current=False)


def delete_branch(journal: Journal, name: str) -> Branch:
    """Give up a name, and no commit. Raises Refusal for the branch that HEAD is on."""
    branch = find_branch(journal, name)
    _told(lambda: journal.branches.delete(name), "Switch to another one first: blendwright switch NAME")
    return branch


def set_tag(journal: Journal, name: str, at: int | str = HEAD) -> Commit:
    """Name a commit; a tag that is there is moved. Raises Refusal for a name that cannot be one."""
    require_name(name)
    commit = find(journal, at)
    _told(lambda: journal.branches.set_tag(name, commit.number), "Choose another name.")
    return commit


def delete_tag(journal: Journal, name: str) -> Commit:
    """Raises Refusal where there is none."""
    commit = journal.branches.tags().get(name)
    if commit is None:
        raise refusal(f"there is no tag {name}", "See which there are: blendwright tag")
    journal.branches.delete_tag(name)
    return journal.show(commit)


def _told(write: Callable[[], None], cure: str) -> None:
    """What the journal objects to, as a refusal."""
    try:
        write()
    except JournalError as error:
        raise Refusal.of(Fault.SCENE_CONFLICT, error.message, cure) from error
