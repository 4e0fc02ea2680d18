"""The fast lane of the data path: requests that repeat are compared instead of decoded.

The Produce requests of a connection that write to one partition differ from each other only in the
correlation id, the partition and the batch; its Fetch requests without a session only in the
correlation id and the offset. A request of such a shape is kept when it was decoded for the first
time. When the next one has the same bytes around those places, they alone are read, and put into
the kept request. Whatever differs in any other way takes the general lane, through the codec.

So a handler must not hold on to a request's topics after it has returned.
"""

import struct
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    # A broker answers its first client before it has loaded what nobody asked for.
    from kwire.codec.messages.fetch import FetchRequest
    from kwire.codec.messages.produce import ProduceRequest

Decode = Callable[[memoryview, int], tuple[Any, int]]

NO_SESSION_EPOCH = -1
MOST_LEARNED_BYTES = 256
"""A request with more around its changing places is not learned: looking for them takes time."""

_AFTER_CORRELATION_ID = 8
_TAGS = b"\0\0\0"
_pack_offset = struct.Struct(">q").pack
_unpack_offset = struct.Struct(">q").unpack_from


class RepeatedProduce:
    """One batch for one partition: `prefix` stands before the partition's number."""

    __slots__ = ("_end", "_is_flexible", "_prefix", "_request", "_unpack", "_wanted")

    def __init__(self, prefix: bytes, request: "ProduceRequest", is_flexible: bool) -> None:
        self._prefix = prefix
        self._end = _AFTER_CORRELATION_ID + len(prefix)
        self._is_flexible = is_flexible
        self._request = request
        self._wanted = request.topic_data[0].partition_data[0]
        self.let_go()
        layout = f">{len(prefix)}si" + ("BB" if is_flexible else "i")
        self._unpack = struct.Struct(layout).unpack_from

    def read(self, frame: memoryview) -> "ProduceRequest | None":
        """The request in this frame; `None` if it is another than the one that repeats."""
        try:
            if self._is_flexible:
                prefix, index, low, high = self._unpack(frame, _AFTER_CORRELATION_ID)
                if low < 128 or high >= 128 or frame[-3:] != _TAGS:
                    return None
                length, start, end = (low & 127 | high << 7) - 1, self._end + 6, len(frame) - 3
            else:
                prefix, index, length = self._unpack(frame, _AFTER_CORRELATION_ID)
                start, end = self._end + 8, len(frame)
        except struct.error:
            return None
        if prefix != self._prefix or start + length != end:
            return None
        self._wanted.index = index
        self._wanted.records = frame[start:end]
        return self._request

    def let_go(self) -> None:
        """The request was handled: its batch must not keep the connection's buffer alive."""
        self._wanted.records = None


class RepeatedFetch:
    """One partition without a session: only the offset changes."""

    __slots__ = ("_at", "_prefix", "_request", "_suffix", "_unpack", "_wanted")

    def __init__(self, frame: memoryview, at: int, request: "FetchRequest") -> None:
        self._at = at
        self._prefix = bytes(frame[_AFTER_CORRELATION_ID:at])
        self._suffix = bytes(frame[at + 8 :])
        self._request = request
        self._wanted = request.topics[0].partitions[0]
        layout = f">{len(self._prefix)}sq{len(self._suffix)}s"
        self._unpack = struct.Struct(layout).unpack_from

    def read(self, frame: memoryview) -> "FetchRequest | None":
        try:
            prefix, offset, suffix = self._unpack(frame, _AFTER_CORRELATION_ID)
        except struct.error:
            return None
        if prefix != self._prefix or suffix != self._suffix:
            return None
        if len(frame) != self._at + 8 + len(suffix):
            return None
        self._wanted.fetch_offset = offset
        return self._request

    def let_go(self) -> None:
        """Nothing of the frame is kept."""


def learn_produce(
    frame: memoryview, position: int, request: "ProduceRequest", decode: Decode, is_flexible: bool
) -> RepeatedProduce | None:
    """Keep a request for one partition that is part of no transaction."""
    if request.transactional_id is not None or len(request.topic_data) != 1:
        return None
    (topic,) = request.topic_data
    if len(topic.partition_data) != 1 or topic.partition_data[0].records is None:
        return None
    size = len(topic.partition_data[0].records)
    if is_flexible and not 127 <= size < 127 + (1 << 14) - 128:
        return None
    before_records = 4 + (2 if is_flexible else 4)
    end = len(frame) - (len(_TAGS) if is_flexible else 0) - size - before_records
    if not position < end <= MOST_LEARNED_BYTES:
        return None
    kept, _ = decode(frame, position)
    repeated = RepeatedProduce(bytes(frame[_AFTER_CORRELATION_ID:end]), kept, is_flexible)
    # Bytes that nobody knows may stand behind the message or among its tags: then it stays decoded.
    is_true = repeated.read(frame) == request
    repeated.let_go()
    return repeated if is_true else None


def learn_fetch(
    frame: memoryview, position: int, request: "FetchRequest", decode: Decode, is_flexible: bool
) -> RepeatedFetch | None:
    """Keep a request for one partition without a session, if it shows where its offset stands."""
    if request.session_epoch != NO_SESSION_EPOCH or len(request.topics) != 1:
        return None
    (topic,) = request.topics
    if len(topic.partitions) != 1 or len(frame) > MOST_LEARNED_BYTES:
        return None
    other = topic.partitions[0].fetch_offset ^ 1
    kept, _ = decode(frame, position)
    kept.topics[0].partitions[0].fetch_offset = other
    for at in _places_of(topic.partitions[0].fetch_offset, frame, position):
        changed = bytearray(frame)
        changed[at : at + 8] = _pack_offset(other)
        if decode(memoryview(changed), position)[0] == kept:
            return RepeatedFetch(frame, at, kept)
    return None


def _places_of(offset: int, frame: memoryview, position: int) -> list[int]:
    last = len(frame) - 8
    return [at for at in range(position, last + 1) if _unpack_offset(frame, at)[0] == offset]
