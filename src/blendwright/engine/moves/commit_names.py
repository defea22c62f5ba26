"""Names of commits: numbers, HEAD, branches and tags. Look-up of commits by name, and the rules for names."""

from __future__ import annotations

import re
import unicodedata

from blendwright.journal import JournalView
from blendwright.records.branches import Branch
from blendwright.records.commits import Commit
from blendwright.values.errors import JournalError, Refusal
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding

HEAD = "HEAD"
MAX_NAME_CHARACTERS = 100


def find(journal: JournalView, name: int | str) -> Commit:
    """Return the commit with this number, tag or branch, or the commit of HEAD. Raises Refusal when no commit has
    this name.
    """
    if isinstance(name, str) and name.upper() == HEAD:
        return require_head(journal)
    if str(name).isascii() and str(name).isdigit():
        number = int(name)
    else:
        number = None
    if number is None:
        numbers_by_name = {branch.name: branch.commit for branch in journal.branches.listed()} | dict(
            journal.branches.tags()
        )
        number = numbers_by_name.get(str(name))
    cure = "List the commits: blendwright log"
    if number is None or number >= 2**63:
        raise refusal(f"'{name}' is neither the number of a commit, nor a branch, a tag or HEAD", cure)
    try:
        return journal.show(number)
    except JournalError as error:
        raise refusal(error.message, cure) from error


def require_head(journal: JournalView) -> Commit:
    head = journal.head
    if head is None:
        raise refusal("the workspace has no commit yet", "Run a plan first.")
    return head


def refusal(message: str, cure: str) -> Refusal:
    """Return a Refusal for a target that does not exist."""
    return Refusal([Finding(Fault.TARGET_NOT_FOUND, message, "", cure)])


def find_branch(journal: JournalView, name: str) -> Branch:
    """Return the branch with this name. Raises Refusal when it does not exist."""
    for branch in journal.branches.listed():
        if branch.name == name:
            return branch
    raise refusal(f"there is no branch {name}", "List the branches: blendwright branch")


def require_name(name: str) -> None:
    """Raise Refusal for an invalid name of a branch or tag. A valid name cannot be mistaken for a commit, HEAD or
    an option.
    """
    rule = None
    if (
        not re.fullmatch(r"\w[\w./-]*", name)
        or unicodedata.normalize("NFC", name) != name
        or len(name) > MAX_NAME_CHARACTERS
    ):
        rule = f"a name has letters, digits and . _ / -, begins with a letter, a digit or _, and is at most {MAX_NAME_CHARACTERS} long"
    elif name.upper() == HEAD or name.isdigit():
        rule = "HEAD and numbers already name commits"
    if rule is not None:
        raise Refusal.of(
            Fault.ARGS_INVALID,
            f"'{name[:MAX_NAME_CHARACTERS]}' cannot name a branch or a tag",
            f"Choose another: {rule}.",
        )
