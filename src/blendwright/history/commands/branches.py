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
        str | None, typer.Argument(metavar="NAME", help="The branch to begin, or to delete; without one, list them.")
    ] = None,
    at: At = "HEAD",
    delete: Annotated[bool, typer.Option("--delete", help="Give up the name; its commits stay.")] = False,
    workspace: Workspace = ".blendwright",
    json: AsJson = False,
) -> int:
    """List the branches, begin one at a commit, or delete one. HEAD stays where it is; `switch` goes on with a branch.

    Examples: `blendwright branch` lists them; `blendwright branch warm-light` begins one here; `blendwright branch warm-light 12` at commit
    12; `blendwright branch --delete warm-light`.
    """
    if name is None:
        _require_name_for(delete)
        listed = branching.list_branches(workspace)
        return present(json, listed.to_json, lambda out: _show_branches(out, listed))
    with open_scene(workspace) as opened:
        if delete:
            found = opened.history.delete_branch(name)
        else:
            found = opened.history.create_branch(name, at)
    if delete:
        sentence = f"deleted the branch {name}, which led to commit {found.commit}"
    else:
        sentence = f"{name} is at commit {found.commit}"
    return present(json, lambda: {"ok": True, "deleted": delete, **found.to_json()}, lambda out: out.show(sentence))


def switch(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The branch to go on with.")],
    create: Annotated[bool, typer.Option("--create", help="Begin it, at HEAD unless --at says otherwise.")] = False,
    at: Annotated[str | None, typer.Option("--at", metavar="N", help="With --create: at this commit.")] = None,
    workspace: Workspace = ".blendwright",
    blender: Blender = None,
    json: AsJson = False,
) -> int:
    """Go on with a branch: its scene becomes the current one, and what is done takes the branch along.

    Examples: `blendwright switch main`; `blendwright switch --create warm-light`; `blendwright switch --create retry --at 12`.
    """
    if at is not None and not create:
        raise Refusal.of(
            Fault.ARGS_INVALID, "only a branch that is begun has a commit to begin at", "Give --create as well."
        )
    with open_scene(workspace, blender) as opened:
        with waiting(REBUILDING, show=not json):
            moved = opened.history.switch(name, create_at=(at or "HEAD") if create else None)
        return present_move(moved, json)


def tag(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="The tag to set, or to delete; without one, list them.")
    ] = None,
    at: At = "HEAD",
    delete: Annotated[bool, typer.Option("--delete", help="Take the name away; the commit stays.")] = False,
    workspace: Workspace = ".blendwright",
    json: AsJson = False,
) -> int:
    """List the tags, or give a commit a name that stays with it; a tag that is there is moved.

    Examples: `blendwright tag` lists them; `blendwright tag approved`; `blendwright tag first-look 7`; `blendwright tag --delete approved`.
    """
    if name is None:
        _require_name_for(delete)
        listed = branching.list_tags(workspace)
        return present(json, listed.to_json, lambda out: _show_tags(out, listed))
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
        str, typer.Argument(metavar="DIR", help="The new workspace; a directory that is not there, or is empty.")
    ],
    workspace: Workspace = ".blendwright",
    blender: Blender = None,
    json: AsJson = False,
) -> int:
    """Make a new workspace that begins with the scene of a commit; this one stays as it is.

    Its first commit says where it comes from; policy and macros come along. Examples: `blendwright fork HEAD ../variant`;
    `blendwright fork first-look ../variant`.
    """
    forked = forking.fork(workspace, at, directory, blender=blender)

    def show_fork(out: SafeConsole) -> None:
        if forked.copied:
            came = f", with {' and '.join(forked.copied)}"
        else:
            came = ""
        out.show(f"{forked.directory} begins with the scene of commit {forked.origin.number}{came}")
        out.show(f"scene {forked.origin.hash_after}", "dim")

    return present(json, forked.to_json, show_fork)


def _require_name_for(delete: bool) -> None:
    if delete:
        raise Refusal.of(Fault.ARGS_INVALID, "--delete needs a name", "Name what to delete.")


def _show_branches(out: SafeConsole, listed: branching.BranchList) -> None:
    rows = [
        (
            ("*" if one.current else "", "bold green"),
            (one.name, "bold"),
            "no commit yet" if one.commit is None else str(one.commit),
        )
        for one in listed.branches
    ]
    out.listing(rows, none="no branches")
    if listed.current is None and listed.head is not None:
        out.show(
            f"HEAD is on no branch, at commit {listed.head}: `blendwright switch --create NAME` keeps what is done from here",
            "dim",
        )


def _show_tags(out: SafeConsole, listed: branching.TagList) -> None:
    out.listing([((one.name, "bold"), str(one.commit)) for one in listed.tags], none="no tags")
