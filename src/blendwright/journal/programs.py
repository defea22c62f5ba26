"""The programs that plans come from, with their parameters and the library files that they loaded. The scene is rebuilt from commits, and
nothing is rebuilt from these: they say what somebody wrote."""

from __future__ import annotations

from blendwright.journal.store import Store, as_json, from_json, utc_now
from blendwright.records.requests import StoredProgram
from blendwright.values.plan import ProgramSource


class ProgramReader:
    """Reads the programs that plans came from."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def of_request(self, request_id: str) -> tuple[StoredProgram, ...]:
        """In the order in which they were run."""
        sql = "SELECT hash, program, params, libraries, timestamp FROM programs WHERE request_id = ? ORDER BY id"
        with self._store.snapshot():
            return tuple(
                StoredProgram(
                    hash, program, from_json("a program", params), from_json("a program", libraries), timestamp
                )
                for hash, program, params, libraries, timestamp in self._store.rows(sql, (request_id,))
            )


class ProgramWriter(ProgramReader):
    """Records the programs that plans come from."""

    def record(self, request_id: str, program: ProgramSource) -> None:
        """Once for a request: the same program again, to be continued or to be sure, is no other."""
        sql = (
            "INSERT OR IGNORE INTO programs (request_id, hash, program, params, libraries, timestamp, fence)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)"
        )
        params, libraries = as_json("the parameters", program.params), as_json("the libraries", program.libraries)
        with self._store.transaction("program"):
            self._store.change(
                sql, (request_id, program.hash, program.text, params, libraries, utc_now(), self._store.fence)
            )
