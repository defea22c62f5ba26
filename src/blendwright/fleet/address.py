"""Where the database of a fleet is: read once, shown without its password, and never passed on."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any

from blendwright.values.errors import EnvironmentUnfit, Refusal
from blendwright.values.faults import Fault

VARIABLE = "BLENDWRIGHT_ENGINE"
"""May hold an address with a password; a command line is shown to every user of a machine by `ps`."""
FROM_ENVIRONMENT = "env"
SCHEMES = ("postgres://", "postgresql://")
EXTRA = "Install it: pip install 'blendwright[fleet]'"


@dataclass(frozen=True, slots=True)
class Address:
    """An address that may be shown, and beside it what is needed to connect, which may not."""

    shown: str
    conninfo: str = field(repr=False)

    def __str__(self) -> str:
        return self.shown


def is_address(text: str) -> bool:
    return text.startswith(SCHEMES)


def read_address(given: str | None) -> Address:
    """The address from the command line, or from the environment. One with a password is taken from the environment only."""
    if given == FROM_ENVIRONMENT:
        given = None
    text = given or os.environ.get(VARIABLE) or ""
    if not is_address(text):
        if given and "@" not in text:
            named = f"'{text}'"
        else:
            named = "what was given"
        if text:
            message = f"{named} is not the address of a PostgreSQL database"
        else:
            message = "no engine was named"
        raise Refusal.of(
            Fault.ARGS_INVALID, message, f"For example: --engine postgres://user@host/database, or set {VARIABLE}."
        )
    parts = _parts(text)
    if given and parts.get("password"):
        raise Refusal.of(
            Fault.ARGS_INVALID,
            "the address on the command line has a password in it, which every user of this machine can read",
            f"Put the whole address into {VARIABLE}, or the password into PGPASSWORD or ~/.pgpass.",
        )
    return Address(_shown(parts), text)


def import_psycopg() -> Any:
    """The driver, which is an extra of the package."""
    try:
        import psycopg
    except ImportError as error:
        raise EnvironmentUnfit("the packages for batches over many machines are not installed", cure=EXTRA) from error
    return psycopg


def _parts(text: str) -> dict[str, Any]:
    psycopg = import_psycopg()
    from psycopg import conninfo

    try:
        return dict(conninfo.conninfo_to_dict(text))
    except psycopg.ProgrammingError:
        # The driver's own message repeats the address.
        raise Refusal.of(
            Fault.ARGS_INVALID,
            "the address of the database cannot be read",
            "It has the form postgres://user@host:5432/database; special characters are written as %40 and so on.",
        ) from None


def _shown(parts: dict[str, Any]) -> str:
    """User, host, port and database; everything else may be a secret or points to one."""
    if parts.get("user"):
        user = f"{parts['user']}@"
    else:
        user = ""
    host = str(parts.get("host") or "local socket")
    if parts.get("port"):
        port = f":{parts['port']}"
    else:
        port = ""
    return f"postgres://{user}{host}{port}/{parts.get('dbname') or ''}"
