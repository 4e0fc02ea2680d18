"""The receiving half of a connection: bytes in, frames out. It understands no message.

A frame is a 4-byte big-endian length and that many bytes. The buffer starts small, grows as the
bytes of a large frame arrive (never on the mere declaration of a length) and shrinks again: at once
when it has become huge, and otherwise when no frame of late needed its size. Frames are handed out
as writable views into the buffer, valid until the next `receive`: what is to be kept is copied.
"""

import socket
import struct

START_BYTES = 16 * 1024
KEPT_BYTES = 4 * 1024 * 1024
"""A larger buffer is not kept for the next frame."""

_length = struct.Struct(">i").unpack_from


class BadFrame(Exception):
    """A length that cannot be: negative, or above socket.request.max.bytes."""


class Inbox:
    __slots__ = ("_buffer", "_end", "_largest", "_max_frame_bytes", "_start", "_view")

    def __init__(self, max_frame_bytes: int) -> None:
        self._max_frame_bytes = max_frame_bytes
        self._buffer = bytearray(START_BYTES)
        self._view = memoryview(self._buffer)
        self._start = 0
        self._end = 0
        self._largest = 0

    @property
    def capacity_bytes(self) -> int:
        return len(self._buffer)

    @property
    def is_empty(self) -> bool:
        return self._start == self._end

    def receive(self, sock: socket.socket) -> int:
        """Read once into the free end of the buffer; 0 means that the peer has closed."""
        end = self._end
        if not end:
            self._end = count = sock.recv_into(self._view)
            return count
        if end == len(self._buffer):
            self._make_room()
            end = self._end
        count = sock.recv_into(self._view[end:])
        self._end = end + count
        return count

    def next_frame(self) -> memoryview | None:
        """The next frame that is there as a whole, without its length; `None` if there is none."""
        start = self._start
        held = self._end - start - 4
        if held < 0:
            if held == -4:
                self._rewind()
            return None
        size = _length(self._buffer, start)[0]
        if held < size or size < 0 or size > self._max_frame_bytes:
            if 0 <= size <= self._max_frame_bytes:
                return None
            raise BadFrame(f"frame length {size} is outside of 0..{self._max_frame_bytes}")
        self._start = after = start + 4 + size
        if size > self._largest:
            self._largest = size
        return self._view[start + 4 : after]

    def announced_bytes(self) -> int:
        """The size of the frame that is still arriving, 0 when its length is not here yet."""
        if self._end - self._start < 4:
            return 0
        return int(_length(self._buffer, self._start)[0]) + 4

    def shrink(self) -> None:
        """Give back what no frame since the last call needed."""
        if self.is_empty and len(self._buffer) > 4 * max(START_BYTES, self._largest):
            self._replace(bytearray(START_BYTES))
        self._largest = 0

    def _rewind(self) -> None:
        """All frames are taken: begin at the front again."""
        self._start = self._end = 0
        if len(self._buffer) > KEPT_BYTES:
            self._replace(bytearray(START_BYTES))

    def _make_room(self) -> None:
        """Move the partial frame to the front, or grow the buffer when it is too small for it."""
        held = self._end - self._start
        announced = self.announced_bytes()
        if self._start and announced <= len(self._buffer):
            self._view[:held] = self._view[self._start : self._end]
            self._start = 0
        else:
            grown = bytearray(min(announced, 4 * len(self._buffer)))
            grown[:held] = self._view[self._start : self._end]
            self._replace(grown)
        self._end = held

    def _replace(self, buffer: bytearray) -> None:
        self._buffer = buffer
        self._view = memoryview(buffer)
        self._start = self._end = 0
