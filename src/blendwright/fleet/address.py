"""The address of a fleet's database. Messages show it without its password."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any

from blendwright.values.errors import EnvironmentUnfit, Refusal
from blendwright.values.faults import Fault

VARIABLE = "BLENDWRIGHT_ENGINE"
"""The environment variable with the address. It may contain a password; a command line may not, because `ps` shows it to every user."""
FROM_ENVIRONMENT = "env"
SCHEMES = ("postgres://", "postgresql://")
EXTRA = "Install it: pip install 'blendwright[fleet]'"


@dataclass(frozen=True, slots=True)
class Address:
    """The address of a database: `shown` is safe to print, `conninfo` may contain a password."""

    shown: str
    conninfo: str = field(repr=False)

    def __str__(self) -> str:
        return self.shown


def is_address(text: str) -> bool:
    return text.startswith(SCHEMES)


def read_address(given: str | None) -> Address:
    """Return the address from the command line, or from the environment. Raise Refusal if it is invalid.

    The command line must not contain a password."""
    if given == FROM_ENVIRONMENT:
        given = None
    text = given or os.environ.get(VARIABLE) or ""
    if not is_address(text):
        if not text:
            message = "no database was named"
        elif given and "@" not in text:
            message = f"'{text}' is not the address of a PostgreSQL database"
        else:
            # The text may contain a password.
            message = "the value is not the address of a PostgreSQL database"
        fix = f"For example, pass --engine postgres://user@host/database, or set {VARIABLE}."
        raise Refusal.of(Fault.ARGS_INVALID, message, fix)
    parts = _parts(text)
    if given and parts.get("password"):
        raise Refusal.of(
            Fault.ARGS_INVALID,
            "the address on the command line contains a password, which every user of this machine can read",
            f"Set {VARIABLE} to the whole address, or put the password into PGPASSWORD or ~/.pgpass.",
        )
    return Address(_shown(parts), text)


def import_psycopg() -> Any:
    """Return the module psycopg, which an extra of the package installs. Raise EnvironmentUnfit without it."""
    try:
        import psycopg
    except ImportError as error:
        message = "the packages for batches on many machines are not installed"
        raise EnvironmentUnfit(message, cure=EXTRA) from error
    return psycopg


def _parts(text: str) -> dict[str, Any]:
    psycopg = import_psycopg()
    from psycopg import conninfo

    try:
        return dict(conninfo.conninfo_to_dict(text))
    except psycopg.ProgrammingError:
        # The driver's message contains the address with its password.
        raise Refusal.of(
            Fault.ARGS_INVALID,
            "the address of the database is not valid",
            "Write it as postgres://user@host:5432/database, with special characters as %40 and so on.",
        ) from None


def _shown(parts: dict[str, Any]) -> str:
    """Return the address with user, host, port and database. Every other part may be a secret or lead to one."""
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
