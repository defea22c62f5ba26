"""The tables of a fleet, in a schema of their own, with those of Procrastinate beside them. Made by whoever comes first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from blendwright.values.errors import EnvironmentUnfit

if TYPE_CHECKING:
    import psycopg

    Connection: TypeAlias = psycopg.Connection[Any]

SCHEMA = "blendwright"
VERSION = 1
# Any number that others do not use: it keeps two from making the tables at the same time.
LOCK = 0x626C656E64
# A place for outputs has a table of results of its own: what is done there is done nowhere else. Rows are updated in place twice
# (claimed, published), so pages keep room for that; JSON is kept as it was written, to the digit. `submitted` is the `latest` of the batch
# when a case was last among its rows.
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
    """Make what is missing; what is there is left alone. Raises EnvironmentUnfit for tables of another version."""
    from procrastinate.schema import SchemaManager

    with connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (LOCK,))
        found = connection.execute("SELECT to_regclass(%s)", (f"{SCHEMA}.version",)).fetchone()
        if found is None or found[0] is None:
            connection.execute(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}")
            connection.execute(CREATE)
            connection.execute(SchemaManager.get_schema())
            connection.execute("INSERT INTO version VALUES (%s)", (VERSION,))
        row = connection.execute("SELECT number FROM version").fetchone()
    require_known(row and row[0])


def require_known(version: int | None) -> None:
    """Raises EnvironmentUnfit for tables of another version of this program."""
    if version != VERSION:
        message = f"the tables in the schema {SCHEMA} are of version {version}, and this Blendwright knows {VERSION}"
        raise EnvironmentUnfit(message, cure="Use the same Blendwright everywhere, or another database.")
