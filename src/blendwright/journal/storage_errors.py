"""What SQLite and the file system say when they refuse, turned into what a person can act on."""

from __future__ import annotations

import contextlib
import errno
from collections.abc import Generator

import apsw

from blendwright.values.errors import EnvironmentUnfit, JournalError

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)

_NO_SPACE = "Free some space on the disk of the workspace, then run the command again: it goes on from the last commit."
_NO_ACCESS = "Check the disk of the workspace and the permissions in it, then run the command again."
_DAMAGED = "Restore journal.db from a backup, or start a new workspace from a checkpoint: blendwright new --scene FILE."


@contextlib.contextmanager
def translate_errors(doing: str) -> Generator[None]:
    """Whatever the disk or the database raises inside leaves as EnvironmentUnfit or JournalError, with the cause behind it."""
    try:
        yield
    except (apsw.Error, OSError) as error:
        raise _explanation(doing, error) from error


def _explanation(doing: str, error: apsw.Error | OSError) -> EnvironmentUnfit | JournalError:
    match error:
        case apsw.FullError():
            return EnvironmentUnfit(f"{doing}: the disk is full", cure=_NO_SPACE)
        case OSError() if error.errno in FULL:
            return EnvironmentUnfit(f"{doing}: no room on the disk ({error.strerror})", cure=_NO_SPACE)
        case apsw.CorruptError() | apsw.NotADBError():
            return JournalError(f"{doing}: journal.db is damaged ({error})", cure=_DAMAGED)
        case apsw.ConstraintError():
            return JournalError(f"{doing}: the journal refuses it ({error})")
        case apsw.BusyError() | apsw.LockedError():
            return EnvironmentUnfit(f"{doing}: another program holds journal.db", cure="End it, then try again.")
        case apsw.IOError() | apsw.CantOpenError() | apsw.ReadOnlyError() | apsw.PermissionsError() | OSError():
            return EnvironmentUnfit(f"{doing}: the disk refuses ({error})", cure=_NO_ACCESS)
        case _:
            return JournalError(f"{doing}: {error}")
