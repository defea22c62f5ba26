"""blendwright branch, switch, tag, fork: names for commits, and new workspaces from them."""

from __future__ import annotations

from typing import Annotated

import typer

from blendwright.cli.history import REBUILDING, open_scene, present_move
from blendwright.cli.options import AsJson, Blender, Workspace
from blendwright.cli.output import SafeConsole, present
from blendwright.cli.progress import waiting
from blendwright.history import branches as branching
from blendwright.history import fork as forking
from blendwright.values.errors import Refusal
from blendwright.values.faults import Fault

At = Annotated[str, typer.Argument(metavar="AT", help="A commit: its number, HEAD, a branch or a tag.")]


def branch(
    name: Annotated[
        str | None,
        typer.Argument(metavar="NAME", help="The branch to create or to delete. Without a name, list the branches."),
    ] = None,
    at: At = "HEAD",
    delete: Annotated[bool, typer.Option("--delete", help="Delete the branch. Its commits stay.")] = False,
    workspace: Workspace = ".blendwright",
    json: AsJson = False,
) -> int:
    """List the branches, create one at a commit, or delete one. HEAD stays at its commit; `switch` moves it to a
    branch.

    Examples: `blendwright branch` lists them; `blendwright branch warm-light` creates one at HEAD;
    `blendwright branch warm-light 12` at commit 12; `blendwright branch --delete warm-light`.
    """
    if name is None:
        _require_name_for(delete)
        branch_list = branching.list_branches(workspace)
        return present(json, branch_list.to_json, lambda out: _show_branches(out, branch_list))
    with open_scene(workspace) as opened:
        if delete:
            changed_branch = opened.history.delete_branch(name)
        else:
            changed_branch = opened.history.create_branch(name, at)
    if delete:
        sentence = f"deleted the branch {name}, which led to commit {changed_branch.commit}"
    else:
        sentence = f"{name} is at commit {changed_branch.commit}"
    document = {"ok": True, "deleted": delete, **changed_branch.to_json()}
    return present(json, lambda: document, lambda out: out.show(sentence))


def switch(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The branch to switch to.")],
    create: Annotated[
        bool, typer.Option("--create", help="Create the branch, at HEAD or at the commit of --at.")
    ] = False,
    at: Annotated[
        str | None, typer.Option("--at", metavar="N", help="With --create: the commit of the new branch.")
    ] = None,
    workspace: Workspace = ".blendwright",
    blender: Blender = None,
    json: AsJson = False,
) -> int:
    """Switch to a branch: its scene becomes the current one, and later commits belong to the branch.

    Examples: `blendwright switch main`; `blendwright switch --create warm-light`;
    `blendwright switch --create retry --at 12`.
    """
    if at is not None and not create:
        raise Refusal.of(Fault.ARGS_INVALID, "--at works only with a new branch", "Give --create as well.")
    create_at = None
    if create:
        create_at = at or "HEAD"
    with open_scene(workspace, blender) as opened:
        with waiting(REBUILDING, show=not json):
            moved = opened.history.switch(name, create_at=create_at)
        return present_move(moved, json)


def tag(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="The tag to set or to delete. Without a name, list the tags.")
    ] = None,
    at: At = "HEAD",
    delete: Annotated[bool, typer.Option("--delete", help="Delete the tag. Its commit stays.")] = False,
    workspace: Workspace = ".blendwright",
    json: AsJson = False,
) -> int:
    """List the tags, or give a commit a name that stays with it. An existing tag moves.

    Examples: `blendwright tag` lists them; `blendwright tag approved`; `blendwright tag first-look 7`;
    `blendwright tag --delete approved`.
    """
    if name is None:
        _require_name_for(delete)
        tag_list = branching.list_tags(workspace)
        return present(json, tag_list.to_json, lambda out: _show_tags(out, tag_list))
    with open_scene(workspace) as opened:
        if delete:
            commit = opened.history.delete_tag(name)
        else:
            commit = opened.history.set_tag(name, at)
    if delete:
        sentence = f"deleted the tag {name} of commit {commit.number}"
    else:
        sentence = f"{name} is commit {commit.number}"
    document = {"ok": True, "deleted": delete, "name": name, "commit": commit.number}
    return present(json, lambda: document, lambda out: out.show(sentence))


def fork(
    at: At,
    directory: Annotated[
        str, typer.Argument(metavar="DIR", help="The directory of the new workspace. It must be empty or missing.")
    ],
    workspace: Workspace = ".blendwright",
    blender: Blender = None,
    json: AsJson = False,
) -> int:
    """Create a new workspace that begins with the scene of a commit. The current workspace stays unchanged.

    The first commit of the new workspace names its origin. The command also copies policy and macros. Examples:
    `blendwright fork HEAD ../variant`; `blendwright fork first-look ../variant`.
    """
    forked = forking.fork(workspace, at, directory, blender=blender)

    def show_fork(out: SafeConsole) -> None:
        settings = ""
        if forked.copied:
            settings = f", with {' and '.join(forked.copied)}"
        out.show(f"{forked.directory} begins with the scene of commit {forked.origin.number}{settings}")
        out.show(f"scene {forked.origin.hash_after}", "dim")

    return present(json, forked.to_json, show_fork)


def _require_name_for(delete: bool) -> None:
    if delete:
        raise Refusal.of(Fault.ARGS_INVALID, "--delete needs a name", "Give the name to delete.")


def _show_branches(out: SafeConsole, branch_list: branching.BranchList) -> None:
    rows: list[tuple[tuple[str, str], tuple[str, str], str]] = []
    for branch in branch_list.branches:
        mark = ""
        if branch.current:
            mark = "*"
        commit = "no commit yet"
        if branch.commit is not None:
            commit = str(branch.commit)
        rows.append(((mark, "bold green"), (branch.name, "bold"), commit))
    out.listing(rows, none="no branches")

    if branch_list.current is None and branch_list.head is not None:
        out.show(
            f"HEAD is on no branch, at commit {branch_list.head}: `blendwright switch --create NAME` keeps later commits on a branch",
            "dim",
        )


def _show_tags(out: SafeConsole, tag_list: branching.TagList) -> None:
    out.listing([((tag.name, "bold"), str(tag.commit)) for tag in tag_list.tags], none="no tags")
