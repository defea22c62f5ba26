"""A PostgreSQL of its own for tests: a cluster in a temporary directory, on a private socket and on loopback, that ends with its parent."""

from __future__ import annotations

import os
import pwd
import secrets
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import psycopg
from psycopg import sql

PROJECT = Path(__file__).parents[2]
STARTS_WITHIN = 60.0
"""Seconds: the machine may be busy."""


class Cluster:
    """One server. As root it runs as the user `postgres`, since PostgreSQL refuses root."""

    def __init__(self, programs: Path, place: Path) -> None:
        self.programs = programs
        self.place = place
        self.data = place / "data"
        self.port = free_port()
        self.password = secrets.token_urlsafe(16)
        self.user = "postgres" if os.geteuid() == 0 else pwd.getpwuid(os.geteuid()).pw_name
        self._server: subprocess.Popen[bytes] | None = None

    def url(self, database: str = "postgres") -> str:
        """Over loopback, with a password that must not be seen anywhere."""
        return f"postgresql://{self.user}:{self.password}@127.0.0.1:{self.port}/{database}"

    def new_database(self, name: str) -> str:
        with psycopg.connect(self.url(), autocommit=True) as connection:
            connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        return self.url(name)

    @property
    def pid(self) -> int:
        assert self._server is not None
        return self._server.pid

    def make(self) -> None:
        given = self.place / "password"
        given.write_text(self.password)
        if os.geteuid() == 0:
            owner = pwd.getpwnam(self.user)
            for path in (self.place, given):
                os.chown(path, owner.pw_uid, owner.pw_gid)
        initdb = [
            *("initdb", "--pgdata", str(self.data), "--username", self.user, "--pwfile", str(given)),
            *(
                "--auth-local",
                "peer",
                "--auth-host",
                "scram-sha-256",
                "--encoding",
                "UTF8",
                "--locale",
                "C",
                "--no-sync",
            ),
        ]
        subprocess.run(self._as_its_user(*initdb), check=True, capture_output=True)
        given.unlink()

    def start(self) -> None:
        """Durability is what the tests are about, so fsync stays as it is by default."""
        settings = {
            "listen_addresses": "127.0.0.1",
            "port": str(self.port),
            "unix_socket_directories": str(self.place),
            "max_connections": "200",
        }
        options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        with (self.place / "log").open("ab") as log:
            self._server = subprocess.Popen(
                self._as_its_user("postgres", "-D", str(self.data), *options), stdout=log, stderr=log, cwd="/"
            )
        ends = time.monotonic() + STARTS_WITHIN
        ready = [str(self.programs / "pg_isready"), "--quiet", "--host", "127.0.0.1", "--port", str(self.port)]
        while subprocess.run(ready, check=False).returncode != 0:
            if self._server.poll() is not None or time.monotonic() > ends:
                raise RuntimeError("PostgreSQL does not start: " + (self.place / "log").read_text()[-2000:])
            time.sleep(0.05)

    def stop(self, signal_name: str = "INT") -> None:
        """INT ends connections and writes everything down; QUIT is a crash, after which the server recovers from its log."""
        if self._server is None:
            return
        self._server.send_signal({"INT": 2, "QUIT": 3}[signal_name])
        self._server.wait(timeout=STARTS_WITHIN)
        self._server = None

    def _as_its_user(self, program: str, *arguments: str) -> list[str]:
        """With a parent that dies, the server ends: SIGINT is its fast shutdown."""
        other_user = ["--reuid", self.user, "--regid", self.user, "--init-groups"] if os.geteuid() == 0 else []
        return ["setpriv", *other_user, "--pdeathsig", "INT", str(self.programs / program), *arguments]


@contextmanager
def running_cluster() -> Generator[Cluster]:
    found = subprocess.run(
        ["bash", str(PROJECT / "scripts" / "postgresql")], check=True, stdout=subprocess.PIPE, text=True
    )
    # Not in the folder of a test: the path of a socket has at most 107 characters, and another user has to reach it.
    place = Path(tempfile.mkdtemp(prefix="bw-pg-", dir="/tmp"))
    cluster = Cluster(Path(found.stdout.strip()), place)
    try:
        cluster.make()
        cluster.start()
        yield cluster
    finally:
        cluster.stop()
        shutil.rmtree(place, ignore_errors=True)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
