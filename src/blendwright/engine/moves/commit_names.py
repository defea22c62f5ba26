"""What commits are called: numbers, HEAD, branches and tags; finding one, and what may be a name."""

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
LONGEST = 100


def find(journal: JournalView, name: int | str) -> Commit:
    """The commit of a number, of a tag, of a branch, or HEAD. Raises Refusal when there is none."""
    if isinstance(name, str) and name.upper() == HEAD:
        return require_head(journal)
    if str(name).isascii() and str(name).isdigit():
        number = int(name)
    else:
        number = None
    if number is None:
        named = {branch.name: branch.commit for branch in journal.branches.listed()} | dict(journal.branches.tags())
        number = named.get(str(name))
    cure = "See what there is: blendwright log"
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
    """Nothing ran, and nothing will until something else is asked for."""
    return Refusal([Finding(Fault.TARGET_NOT_FOUND, message, "", cure)])


def find_branch(journal: JournalView, name: str) -> Branch:
    """Raises Refusal where there is none."""
    found = next((branch for branch in journal.branches.listed() if branch.name == name), None)
    if found is None:
        raise refusal(f"there is no branch {name}", "See which there are: blendwright branch")
    return found


def require_name(name: str) -> None:
    """Raise Refusal for what cannot name a branch or a tag: it must not be taken for a commit, HEAD or an option."""
    wrong = None
    if not re.fullmatch(r"\w[\w./-]*", name) or unicodedata.normalize("NFC", name) != name or len(name) > LONGEST:
        wrong = (
            f"a name has letters, digits and . _ / -, begins with a letter, a digit or _, and is at most {LONGEST} long"
        )
    elif name.upper() == HEAD or name.isdigit():
        wrong = "HEAD and numbers name commits already"
    if wrong is not None:
        raise Refusal.of(
            Fault.ARGS_INVALID, f"'{name[:LONGEST]}' cannot name a branch or a tag", f"Choose another: {wrong}."
        )
