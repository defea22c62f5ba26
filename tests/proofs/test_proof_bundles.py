"""A signed bundle holds what the journal holds, and whatever is changed in it afterwards is found, with its line. No Blender is needed."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from blendwright.journal import Journal
from blendwright.proofs import bundles as proof_bundles
from blendwright.proofs.bundles import verify_bundle, write_bundle
from blendwright.proofs.signing_keys import signing_key
from blendwright.records.branches import SwitchTo
from blendwright.values.errors import EnvironmentUnfit, JournalError, Refusal
from journal.ledger import audit, begun, chain, operation, raw, reading, saved


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """Commits on two branches, a reading, a failure, a plan that was taken back, and a saved scene."""
    journal: Journal = begun(tmp_path / "w", ["a", "b"])
    journal.commit([reading("look", "scene-b"), audit("bad", "failed", "scene-b", None)])
    journal.commit([operation("c", "scene-b", "scene-c", args={"path": "x", "password": "secret words"})])
    boundary = journal.recovery.begin_boundary("r")
    journal.commit(chain(["d"], "scene-c"))
    journal.roll_back(boundary)
    journal.branches.create("side", 2)
    journal.move_head("checkout", 2, SwitchTo("side"))
    journal.commit(chain(["e"], "scene-a"))
    journal.checkpoints.add(journal.checkpoints.stage(saved(tmp_path, "saved"), "scene-e"), 6)
    journal.close()
    return tmp_path / "w"


@pytest.fixture
def bundle(workspace: Path, tmp_path: Path) -> Path:
    signing_key(create=True)
    return write_bundle(workspace, tmp_path / "proof.jsonl", scenes=True).file


def problems(bundle: Path, content: bytes) -> tuple[str, ...]:
    other = bundle.with_name("other.jsonl")
    other.write_bytes(content)
    return verify_bundle(other).problems


def test_a_bundle_is_checked_by_itself_and_hides_what_the_policy_hides(bundle: Path, workspace: Path) -> None:
    key = signing_key()
    report = verify_bundle(bundle, keys=[key.fingerprint])
    assert report.problems == () and report.ok and report.trusted is True
    assert (report.commits, report.fingerprint) == (6, key.fingerprint)
    assert report.not_covered == 1, "the one with the password"
    assert verify_bundle(bundle).trusted is None and verify_bundle(bundle, keys=[key.public]).ok
    assert b"secret words" not in bundle.read_bytes()
    again = write_bundle(workspace, bundle.with_name("again.jsonl"), scenes=True)
    assert again.file.read_bytes() == bundle.read_bytes(), "equal journals give equal bytes"


def test_every_byte_counts_and_its_line_is_named(bundle: Path) -> None:
    content = bundle.read_bytes()
    chance = Random(4)
    lines = content.count(b"\n")
    places = {*range(0, len(content), max(1, len(content) // 400)), len(content) - 1, 0}
    for at in sorted(places):
        flipped = bytearray(content)
        flipped[at] ^= chance.choice((1, 2, 4, 8, 16, 32, 64, 128))
        found = problems(bundle, bytes(flipped))
        line = content[:at].count(b"\n") + 1
        assert found, f"byte {at} of line {line} was changed, and nobody noticed"
        if line <= lines - 2 and flipped[at] != 0x0A and content[at] != 0x0A:
            assert any(problem.startswith(f"line {line}:") for problem in found), (at, line, found)


def edited(content: bytes, edit: Callable[[list[dict[str, Any]]], None]) -> bytes:
    """The lines as somebody makes them who knows the format and has no key: with digests that fit, under the old signature."""
    lines = [json.loads(line) for line in content.splitlines()]
    body = [line for line in lines if not {"digests", "signature"} & line.keys()]
    edit(body)
    texts = [json.dumps(line, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode() for line in body]
    digests = "".join(proof_bundles.line_digest(text) for text in texts)
    last = [
        json.dumps({"digests": digests}, separators=(",", ":")).encode(),
        json.dumps(lines[-1], separators=(",", ":")).encode(),
    ]
    return b"\n".join([*texts, *last]) + b"\n"


def index(lines: list[dict[str, Any]], sort: str, nth: int = 0) -> int:
    return [at for at, line in enumerate(lines) if sort in line][nth]


def test_what_is_done_to_records_is_named(bundle: Path) -> None:
    def claim(lines: list[dict[str, Any]]) -> None:
        lines[index(lines, "audit", 1)]["audit"]["record"]["tool_name"] = "other.tool"

    def drop_record(lines: list[dict[str, Any]]) -> None:
        del lines[index(lines, "audit", 2)]

    def drop_commit(lines: list[dict[str, Any]]) -> None:
        del lines[index(lines, "commit", 5)]

    def other_scene(lines: list[dict[str, Any]]) -> None:
        lines[index(lines, "commit", 1)]["commit"]["hash_after"] = "scene-x"

    def other_arguments(lines: list[dict[str, Any]]) -> None:
        lines[index(lines, "commit", 1)]["commit"]["args"] = {"name": "FORGED"}

    def other_receipt(lines: list[dict[str, Any]]) -> None:
        lines[index(lines, "reading")]["reading"]["receipt"]["found"] = []

    def swap(lines: list[dict[str, Any]]) -> None:
        at = index(lines, "audit", 1)
        lines[at], lines[at + 1] = lines[at + 1], lines[at]

    def other_branch(lines: list[dict[str, Any]]) -> None:
        lines[0]["header"]["branch"] = "main"

    def other_move(lines: list[dict[str, Any]]) -> None:
        lines[index(lines, "move", 1)]["move"]["to_commit"] = 77

    def other_checkpoint(lines: list[dict[str, Any]]) -> None:
        lines[index(lines, "checkpoint")]["checkpoint"]["scene_hash"] = "scene-x"

    content = bundle.read_bytes()
    assert edited(content, lambda lines: None) == content
    for edit, said in (
        (claim, "record 2 was edited"), (drop_record, "record 3"), (drop_commit, "reports a success, but its commit"),
        (other_scene, "commit 3 starts from another scene"), (swap, "record"), (other_branch, "names another branch"),
        (other_move, "move 2 of HEAD"), (other_checkpoint, "has another scene"),
        (other_arguments, "commit 2 was edited"), (other_receipt, "reading 1 was edited"),
    ):  # fmt: skip
        found = problems(bundle, edited(content, edit))
        assert any(said in problem for problem in found), (said, found)
        assert any("the signature does not match the content" in problem for problem in found)


def test_who_signs_is_told_apart(
    bundle: Path, workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours = signing_key()
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "somebody else"))
    theirs = signing_key(create=True)
    forged = write_bundle(workspace, tmp_path / "forged.jsonl", key=theirs).file
    report = verify_bundle(forged, keys=[ours.fingerprint])
    assert not report.ok and report.trusted is False and theirs.fingerprint in report.problems[-1]
    mixed = replace(theirs, public=ours.public)
    report = verify_bundle(write_bundle(workspace, tmp_path / "mixed.jsonl", key=mixed).file, keys=[ours.fingerprint])
    assert not report.ok and "the signature does not match the content" in report.problems[0]
    with pytest.raises(Refusal, match="not a fingerprint"):
        verify_bundle(forged, keys=["abc"])


@pytest.mark.parametrize("key", ["nobody", "", "0" * 63, "f" * 64, "é" * 64, None, ["0" * 64]])
def test_a_key_that_is_none_signs_nothing(bundle: Path, key: Any) -> None:
    def forge(lines: list[dict[str, Any]]) -> None:
        lines[0]["header"]["key"] = key
        lines[index(lines, "commit", 1)]["commit"]["args"] = {"name": "FORGED"}

    other = bundle.with_name("other.jsonl")
    other.write_bytes(edited(bundle.read_bytes(), forge))
    report = verify_bundle(other)
    assert not report.ok and any(
        "no signature can be checked" in one or "the signature does not match" in one for one in report.problems
    )


def test_a_signature_in_other_letters_is_another_one(bundle: Path) -> None:
    content = bundle.read_bytes()
    body, _, last = content.rstrip(b"\n").rpartition(b"\n")
    signature = json.loads(last)["signature"]
    for other in (signature.upper(), f" {signature}", signature + "00"):
        text = json.dumps({"signature": other}, separators=(",", ":")).encode()
        assert "the signature does not match the content" in problems(bundle, body + b"\n" + text + b"\n")[0]


def test_a_scene_of_no_size_is_told_and_no_defect(bundle: Path) -> None:
    def forge(lines: list[dict[str, Any]]) -> None:
        lines[index(lines, "checkpoint")]["checkpoint"].update(size=-1, sha256="0" * 64)

    found = problems(bundle, edited(bundle.read_bytes(), forge))
    assert f"the scene {'0' * 64} is missing or differs from its checkpoint" in found


@pytest.mark.parametrize(
    "content",
    [b"", b"\n", b"{}\n", b"[1]\n", b"\x00\xff\n", b'{"header":{}}\n', b'{"header":1}\n', b"x" * 100_000, b'{"header":' * 50_000,
     b'{"header":{"branch":null,"counts":{"audit":99999999999}}}\n' * 3],
)  # fmt: skip
def test_anything_that_is_no_bundle_is_told_so(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "bad.jsonl"
    file.write_bytes(content)
    report = verify_bundle(file)
    assert not report.ok and report.problems and report.fingerprint is None


def test_lines_without_end_and_lines_without_number_are_not_read(bundle: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = bundle.read_bytes()
    monkeypatch.setattr(proof_bundles, "LONGEST_LINE", 2000)
    assert any("larger than any" in problem for problem in problems(bundle, b'{"header":"' + b"x" * 10_000))
    monkeypatch.setattr(proof_bundles, "LONGEST_LINE", 1 << 20)
    monkeypatch.setattr(proof_bundles, "MOST_LINES", 5)
    assert any("larger than any" in problem for problem in problems(bundle, content))


def test_nothing_is_signed_that_does_not_hold_and_no_file_is_replaced_unasked(workspace: Path, tmp_path: Path) -> None:
    target = tmp_path / "proof.jsonl"
    with pytest.raises(Refusal, match="no signing key"):
        write_bundle(workspace, target)
    signing_key(create=True)
    target.write_text("mine")
    with pytest.raises(Refusal, match="exists already"):
        write_bundle(workspace, target)
    database = raw(workspace)
    database.execute(
        "UPDATE audit SET record = replace(record, 'object.create_empty', 'object.delete') WHERE sequence = 2"
    )
    database.close()
    with pytest.raises(Refusal, match="is broken: record 2 was edited"):
        write_bundle(workspace, target, overwrite=True)
    assert target.read_text() == "mine"


def test_a_key_is_made_once_and_is_for_its_owner_alone(tmp_path: Path) -> None:
    made = signing_key(create=True)
    assert made.made and made.file.stat().st_mode & 0o777 == 0o600 and list(made.file.parent.iterdir()) == [made.file]
    again = signing_key(create=True)
    assert not again.made and again.fingerprint == made.fingerprint
    assert "PRIVATE" not in json.dumps(made.to_json())
    made.file.chmod(0o640)
    with pytest.raises(EnvironmentUnfit, match="read by other users"):
        signing_key()
    made.file.chmod(0o600)
    made.file.write_text("no key")
    with pytest.raises(EnvironmentUnfit, match="does not contain a key"):
        signing_key()


def test_no_file_but_a_checkpoint_gets_into_a_bundle_with_scenes(workspace: Path, tmp_path: Path) -> None:
    signing_key(create=True)
    proof = tmp_path / "proof.jsonl"
    (place,) = (workspace / "checkpoints").iterdir()
    content = place.read_bytes()
    (tmp_path / "private.blend").write_text("secret")
    place.write_text("secret")
    with pytest.raises(JournalError, match="does not have the content that its name promises"):
        write_bundle(workspace, proof, scenes=True)
    place.unlink()
    place.symlink_to(tmp_path / "private.blend")
    with pytest.raises(EnvironmentUnfit):
        write_bundle(workspace, proof, scenes=True)
    place.unlink()
    place.write_bytes(content)
    raw(workspace).execute("UPDATE checkpoints SET sha256 = '../../private'")
    with pytest.raises((JournalError, Refusal), match="private"):
        write_bundle(workspace, proof, scenes=True)
    assert not proof.exists()
