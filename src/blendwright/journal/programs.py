"""The programs that produced plans, with their parameters and the library files that they loaded.

They document what their authors wrote. Blendwright rebuilds scenes from commits, never from programs.
"""

from __future__ import annotations

from blendwright.journal.store import Store, as_json, from_json, utc_now
from blendwright.records.requests import StoredProgram
from blendwright.values.plan import ProgramSource


class ProgramReader:
    """A reader of the programs that produced plans."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def of_request(self, request_id: str) -> tuple[StoredProgram, ...]:
        """Return the programs of a request in the order in which they ran."""
        sql = "SELECT hash, program, params, libraries, timestamp FROM programs WHERE request_id = ? ORDER BY id"
        with self._store.snapshot():
            return tuple(
                StoredProgram(
                    hash, program, from_json("a program", params), from_json("a program", libraries), timestamp
                )
                for hash, program, params, libraries, timestamp in self._store.rows(sql, (request_id,))
            )


class ProgramWriter(ProgramReader):
    """A reader and writer of the programs that produced plans."""

    def record(self, request_id: str, program: ProgramSource) -> None:
        """Record a program of a request. Recording the same program of the same request again has no effect."""
        sql = (
            "INSERT OR IGNORE INTO programs (request_id, hash, program, params, libraries, timestamp, fence)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)"
        )
        params, libraries = as_json("the parameters", program.params), as_json("the libraries", program.libraries)
        with self._store.transaction("program"):
            self._store.change(
                sql, (request_id, program.hash, program.text, params, libraries, utc_now(), self._store.fence)
            )
