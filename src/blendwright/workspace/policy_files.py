"""A reader of blendwright.toml: the settings of the workspace, then of the user, then the defaults, with the source
of each value.

The reader accepts a whole file or nothing. It refuses an unknown key, which may be a misspelt prohibition, with its
location.
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
    """A policy with its sources. `files` has the file of every value that a file sets, by its dotted name."""

    policy: Policy
    files: Mapping[str, str]

    @property
    def origins(self) -> dict[str, str]:
        """The source of every value by its dotted name: a file, or `default`."""
        return {name: self.files.get(name, DEFAULT) for name, _ in settings_of(self.policy.model_dump(mode="json"))}


def load_policy(workspace: Path) -> LoadedPolicy:
    """Return the policy for a workspace. Raise Refusal with every finding in its files."""
    merged: dict[str, Any] = {}
    files: dict[str, str] = {}
    for file in (user_file(), workspace / FILE):
        if file.is_file():
            table = read_policy(file)
            if file != user_file():
                _require_no_command(file, table)
            merged = _merged(merged, table)
            files |= {name: str(file) for name, _ in settings_of(table)}
    # Tables with names that the user chooses extend the defaults instead of replacing them.
    roots = _default_roots()
    if not merged:
        return LoadedPolicy(Policy.model_construct(policy=Rules.model_construct(roots=roots)), files)
    return LoadedPolicy(Policy.model_validate(_merged({"policy": {"roots": roots}}, merged)), files)


def _require_no_command(file: Path, table: Mapping[str, Any]) -> None:
    """Raise Refusal if a workspace's file sets a value that only the user's own file may set.

    A workspace may come from a stranger. Opening it must not run a command from its files or contact a server that
    they name.
    """
    for table_name, setting in (("journal", COMMAND), ("assets", "online")):
        if setting in table.get(table_name, {}):
            line = _line(file.read_text("utf-8").splitlines(), (table_name, setting))
            message = f"{file}:{line}: {table_name}.{setting} is only valid in the user's own file"
            finding = Finding(Fault.SCHEMA_INVALID, message, f"/{table_name}/{setting}", f"Move it to {user_file()}.")
            raise Refusal([finding])


def allowed_roots(policy: Policy, roots: Sequence[str | Path] | None) -> Policy:
    """Return the policy with these roots, or the unchanged policy when `roots` is None."""
    if roots is None:
        return policy
    named = {str(root): Verdict.ALLOW for root in roots}
    return policy.model_copy(update={"policy": policy.policy.model_copy(update={"roots": named})})


def read_policy(file: Path) -> dict[str, Any]:
    """Return the checked content of a settings file.

    Raise Refusal for invalid content, and EnvironmentUnfit if another user could have written it.
    """
    import tomllib  # imported here, because few users have such a file

    try:
        text = read_own_file(file).decode("utf-8").replace("\r\n", "\n")
        table = tomllib.loads(text)
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8"
        fix = "Correct it there, or check its permissions."
        raise Refusal.of(Fault.SCHEMA_INVALID, f"{file} cannot be read: {reason}", fix) from error
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
            fix = did_you_mean(path[-1], settings, otherwise=f"Known here: {', '.join(settings)}.")
            message = f"{position}: there is no setting '{'.'.join(path)}'"
        else:
            message, fix = f"{position}: {'.'.join(path)}: {problem['msg']}", "See docs/policy.md."
        yield Finding(Fault.SCHEMA_INVALID, message, pointer_of(path), fix)


def _settings_in(path: Sequence[str]) -> list[str]:
    """Return the names of the settings in a table."""
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
    """Return the line number of the last name of the path, searched after the header of its table.

    Without a match, return the header's line.
    """
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
    """Return the current directory as the default root, unless it is the home directory or the root of the file
    system.
    """
    if _in_home_or_root():
        return {}
    return dict(Rules.model_construct().roots)


def _in_home_or_root() -> bool:
    """Return whether the current directory is the home directory or the root.

    Hosts may start their servers there, where keys are in reach.
    """
    try:
        here = Path.cwd().resolve()
    except OSError:
        return False
    homes = {Path("/")}
    with contextlib.suppress(RuntimeError, OSError):
        homes.add(Path.home().resolve())
    return here in homes or here == Path(here.anchor)


def _merged(lower: Mapping[str, Any], upper: Mapping[str, Any]) -> dict[str, Any]:
    """Return two tables merged recursively. The upper table wins where both have a value."""
    result = dict(lower)
    for name, value in upper.items():
        lower_value = result.get(name)
        if isinstance(value, dict) and isinstance(lower_value, dict):
            result[name] = _merged(cast("dict[str, Any]", lower_value), cast("dict[str, Any]", value))
        else:
            result[name] = value
    return result


def settings_of(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield every setting of a table and its nested tables, by its dotted name."""
    for name, value in table.items():
        if isinstance(value, dict):
            yield from settings_of(cast("dict[str, Any]", value), f"{prefix}{name}.")
        else:
            yield prefix + name, value
