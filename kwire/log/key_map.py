"""The last offset of every key in the part of a log that compaction has not seen yet.

The map takes a bounded amount of memory (log.cleaner.dedupe.buffer.size), give or take one batch.
When it is full, the round ends at the offset it reached, and the next round goes on from there.
"""

LONGEST_PLAIN_KEY = 32
DIGEST_BYTES = LONGEST_PLAIN_KEY + 1
"""A digest is longer than any key that is kept as it is, so the two cannot be confused."""

ENTRY_BYTES = 224
"""What one entry costs at most: a key object, an offset, and its place in a half-filled table."""


class KeyMap:
    def __init__(self, limit_bytes: int) -> None:
        self._limit = max(1, limit_bytes // ENTRY_BYTES)
        self._offsets: dict[bytes, int] = {}
        self.latest_offset = -1
        """Everything up to here has been taken in."""

    def __len__(self) -> int:
        return len(self._offsets)

    @property
    def is_full(self) -> bool:
        return len(self._offsets) >= self._limit

    def put(self, key: bytes, offset: int) -> None:
        """Remember the newest offset of a key. Whoever puts a batch of keys looks before it."""
        self._offsets[_compact(key)] = offset

    def last_offset_of(self, key: bytes) -> int:
        """-1 for a key that was not seen."""
        return self._offsets.get(_compact(key), -1)


def _compact(key: bytes) -> bytes:
    if len(key) <= LONGEST_PLAIN_KEY:
        return key
    from hashlib import blake2b

    return blake2b(key, digest_size=DIGEST_BYTES).digest()
