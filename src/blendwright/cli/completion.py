"""The command `blendwright completion`, which prints a script for completion with Tab in a shell.

The script contains every word to complete, so that pressing Tab starts no process. The words come from the
declarations of the commands: options, choices, `autocompletion` functions and the metavars that mean files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum, StrEnum
from typing import Annotated, Any, Literal, get_args, get_origin

import typer
from typer.main import get_command

from blendwright.cli.commands import COMMANDS
from blendwright.cli.output import console

# A command: its help, its options, the values of its first argument, and the commands in it.
Words = Mapping[str, Any]
# "file", "directory" or "anything", or a list of choices.
Value = str | Sequence[str]
# Metavars of values that are files or directories.
FILES = {"FILE", "FILE.blend", "PNG", "JSON", "TABLE", "PLAN", "PROGRAM", "BUNDLE", "PATH", "VERSION|PATH", "ZIP|DIR"}
DIRECTORIES = {"DIR", "DIR|URL", "FOLDER", "WORKSPACE"}
# Characters of a help text next to a word.
MAX_HELP_LENGTH = 70


class ShellName(StrEnum):
    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"


def completion(shell: Annotated[ShellName, typer.Argument(metavar="SHELL", help="bash, zsh or fish.")]) -> int:
    """Print what a shell reads to complete commands, options, choices and files when Tab is pressed.

    bash: write it to a file and source that in ~/.bashrc. zsh: write it to a file `_blendwright` in a folder of fpath.
    fish: write it to its completions.
    """
    console().show(SCRIPTS[shell](program_words()), end="")
    return 0


def program_words() -> Words:
    """Return every word to complete, from the declarations of all commands."""
    from blendwright.cli.application import app, load_command  # the application loads this module for this command

    loaded = {name: _command_words(load_command(name), name) for name in COMMANDS}
    program = _command_words(get_command(app), "")
    return {**program, "commands": loaded, "follows": [*loaded]}


def _command_words(command: Any, path: str) -> Words:
    arguments = [parameter for parameter in command.params if parameter.param_type_name == "argument"]
    inner: dict[str, Any] = {}
    if path:
        inner = getattr(command, "commands", {})
    options: dict[str, Words] = {}
    for parameter in command.params:
        if parameter.param_type_name == "option" and parameter.name != "help":
            value: Value | None = None
            if not parameter.is_flag:
                value = _values(parameter, command)
            about = {"help": _short(parameter.help), "value": value}
            options |= dict.fromkeys((*parameter.opts, *parameter.secondary_opts), about)
    follows: Value = "anything"
    if inner:
        follows = [*inner]
    elif arguments:
        follows = _values(arguments[0], command)
    if path in COMMANDS:
        summary = COMMANDS[path].summary
    else:
        summary = command.help
    return {
        "help": _short(summary),
        "options": options,
        "follows": follows,
        "commands": {name: _command_words(subcommand, f"{path} {name}") for name, subcommand in inner.items()},
    }


def _values(parameter: Any, command: Any) -> Value:
    annotation: Any = parameter.type_descriptor.annotation
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return [str(choice.value) for choice in annotation]
    if get_origin(annotation) is Literal:
        return [*map(str, get_args(annotation))]
    declared = [item.value for item in parameter.shell_complete(typer.Context(command), "") if item.type == "plain"]
    metavar: str = parameter.metavar or ""
    if declared:
        return declared
    if metavar in FILES:
        return "file"
    if metavar in DIRECTORIES:
        return "directory"
    if "|" in metavar and metavar == metavar.lower():
        return metavar.split("|")
    return "anything"


def _short(text: str | None) -> str:
    """Return the first sentence, cut to fit next to a list."""
    sentence = " ".join((text or "").split()).partition(". ")[0].rstrip(".")
    if len(sentence) <= MAX_HELP_LENGTH:
        return sentence
    return sentence[: MAX_HELP_LENGTH - 1].rstrip() + "…"


def commands(words: Words, path: str = "") -> Iterator[tuple[str, Words]]:
    """Yield each command with its path of words. The program itself comes first, with an empty path."""
    yield path, words
    for name, inner in words["commands"].items():
        yield from commands(inner, f"{path} {name}".strip())


def _bash(words: Words) -> str:
    return BASH.replace("@CASES@", "\n".join(_cases(words, _bash_command)))


def _bash_command(command: Words) -> str:
    return f"flags={_quoted(' '.join(command['options']))}; following={_quoted(_kind(command['follows']))}"


def _zsh(words: Words) -> str:
    return ZSH.replace("@CASES@", "\n".join(_cases(words, _zsh_command)))


def _zsh_command(command: Words) -> str:
    flags = _zsh_words(command["options"])
    inner = _zsh_words(command["commands"])
    return f"flags=({flags}); inner=({inner}); following={_quoted(_kind(command['follows']))}"


def _zsh_words(words: Words) -> str:
    """Return words with their help, as an array of zsh contains them."""
    return " ".join(_described(name, about) for name, about in words.items())


def _cases(words: Words, of_command: Callable[[Words], str]) -> Iterator[str]:
    """Yield the shell cases of each command: its options, its possible next words, and the values of each option."""
    for path, command in commands(words):
        yield f"    {_quoted(path)}) known=1; {of_command(command)} ;;"
        for name, option in command["options"].items():
            if option["value"] is not None:
                yield f"    {_quoted(f'{path} {name}'.strip())}) value={_quoted(_kind(option['value']))} ;;"


def _fish(words: Words) -> str:
    paths: list[str] = []
    valued: list[str] = []
    for path, command in commands(words):
        if path:
            paths.append(_quoted(path))
        for name, option in command["options"].items():
            if option["value"] is not None:
                valued.append(_quoted(f"{path} {name}".strip()))
    text = FISH.replace("@PATHS@", " ".join(paths)).replace("@VALUED@", " ".join(valued))
    return text.replace("@LINES@", "\n".join(_fish_lines(words)))


def _fish_lines(words: Words) -> Iterator[str]:
    for path, command in commands(words):
        when = f"complete -c blendwright -n {_quoted(f'__blendwright_at {path}'.strip())}"
        for name, inner in command["commands"].items():
            yield f"{when} -f -a {name} -d {_fish_quoted(inner['help'])}"
        if not command["commands"]:
            yield f"{when} {_fish_values(command['follows'])}"
        for name, option in command["options"].items():
            if option["value"] is None:
                takes = ""
            else:
                takes = f" -r {_fish_values(option['value'])}"
            yield f"{when} -l {name.removeprefix('--')}{takes} -d {_fish_quoted(option['help'])}"


def _fish_values(value: Value) -> str:
    match value:
        case "file":
            return "-F"
        case "directory":
            return "-f -a '(__fish_complete_directories)'"
        case str():
            return "-f"
        case _:
            return f"-f -a {_fish_quoted(' '.join(value))}"


def _kind(value: Value) -> str:
    """Return `:file`, `:directory` or `:anything`, or the choices with spaces between them."""
    if isinstance(value, str):
        return f":{value}"
    return " ".join(value)


def _described(name: str, about: Words) -> str:
    return _quoted(f"{name}:{about['help']}")


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def _fish_quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


# Each script reads the words before the cursor. A command selects its subcommands, and an option with a value consumes the next word.
BASH = """\
# Completion of blendwright for bash: blendwright completion bash > FILE, then source FILE
_blendwright_words() {
  known='' flags='' following='' value=''
  case "$1" in
@CASES@
  esac
}
_blendwright() {
  local current="${COMP_WORDS[COMP_CWORD]}" at='' word known flags following value expected='' index
  COMPREPLY=()
  for ((index = 1; index < COMP_CWORD; index++)); do
    word="${COMP_WORDS[index]}"
    [[ "$word" == '=' ]] && continue
    if [[ -n "$expected" ]]; then expected=''; continue; fi
    _blendwright_words "${at:+$at }$word"
    if [[ "$word" == -* ]]; then expected="$value"; elif [[ -n "$known" ]]; then at="${at:+$at }$word"; fi
  done
  [[ "$current" == '=' ]] && current=''
  _blendwright_words "$at"
  if [[ -z "$expected" && "$current" == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$flags --help" -- "$current")
    return
  fi
  case "${expected:-$following}" in
    ':file') compopt -o filenames 2> /dev/null; mapfile -t COMPREPLY < <(compgen -f -- "$current") ;;
    ':directory') compopt -o filenames 2> /dev/null; mapfile -t COMPREPLY < <(compgen -d -- "$current") ;;
    ':anything') ;;
    *) mapfile -t COMPREPLY < <(compgen -W "${expected:-$following}" -- "$current") ;;
  esac
}
complete -F _blendwright blendwright
"""
ZSH = """\
#compdef blendwright
# Completion of blendwright for zsh: a file _blendwright in a folder of fpath
_blendwright_words() {
  known='' flags=() inner=() following='' value=''
  case "$1" in
@CASES@
  esac
}
_blendwright() {
  local at='' word known following value expected='' index
  local -a flags inner
  for ((index = 2; index < CURRENT; index++)); do
    word="${words[index]}"
    if [[ -n "$expected" ]]; then expected=''; continue; fi
    [[ "$word" == --*=* ]] && continue
    _blendwright_words "${at:+$at }$word"
    if [[ "$word" == -* ]]; then expected="$value"; elif [[ -n "$known" ]]; then at="${at:+$at }$word"; fi
  done
  _blendwright_words "$at"
  if [[ -z "$expected" && "${words[CURRENT]}" == -* ]]; then
    flags+=('--help:Show what it does and exit.')
    _describe option flags
  elif [[ -z "$expected" && ${#inner} -gt 0 ]]; then
    _describe command inner
  else
    case "${expected:-$following}" in
      ':file') _files ;;
      ':directory') _files -/ ;;
      ':anything') ;;
      *) compadd -- ${=${expected:-$following}} ;;
    esac
  fi
}
if [[ "${funcstack[1]}" == _blendwright ]]; then _blendwright "$@"; else compdef _blendwright blendwright; fi
"""
FISH = """\
# Completion of blendwright for fish: a file blendwright.fish in its folder of completions
set -g __blendwright_paths @PATHS@
set -g __blendwright_valued @VALUED@
function __blendwright_at
    set -l at ''
    set -l skip ''
    for word in (commandline -opc)[2..-1]
        set -l longer (string trim -- "$at $word")
        if test -n "$skip"
            set skip ''
        else if string match -q -- '-*' $word
            contains -- $longer $__blendwright_valued; and set skip 1
        else if contains -- $longer $__blendwright_paths
            set at $longer
        end
    end
    test "$at" = "$argv"
end
@LINES@
"""
SCRIPTS = {ShellName.BASH: _bash, ShellName.ZSH: _zsh, ShellName.FISH: _fish}
