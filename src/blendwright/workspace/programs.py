"""The environment of programs in a workspace: the names that they can call, and library files inside the roots."""

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

# The maximum size of a library file, in bytes.
MAX_LIBRARY_BYTES = 262_144


def program_surroundings(
    workspace: str | Path, *, beside: Path | None = None, roots: Sequence[str | Path] | None = None
) -> Surroundings:
    """Return the environment of a program. Raise Refusal when the policy or a macro of the workspace is invalid.

    `beside` is the directory of a program file. Loading searches it first, and then the roots. `roots` replace the
    roots of the policy.
    """
    directory = workspace_directory(workspace)
    tools = catalog.tools()
    policy = allowed_roots(load_policy(directory).policy, roots)
    file_roots = FileRoots(policy.policy.roots, directory)
    return surroundings_of((*tools, *load_macros(directory, tools)), file_roots, beside)


def surroundings_of(names: Iterable[str], roots: FileRoots, beside: Path | None = None) -> Surroundings:
    """Return the environment of a program from callable names and roots that the caller has already loaded."""
    allowed = [Path(root) for root, verdict in roots.roots.items() if verdict is Verdict.ALLOW]
    bases = allowed
    if beside is not None:
        bases = [beside.resolve(), *allowed]

    def read(path: str) -> str:
        return _read_library(path, bases, roots)

    return Surroundings(tuple(names), read)


def _read_library(path: str, bases: Sequence[Path], roots: FileRoots) -> str:
    """Return the text of a library file.

    Raise Refusal when it is missing, outside the roots, too large or unreadable.
    """
    shown = path[:200]
    if not path.endswith(".star"):
        raise _refusal(f"'{shown}' is not a library: the names of library files end in .star")
    for base in bases:
        try:
            file = (base / path).resolve()
            if not file.is_file():
                continue
            if not roots.allows(file, Verdict.ALLOW):
                raise _refusal(f"'{shown}' is outside the roots that the policy allows")
            with open_file(file) as opened:
                content = opened.read(MAX_LIBRARY_BYTES + 1)
            if len(content) > MAX_LIBRARY_BYTES:
                raise _refusal(f"'{shown}' is larger than {MAX_LIBRARY_BYTES >> 10} kB")
            return content.decode().replace("\r\n", "\n")
        except (OSError, ValueError, RuntimeError) as error:
            raise _refusal(f"'{shown}' cannot be read: {getattr(error, 'strerror', None) or error}") from error
    searched = ", ".join(map(str, bases)) or "no directory at all"
    raise _refusal(f"there is no library '{shown}' in {searched}")


def _refusal(message: str) -> Refusal:
    return Refusal([Finding(Fault.SCHEMA_INVALID, message)])
