"""The commands of the core and of the installed capabilities, by name.

Blendwright imports the module of a command when the command runs. Help shows the summaries from this file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from importlib import import_module
from typing import Any

from blendwright.capabilities import Command, capabilities, load

CORE = {
    "new": Command(
        "cli.workspace",
        "new",
        "Start a workspace with an empty scene or a copy of a .blend file, a policy to edit and a plan to try.",
    ),
    "run": Command("cli.run", "run", "Execute a plan.", "refusing_plans"),
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
        "List the tools, search them, or show one with its arguments, promises and examples.",
    ),
    "macros": Command(
        "cli.catalogue", "macros", "List the macros, or show one with its inputs, steps, promises and examples."
    ),
    "schemas": Command("cli.catalogue", "schemas", "List the published schemas, or print one, which is always JSON."),
    "contract": Command("cli.workspace", "contract", "Negotiate the contract of a session and show it."),
    "approve": Command(
        "cli.approvals",
        "approve",
        "Allow an operation that waits for a person, once and unchanged, before the request expires.",
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
        "Print operations, failures, durations, commits and checkpoints of a workspace as Prometheus text, without a lock.",
    ),
    "replay": Command(
        "cli.history",
        "replay",
        "Run all commits of HEAD's line again in a fresh Blender and compare; the workspace stays as it is.",
    ),
    "recover": Command(
        "cli.workspace",
        "recover",
        "Show what is wrong with a workspace and how to get out of it; with an option, do so.",
    ),
    "completion": Command(
        "cli.completion",
        "completion",
        "Print what a shell reads to complete commands, options, choices and files when Tab is pressed.",
    ),
}


class _Commands(Mapping[str, Command]):
    """Every command by its name: commands of the core, then commands of each capability.

    A lookup of a core command does not import the capabilities.
    """

    def __getitem__(self, name: str) -> Command:
        return CORE.get(name) or self._all[name]

    def __contains__(self, name: object) -> bool:
        return name in CORE or name in self._all

    def __iter__(self) -> Iterator[str]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)

    @cached_property
    def _all(self) -> dict[str, Command]:
        commands = dict(CORE)
        for capability in capabilities():
            commands |= capability.commands
        return commands


COMMANDS = _Commands()


def command_function(name: str) -> Any:
    """Import a command and return its function or its group of commands. Raise KeyError for an unknown name."""
    command = COMMANDS[name]
    target = load(f"{command.module}:{command.attribute}")
    if command.refuses:
        target = getattr(import_module(f"{__package__}.refusals"), command.refuses)(target)
    return target
