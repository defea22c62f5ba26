"""The combination of leaves: order-independent, sensitive to every key and digest, cheap to update."""

import random

import scene_parts

from blendwright.blender.fingerprint import Fingerprint, Key
from blendwright.blender.fingerprint.identity import label

LEAVES: dict[Key, bytes] = {("objects", f"Object {i}"): bytes([i % 256]) * 32 for i in range(1000)}


def test_the_label_names_method_and_blender() -> None:
    assert label() == "bw3:{}.{}".format(*scene_parts.version[:2])
    method, blender, digest = Fingerprint({}).root().split(":")
    assert f"{method}:{blender}" == label()
    assert len(digest) == 64


def test_the_order_of_leaves_does_not_matter() -> None:
    shuffled = list(LEAVES.items())
    random.Random(1).shuffle(shuffled)
    assert Fingerprint(dict(shuffled)).root() == Fingerprint(LEAVES).root()


def test_every_leaf_counts() -> None:
    roots = {Fingerprint(LEAVES).root()}
    for key in list(LEAVES)[:50]:
        roots.add(Fingerprint({**LEAVES, key: b"x" * 32}).root())
        roots.add(Fingerprint({k: v for k, v in LEAVES.items() if k != key}).root())
    assert len(roots) == 101


def test_putting_back_what_was_gives_the_hash_from_before() -> None:
    running = Fingerprint(LEAVES)
    before = running.root()
    running.put(("objects", "Object 5"), b"y" * 32)
    running.put(("objects", "New"), b"z" * 32)
    assert running.root() != before
    running.put(("objects", "Object 5"), LEAVES["objects", "Object 5"])
    running.drop(("objects", "New"))
    running.drop(("objects", "Never there"))
    assert running.root() == before
    assert running.get(("objects", "New")) is None
    assert running.get(("objects", "Object 7")) == LEAVES["objects", "Object 7"]


def test_keys_that_read_alike_when_joined_are_different() -> None:
    one = Fingerprint({("member", "ab", "c"): b"1" * 32})
    other = Fingerprint({("member", "a", "bc"): b"1" * 32})
    assert one.root() != other.root()
