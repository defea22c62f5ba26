"""The commands by name. A command's module is loaded when it is the one that was asked for; help says what stands here."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Literal, NamedTuple


class Command(NamedTuple):
    """The location of a command: a function, or a group of commands, in a module of this package."""

    module: str
    attribute: str
    summary: str
    """The first sentence of its docstring, or more of it: the list of commands shows this; a test holds them together."""
    refuses: Literal["", "refusing_plans", "refusing_calls"] = ""
    """How refusals are told to programs, where `refusals.py` says so."""


COMMANDS = {
    "new": Command(
        "cli.workspace",
        "new",
        "Start a workspace with an empty scene or a copy of a .blend file, a policy to edit and a plan to try.",
    ),
    "run": Command("cli.run", "run", "Execute a plan.", "refusing_plans"),
    "ask": Command(
        "planner.commands",
        "ask",
        "Have a model plan what you ask for, see what it would do, and run it when you say yes.",
    ),
    "eval": Command(
        "planner.commands",
        "evaluation",
        "Measure a planner: success rate, attempts, tokens and time over a folder of requests.",
    ),
    "batch": Command(
        "batch.commands.batch", "batch_app", "Run a program for every row of a table, and go on after anything."
    ),
    "worker": Command(
        "fleet.commands.worker", "worker", "Do cases of batches that wait in a database, until told to stop."
    ),
    "preview": Command("cli.run", "preview", "Show what a plan would do.", "refusing_plans"),
    "call": Command(
        "cli.run",
        "call",
        "Call one tool or macro on the scene of the workspace; a new one starts empty, or from a copy of a .blend file.",
        "refusing_calls",
    ),
    "validate": Command(
        "cli.validate", "validate", "Check a plan, or the result of one, and list everything that is wrong with it."
    ),
    "tools": Command(
        "cli.catalogue",
        "tools",
        "List the tools, or those that do something, or show one with its arguments, promises and examples.",
    ),
    "macros": Command(
        "cli.catalogue", "macros", "List the macros, or show one with its inputs, steps, promises and examples."
    ),
    "schemas": Command("cli.catalogue", "schemas", "List the published schemas, or print one, which is always JSON."),
    "contract": Command("cli.workspace", "contract", "Negotiate the contract of a session and show it."),
    "approve": Command(
        "cli.approvals",
        "approve",
        "Allow an operation that waits for a person: once, as it was asked, until it expires.",
    ),
    "nodes": Command(
        "cli.catalogue",
        "nodes",
        "List the nodes of a Blender, search them, or show one with its sockets and properties.",
    ),
    "snapshot": Command(
        "cli.scene",
        "snapshot",
        "Show a scene: its objects page by page, its collections, materials, settings and fingerprint.",
    ),
    "look": Command(
        "cli.look",
        "look",
        "Take a picture of the scene: shaded, with names, depths or a mask, beside a reference, or before and after a commit.",
    ),
    "assets": Command(
        "assets.commands",
        "assets",
        "List the assets in the folders that blendwright.toml names, or those that fit some words.",
    ),
    "gates": Command(
        "cli.scene", "gates", "Judge a geometry-nodes tree; ends with 1 when a required gate is not passed."
    ),
    "log": Command("cli.history", "log", "List the plans that led to the current scene, newest first."),
    "show": Command(
        "cli.history", "show", "Show one commit: what was run with which arguments, its receipt and its hashes."
    ),
    "diff": Command(
        "cli.history", "diff", "Show what differs between the scenes of two commits, property by property."
    ),
    "checkout": Command("cli.history", "checkout", "Go to the scene of any commit, or of a branch."),
    "branch": Command(
        "history.commands.branches", "branch", "List the branches, begin one at a commit, or delete one."
    ),
    "switch": Command(
        "history.commands.branches",
        "switch",
        "Go on with a branch: its scene becomes the current one, and what is done takes the branch along.",
    ),
    "tag": Command(
        "history.commands.branches",
        "tag",
        "List the tags, or give a commit a name that stays with it; a tag that is there is moved.",
    ),
    "fork": Command(
        "history.commands.branches",
        "fork",
        "Make a new workspace that begins with the scene of a commit; this one stays as it is.",
    ),
    "blame": Command(
        "history.commands.blame",
        "blame",
        "Show which commits made and changed an object, newest first: by which request, and who asked for it.",
    ),
    "bisect": Command(
        "history.commands.bisect",
        "bisect",
        "Find the first commit that does not pass a check, rebuilding few scenes beside the workspace, which stays as it is.",
    ),
    "merge": Command(
        "history.commands.merge",
        "merge",
        "Run the commits of another branch again on top of this one: all of them or none.",
    ),
    "undo": Command(
        "cli.history",
        "undo",
        "Go back to the scene before the last commit, or before the last plan; `redo` leads forward again over as much.",
    ),
    "redo": Command("cli.history", "redo", "Go forward over the last undo."),
    "export": Command(
        "cli.history",
        "export",
        "Write the scene, or that of an earlier commit, to a .blend file, without code that would run where it is opened.",
    ),
    "adopt": Command("cli.history", "adopt", "Take an edited file in as the current scene."),
    "gc": Command("cli.history", "gc", "Remove saved scenes that no commit needs, and say what that frees."),
    "externals": Command(
        "cli.workspace",
        "externals",
        "List the external files of the scene, as they are now: images, fonts, sounds, caches, linked files.",
    ),
    "metrics": Command(
        "cli.workspace",
        "metrics",
        "Operations, failures, durations, commits and checkpoints of a workspace as Prometheus text; takes no lock.",
    ),
    "replay": Command(
        "cli.history",
        "replay",
        "Run all commits of HEAD's line again in a fresh Blender and compare; the workspace stays as it is.",
    ),
    "upgrade": Command(
        "versions.commands",
        "upgrade",
        "Replay the workspace in another Blender beside its own, report where they part, and move it there when you say so.",
    ),
    "compare": Command(
        "versions.commands",
        "compare",
        "Open a file in two Blenders and compare: will the scene survive? Exit code 1 says that it parts.",
    ),
    "recover": Command(
        "cli.workspace",
        "recover",
        "Show what is wrong with a workspace and how to get out of it; with an option, do so.",
    ),
    "serve": Command(
        "server.commands",
        "serve",
        "Serve a workspace to a language-model host: over stdio, or over HTTP with a bearer token.",
    ),
    "ui": Command(
        "console.commands",
        "ui",
        "Open the console: a page on this machine in which runs and batches are watched, approved, undone and proven.",
    ),
    "attach": Command(
        "window.commands.attach",
        "attach",
        "Work in a Blender that is open: bind the workspace to its window, whose scene is then the current one.",
    ),
    "detach": Command(
        "window.commands.attach",
        "detach",
        "Let go of the window: the workspace goes on headless, with the scene of its last commit.",
    ),
    "extension": Command(
        "window.commands.extension",
        "extension",
        "Write the extension for a Blender that you have open: one file for Blender 4.2 to 5.2 on every system.",
    ),
    "doctor": Command(
        "server.commands", "doctor", "Check that Blendwright can work here; says what is missing and how to get it."
    ),
    "init-host": Command("server.commands", "init_host", "Configure a host to start our server."),
    "completion": Command(
        "cli.completion",
        "completion",
        "Print what a shell reads to complete commands, options, choices and files when Tab is pressed.",
    ),
    "audit": Command("proofs.commands", "audit_app", "The audit chain."),
    "blender": Command("setup.commands", "blender_app", "The Blenders that can be used: list, add and remove them."),
}


def command_function(name: str) -> Any:
    """The function of a command, or the group of commands that it is, with everything that it needs."""
    command = COMMANDS[name]
    target = getattr(import_module(f"blendwright.{command.module}"), command.attribute)
    if command.refuses:
        target = getattr(import_module(f"{__package__}.refusals"), command.refuses)(target)
    return target
