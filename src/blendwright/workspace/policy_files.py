"""Reads blendwright.toml: the workspace's own first, then the user's, then the defaults. Says of every value where it comes from.

A file is taken whole or not at all: an unknown key, which may be a misspelt prohibition, is refused with its place.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from pydantic import BaseModel, ValidationError

from blendwright.policy.policy import Policy, Rules, Verdict
from blendwright.values.errors import Refusal
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding, did_you_mean, pointer_of
from blendwright.workspace.locations import SETTINGS, user_file
from blendwright.workspace.ownership import read_own_file

FILE = SETTINGS
DEFAULT = "default"
COMMAND = "audit_heads_command"


@dataclass(frozen=True, slots=True)
class LoadedPolicy:
    """`files` has the file of every value that one names, by its dotted name."""

    policy: Policy
    files: Mapping[str, str]

    @property
    def origins(self) -> dict[str, str]:
        """The place of every value, by its dotted name: a file, or `default`."""
        return {name: self.files.get(name, DEFAULT) for name, _ in settings_of(self.policy.model_dump(mode="json"))}


def load_policy(workspace: Path) -> LoadedPolicy:
    """The policy for a workspace. Raises Refusal with every finding in its files."""
    merged: dict[str, Any] = {}
    files: dict[str, str] = {}
    for file in (user_file(), workspace / FILE):
        if file.is_file():
            table = read_policy(file)
            if file != user_file():
                _require_no_command(file, table)
            merged = _merged(merged, table)
            files |= {name: str(file) for name, _ in settings_of(table)}
    # Tables with names of the user's own add to what is there by default.
    roots = _default_roots()
    if not merged:
        return LoadedPolicy(Policy.model_construct(policy=Rules.model_construct(roots=roots)), files)
    return LoadedPolicy(Policy.model_validate(_merged({"policy": {"roots": roots}}, merged)), files)


def _require_no_command(file: Path, table: Mapping[str, Any]) -> None:
    """A workspace comes from anywhere: opening one must not run what its files say, nor speak with whom they name. Raises Refusal."""
    for table_name, setting in (("journal", COMMAND), ("assets", "online")):
        if setting in table.get(table_name, {}):
            line = _line(file.read_text("utf-8").splitlines(), (table_name, setting))
            message = f"{file}:{line}: {table_name}.{setting} counts in the user's own file only"
            finding = Finding(Fault.SCHEMA_INVALID, message, f"/{table_name}/{setting}", f"Move it to {user_file()}.")
            raise Refusal([finding])


def allowed_roots(policy: Policy, roots: Sequence[str | Path] | None) -> Policy:
    """The policy with these roots instead of its own, where a program names some."""
    if roots is None:
        return policy
    named = {str(root): Verdict.ALLOW for root in roots}
    return policy.model_copy(update={"policy": policy.policy.model_copy(update={"roots": named})})


def read_policy(file: Path) -> dict[str, Any]:
    """What a file says, checked. Raises Refusal, and EnvironmentUnfit for one that somebody else could have written."""
    import tomllib  # few have such a file

    try:
        text = read_own_file(file).decode("utf-8").replace("\r\n", "\n")
        table = tomllib.loads(text)
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8"
        cure = "Correct it there, or check its permissions."
        raise Refusal.of(Fault.SCHEMA_INVALID, f"{file} cannot be read: {reason}", cure) from error
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise Refusal.of(Fault.SCHEMA_INVALID, f"{file} is not TOML: {error}", "Correct it there.") from error
    try:
        Policy.model_validate(table)
    except ValidationError as error:
        findings = list(_findings(file, text.splitlines(), error))
        raise Refusal(findings) from error
    return table


def _findings(file: Path, lines: Sequence[str], error: ValidationError) -> Iterator[Finding]:
    for problem in error.errors(include_url=False, include_context=False, include_input=False):
        path = tuple(str(part) for part in problem["loc"] if part != "[key]")
        position = f"{file}:{_line(lines, path)}"
        settings = _settings_in(path[:-1])
        if problem["type"] == "extra_forbidden":
            cure = did_you_mean(path[-1], settings, otherwise=f"Known here: {', '.join(settings)}.")
            message = f"{position}: there is no setting '{'.'.join(path)}'"
        else:
            message, cure = f"{position}: {'.'.join(path)}: {problem['msg']}", "See docs/policy.md."
        yield Finding(Fault.SCHEMA_INVALID, message, pointer_of(path), cure)


def _settings_in(path: Sequence[str]) -> list[str]:
    """The settings of a table."""
    model: Any = Policy
    for part in path:
        if part in getattr(model, "model_fields", {}):
            model = model.model_fields[part].annotation
        else:
            model = None
    if isinstance(model, type) and issubclass(model, BaseModel):
        return sorted(model.model_fields)
    return []


def _line(lines: Sequence[str], path: Sequence[str]) -> int:
    """The line on which the last name of the path stands, searched from the header of its table on; else the header's."""
    start = 0
    for depth in range(len(path) - 1, 0, -1):
        header = re.compile(r"\s*\[\s*" + r"\s*\.\s*".join(map(re.escape, path[:depth])) + r"\s*\]")
        number = next((number for number, line in enumerate(lines) if header.match(line)), None)
        if number is not None:
            start = number
            break
    name = re.compile(rf"""(^|[\s\[.{{,"'])({re.escape(path[-1])})($|[\s\].=}}"'])""")
    for number, line in enumerate(lines[start:], start + 1):
        if name.search(line.partition("#")[0]):
            return number
    return start + 1


def _default_roots() -> dict[str, Verdict]:
    """Where we stand is a root, unless that is everything."""
    if _in_home_or_root():
        return {}
    return dict(Rules.model_construct().roots)


def _in_home_or_root() -> bool:
    """Hosts start their servers where they like: in the home directory, keys and all, or in the root of the file system."""
    try:
        here = Path.cwd().resolve()
    except OSError:
        return False
    homes = {Path("/")}
    with contextlib.suppress(RuntimeError, OSError):
        homes.add(Path.home().resolve())
    return here in homes or here == Path(here.anchor)


def _merged(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Table by table; the one above wins where both have a value."""
    result = dict(below)
    for name, value in above.items():
        under = result.get(name)
        if isinstance(value, dict) and isinstance(under, dict):
            result[name] = _merged(cast("dict[str, Any]", under), cast("dict[str, Any]", value))
        else:
            result[name] = value
    return result


def settings_of(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Every setting of a table and of those in it, by its dotted name."""
    for name, value in table.items():
        if isinstance(value, dict):
            yield from settings_of(cast("dict[str, Any]", value), f"{prefix}{name}.")
        else:
            yield prefix + name, value
