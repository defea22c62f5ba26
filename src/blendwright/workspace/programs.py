"""What programs find around them in a workspace: the names that they can call, and library files inside the roots."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from blendwright.dialects.dialect import Surroundings
from blendwright.engine.files.roots import FileRoots
from blendwright.macros import load_macros
from blendwright.policy.policy import Verdict
from blendwright.tools import catalog
from blendwright.util.no_follow import open_file
from blendwright.values.errors import Refusal
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding
from blendwright.workspace.locations import workspace_directory
from blendwright.workspace.policy_files import allowed_roots, load_policy

LARGEST_LIBRARY = 262_144


def program_surroundings(
    workspace: str | Path, *, beside: Path | None = None, roots: Sequence[str | Path] | None = None
) -> Surroundings:
    """`beside` is the directory of the program, where it is a file: what it loads is looked for there first, then in the roots.
    `roots` are those that hold instead of the policy's. Raises Refusal when the policy or a macro of the workspace is not sound."""
    directory = workspace_directory(workspace)
    tools = catalog.tools()
    policy = allowed_roots(load_policy(directory).policy, roots)
    around = FileRoots(policy.policy.roots, directory)
    return surroundings_of((*tools, *load_macros(directory, tools)), around, beside)


def surroundings_of(names: Iterable[str], roots: FileRoots, beside: Path | None = None) -> Surroundings:
    """For those who have all of it at hand."""
    allowed = [Path(root) for root, verdict in roots.roots.items() if verdict is Verdict.ALLOW]
    bases = [*([] if beside is None else [beside.resolve()]), *allowed]

    def read(path: str) -> str:
        return _read_library(path, bases, roots)

    return Surroundings(tuple(names), read)


def _read_library(path: str, bases: Sequence[Path], roots: FileRoots) -> str:
    """The text of a library file. Raises Refusal."""
    shown = path[:200]
    if not path.endswith(".star"):
        raise _refusal(f"'{shown}' is no library: the names of library files end in .star")
    for base in bases:
        try:
            found = (base / path).resolve()
            if not found.is_file():
                continue
            if not roots.allows(found, Verdict.ALLOW):
                raise _refusal(f"'{shown}' is outside of the roots that the policy allows")
            with open_file(found) as opened:
                content = opened.read(LARGEST_LIBRARY + 1)
            if len(content) > LARGEST_LIBRARY:
                raise _refusal(f"'{shown}' has more than {LARGEST_LIBRARY >> 10} kB")
            return content.decode().replace("\r\n", "\n")
        except (OSError, ValueError, RuntimeError) as error:
            raise _refusal(f"'{shown}' cannot be read: {getattr(error, 'strerror', None) or error}") from error
    where = ", ".join(map(str, bases)) or "no directory at all"
    raise _refusal(f"there is no library '{shown}' in {where}")


def _refusal(message: str) -> Refusal:
    return Refusal([Finding(Fault.SCHEMA_INVALID, message)])
