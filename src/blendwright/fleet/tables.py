"""The tables of a fleet, in a separate database schema together with Procrastinate's tables. The first process creates them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from blendwright.values.errors import EnvironmentUnfit

if TYPE_CHECKING:
    import psycopg

    Connection: TypeAlias = psycopg.Connection[Any]

SCHEMA = "blendwright"
VERSION = 1
# The number of an advisory lock, which keeps two processes from creating the tables at the same time.
LOCK = 0x626C656E64
# Each output location ("space") has a separate set of cases. Each row is updated twice (claimed, published), so pages keep free room for
# that. JSON columns keep the exact text. `members.submitted` is the value of `batches.latest` when the case was last among its rows.
CREATE = """
CREATE TABLE version (number integer NOT NULL);
CREATE TABLE spaces (id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, outputs text NOT NULL UNIQUE);
CREATE TABLE batches (
    serial integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, space integer NOT NULL REFERENCES spaces, id text NOT NULL,
    definition json NOT NULL, queue text NOT NULL, begun timestamptz NOT NULL DEFAULT now(), latest bigint NOT NULL,
    UNIQUE (space, id)
);
CREATE TABLE cases (
    space integer NOT NULL REFERENCES spaces, number bigint NOT NULL, key text NOT NULL, params json NOT NULL, source text NOT NULL,
    status text NOT NULL DEFAULT 'waiting', fence integer NOT NULL DEFAULT 0, attempts integer NOT NULL DEFAULT 0,
    worker text NOT NULL DEFAULT '', row json, PRIMARY KEY (space, key), UNIQUE (space, number),
    CHECK (status IN ('waiting', 'running', 'done', 'failed')), CHECK ((row IS NULL) = (status IN ('waiting', 'running')))
) WITH (fillfactor = 60);
CREATE TABLE members (
    batch integer NOT NULL REFERENCES batches, number bigint NOT NULL, submitted bigint NOT NULL, PRIMARY KEY (batch, number)
);
CREATE VIEW results AS
    SELECT batches.id AS batch, spaces.outputs, cases.number, cases.key, cases.status, cases.worker, cases.attempts, cases.params, cases.row
    FROM members JOIN batches ON batches.serial = members.batch JOIN spaces ON spaces.id = batches.space
    JOIN cases ON cases.space = batches.space AND cases.number = members.number;
"""


def make_tables(connection: Connection) -> None:
    """Create missing tables. Raise EnvironmentUnfit for tables of another version."""
    from procrastinate.schema import SchemaManager

    with connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (LOCK,))
        row = connection.execute("SELECT to_regclass(%s)", (f"{SCHEMA}.version",)).fetchone()
        if row is None or row[0] is None:
            connection.execute(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}")
            connection.execute(CREATE)
            connection.execute(SchemaManager.get_schema())
            connection.execute("INSERT INTO version VALUES (%s)", (VERSION,))
        row = connection.execute("SELECT number FROM version").fetchone()
    require_known(row and row[0])


def require_known(version: int | None) -> None:
    """Raise EnvironmentUnfit for tables of another version of Blendwright."""
    if version != VERSION:
        message = (
            f"the tables in schema {SCHEMA} have version {version}, but this Blendwright supports version {VERSION}"
        )
        raise EnvironmentUnfit(message, cure="Use the same Blendwright on all machines, or another database.")
