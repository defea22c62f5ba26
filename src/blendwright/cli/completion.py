"""blendwright completion: what a shell reads, so that Tab completes commands, options, choices, tools and files.

The script holds all that there is to complete (`completion.json`, which `make generate` makes of the commands), so that nothing is
started when Tab is pressed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import StrEnum
from importlib.resources import files
from typing import Annotated, Any

import typer

from blendwright.cli.output import console

# A command as completion.json has it: help, options, what follows, and commands in it.
Words = Mapping[str, Any]
# "file", "directory" or "anything", or the choices there are.
Value = str | Sequence[str]


class ShellName(StrEnum):
    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"


def completion(shell: Annotated[ShellName, typer.Argument(metavar="SHELL", help="bash, zsh or fish.")]) -> int:
    """Print what a shell reads to complete commands, options, choices and files when Tab is pressed.

    bash: source it in ~/.bashrc. zsh: write it to a file `_blendwright` in a folder of fpath. fish: write it to its completions.
    """
    words: Words = json.loads(files(__package__ or "").joinpath("completion.json").read_bytes())
    console().show(SCRIPTS[shell](words), end="")
    return 0


def commands(words: Words, path: str = "") -> Iterator[tuple[str, Words]]:
    """Every command by its words, the program itself first, by none."""
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
    flags, inner = (" ".join(_described(*each) for each in command[part].items()) for part in ("options", "commands"))
    return f"flags=({flags}); inner=({inner}); following={_quoted(_kind(command['follows']))}"


def _cases(words: Words, of_command: Callable[[Words], str]) -> Iterator[str]:
    """For every command: its options, what may follow, and what the value of each option may be."""
    for path, command in commands(words):
        yield f"    {_quoted(path)}) known=1; {of_command(command)} ;;"
        for name, option in command["options"].items():
            if option["value"] is not None:
                yield f"    {_quoted(f'{path} {name}'.strip())}) value={_quoted(_kind(option['value']))} ;;"


def _fish(words: Words) -> str:
    listed = list(commands(words))
    paths = [_quoted(path) for path, _ in listed if path]
    valued = [
        _quoted(f"{path} {name}".strip())
        for path, command in listed
        for name, option in command["options"].items()
        if option["value"] is not None
    ]
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
            takes = "" if option["value"] is None else f" -r {_fish_values(option['value'])}"
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
    """Files, directories and what may be anything as a word with a colon; choices as they are."""
    return f":{value}" if isinstance(value, str) else " ".join(value)


def _described(name: str, about: Words) -> str:
    return _quoted(f"{name}:{about['help']}")


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def _fish_quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


# Each script walks over the words before the cursor: commands lead deeper, options that take a value take the next word along.
BASH = """\
# Completion of blendwright for bash: source <(blendwright completion bash)
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
