"""The combination of all leaves into one scene hash.

Responsible for: an order-independent, collision-resistant hash over (key, digest) pairs that costs little per change.
A pair is filed in one of 4,096 buckets by the first bits of its key's hash; a bucket is the hash of its sorted pairs, a group the
hash of 64 buckets, the root the hash of the 64 groups. So a change costs a handful of pairs and two short hashes, also among
100,000 datablocks. Reads no content.
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
    # No name holds a null, so no two keys share an encoding: a scene's own collection counts as two parts. Names may hold
    # bytes that are not UTF-8; Python carries them as surrogates.
    return sha256("\0".join(key).encode("utf-8", "surrogateescape")).digest()


class Fingerprint:
    """The leaves of a scene and their combined hash, kept up to date by `put` and `drop`."""

    def __init__(self, leaves: Mapping[Key, bytes]) -> None:
        self._leaves: dict[Key, bytes] = {}
        # Pairs as they are hashed, sorted.
        self._buckets: list[list[bytes]] = [[] for _ in range(_BUCKETS)]
        # In one piece for each group: hashes scattered over the heap would cost more to collect than to hash.
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
        """Take a leaf out; a key that is not there is left alone."""
        before = self._leaves.pop(key, None)
        if before is not None:
            hashed = _key_hash(key)
            self._bucket(hashed).remove(hashed + before)

    def _bucket(self, hashed: bytes) -> list[bytes]:
        """That of a key, which is about to change."""
        index = (hashed[0] << 4) | (hashed[1] >> 4)
        self._dirty.add(index)
        self._root = None
        return self._buckets[index]

    def get(self, key: Key) -> bytes | None:
        return self._leaves.get(key)

    def root(self) -> str:
        """The scene hash, `label:hex`. Only what changed since the last call is computed again."""
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
        """A live, read-only view."""
        return MappingProxyType(self._leaves)

    def __len__(self) -> int:
        return len(self._leaves)


def changes_between(before: Mapping[Key, bytes | None], after: Mapping[Key, bytes | None]) -> list[list[str]]:
    """What is different from some leaves to others, in the words of an answer and in a stable order."""
    changes: list[list[str]] = []
    for key in sorted(before.keys() | after.keys()):
        old, new = before.get(key), after.get(key)
        if old != new:
            changes.append([*key_words(key), "created" if old is None else "removed" if new is None else "changed"])
    return changes
