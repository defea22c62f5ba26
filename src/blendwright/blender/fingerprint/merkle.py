"""The combination of all leaves into one scene hash.

The hash over (key, digest) pairs is collision-resistant, does not depend on their order, and costs little per change.
The first bits of a key's hash choose one of 4,096 buckets for its pair. A bucket's hash covers its sorted pairs, a group's hash
covers 64 buckets, and the root covers the 64 groups. A change therefore hashes a handful of pairs and two short strings, even
among 100,000 datablocks. This module reads no content.
"""

from bisect import insort
from collections.abc import Mapping
from hashlib import sha256
from types import MappingProxyType

from blendwright.blender.fingerprint.identity import Key, key_words, label

_SIZE = sha256().digest_size
_FANOUT = 64
_BUCKETS = _FANOUT * _FANOUT
_EMPTY_BUCKET = sha256(b"").digest()
_EMPTY_GROUP = sha256(_EMPTY_BUCKET * _FANOUT).digest()


def _key_hash(key: Key) -> bytes:
    # No name contains a null, so no two keys share an encoding. A scene's master collection counts as two parts. Names may
    # contain bytes that are not UTF-8; Python represents them as surrogates.
    return sha256("\0".join(key).encode("utf-8", "surrogateescape")).digest()


class Fingerprint:
    """The leaves of a scene and their combined hash, updated by `put` and `drop`."""

    def __init__(self, leaves: Mapping[Key, bytes]) -> None:
        self._leaves: dict[Key, bytes] = {}
        # Each bucket: its pairs (key hash + digest), sorted.
        self._buckets: list[list[bytes]] = [[] for _ in range(_BUCKETS)]
        # One bytearray per group: collecting hashes scattered over the heap would cost more than hashing them.
        self._hashes = [bytearray(_EMPTY_BUCKET * _FANOUT) for _ in range(_FANOUT)]
        self._groups = bytearray(_EMPTY_GROUP * _FANOUT)
        self._dirty: set[int] = set()
        self._root: str | None = None
        for key, digest in leaves.items():
            self.put(key, digest)

    def put(self, key: Key, digest: bytes) -> None:
        """Add a leaf, or replace its digest."""
        before = self._leaves.get(key)
        if before == digest:
            return
        self._leaves[key] = digest
        hashed = _key_hash(key)
        bucket = self._bucket(hashed)
        if before is not None:
            bucket.remove(hashed + before)
        insort(bucket, hashed + digest)

    def drop(self, key: Key) -> None:
        """Remove a leaf; ignore an unknown key."""
        before = self._leaves.pop(key, None)
        if before is not None:
            hashed = _key_hash(key)
            self._bucket(hashed).remove(hashed + before)

    def _bucket(self, hashed: bytes) -> list[bytes]:
        """Return the bucket for a key's hash and mark it as changed."""
        index = (hashed[0] << 4) | (hashed[1] >> 4)
        self._dirty.add(index)
        self._root = None
        return self._buckets[index]

    def get(self, key: Key) -> bytes | None:
        """Return the digest of a leaf; None for an unknown key."""
        return self._leaves.get(key)

    def root(self) -> str:
        """Return the scene hash, `label:hex`. It hashes only the changes since the last call."""
        if self._root is None:
            for index in self._dirty:
                offset = index % _FANOUT * _SIZE
                self._hashes[index // _FANOUT][offset : offset + _SIZE] = sha256(
                    b"".join(self._buckets[index])
                ).digest()
            for group in {index // _FANOUT for index in self._dirty}:
                offset = group * _SIZE
                self._groups[offset : offset + _SIZE] = sha256(self._hashes[group]).digest()
            self._dirty.clear()
            self._root = f"{label()}:{sha256(self._groups).hexdigest()}"
        return self._root

    def leaves(self) -> Mapping[Key, bytes]:
        """Return a live, read-only view of the leaves."""
        return MappingProxyType(self._leaves)

    def __len__(self) -> int:
        return len(self._leaves)


def changes_between(before: Mapping[Key, bytes | None], after: Mapping[Key, bytes | None]) -> list[list[str]]:
    """Return the differences between two sets of leaves, in a stable order.

    Each difference is the words of the key, followed by "created", "removed" or "changed".
    """
    changes: list[list[str]] = []
    for key in sorted(before.keys() | after.keys()):
        old, new = before.get(key), after.get(key)
        if old == new:
            continue
        if old is None:
            kind = "created"
        elif new is None:
            kind = "removed"
        else:
            kind = "changed"
        changes.append([*key_words(key), kind])
    return changes
