"""Command lines that are read without typer, which takes as long to load as all of ours that checks a plan.

A line is plain when every word of it is an option that the command declares, the value of one, or an argument, and the command takes
all of it as text, path or flag. Whatever else it is, wrong lines and requests for help among them, is typer's to read and to answer.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from types import NoneType
from typing import Any, NamedTuple, get_args, get_origin, get_type_hints

from blendwright.cli.commands import COMMANDS, command_function
from blendwright.cli.parameters import Parameter
from blendwright.entry import loaded

Command = Callable[..., int]
# Settings that are heeded here, each a function of the value.
FUNCTIONS = {"callback", "parser"}


class Declared(NamedTuple):
    keyword: str
    parameter: Parameter
    kind: Any
    """bool, str, Path, list[str], or what only typer can read."""
    default: Any


def plain_command(words: Sequence[str]) -> Callable[[], int] | None:
    """The command that a plain line asks for, with its values; None where the line is not plain."""
    # On Windows patterns of files are no business of the shell: typer looks them up.
    if sys.platform == "win32" or not words or words[0] not in COMMANDS:
        return None
    command = command_function(words[0])
    loaded()
    values = read_plain(command, words[1:]) if inspect.isfunction(command) else None
    return None if values is None else partial(command, **values)


def read_plain(command: Command, words: Sequence[str]) -> dict[str, Any] | None:
    """The values of all parameters of a command, by keyword; None where the line is not plain."""
    declared = _declared(command)
    if declared is None or not all(word and word.isprintable() for word in words):
        return None
    texts = _texts(declared, words)
    if texts is None or any(one.default is inspect.Parameter.empty and one.keyword not in texts for one in declared):
        return None
    try:
        return {one.keyword: _value(one, texts.get(one.keyword)) for one in declared}
    except Exception:
        # A value that is refused, by our own functions too: typer meets it again, and knows how such things are told.
        return None


def _declared(command: Command) -> list[Declared] | None:
    signature = inspect.signature(command)
    found: list[Declared] = []
    for keyword, hint in get_type_hints(inspect.unwrap(command), include_extras=True).items():
        if keyword == "return":
            continue
        parameters = [each for each in getattr(hint, "__metadata__", ()) if isinstance(each, Parameter)]
        if not parameters:
            return None
        found.append(Declared(keyword, parameters[0], _kind(hint.__origin__), signature.parameters[keyword].default))
    return found


def _kind(hint: Any) -> Any:
    """The type of a value that is given: what may be left out is None then."""
    given = [each for each in get_args(hint) if each is not NoneType]
    return given[0] if len(given) == 1 and get_origin(hint) is not list else hint


def _texts(declared: Sequence[Declared], words: Sequence[str]) -> dict[str, list[str]] | None:
    """What the line gives to each parameter; a flag gets nothing, and is there."""
    options = {one.parameter.name: one for one in declared if one.parameter.is_option}
    texts: dict[str, list[str]] = {}
    loose: list[str] = []
    coming = iter(words)
    for word in coming:
        if word == "-" or not word.startswith("-"):
            loose.append(word)
            continue
        name, equals, value = word.partition("=")
        one = options.get(name)
        if (
            one is None
            or one.kind not in (bool, str, Path, list[str])
            or not one.parameter.settings.keys() <= FUNCTIONS
        ):
            return None
        given = texts.setdefault(one.keyword, [])
        if one.kind is bool:
            if equals:
                return None
            continue
        value = value if equals else next(coming, "")
        if not value or (value.startswith("-") and value != "-"):
            return None
        given.append(value)
    return _with_arguments(texts, [one for one in declared if not one.parameter.is_option], loose)


def _with_arguments(
    texts: dict[str, list[str]], arguments: Sequence[Declared], loose: Sequence[str]
) -> dict[str, list[str]] | None:
    """Arguments get the words that belong to no option: each one of them, in the order of their declaration."""
    if len(loose) > len(arguments) or not all(one.kind in (str, Path) for one in arguments):
        return None
    return texts | {one.keyword: [word] for one, word in zip(arguments, loose, strict=False)}


def _value(one: Declared, texts: Sequence[str] | None) -> Any:
    """As typer has it: the last text of several counts, and a callback is called with the default too."""
    settings = one.parameter.settings
    value = one.default
    if texts is not None:
        read: Callable[[str], Any] = settings.get("parser") or (Path if one.kind is Path else str)
        value = True if one.kind is bool else list(texts) if one.kind == list[str] else read(texts[-1])
    callback = settings.get("callback")
    return value if callback is None else callback(value)
