"""The receiving half of a connection: bytes in, frames out. It understands no message.

A frame is a 4-byte big-endian length and that many bytes. The buffer starts small, grows as the bytes
of a large frame arrive (never on the mere declaration of a length) and is dropped when it ran idle.
Frames are handed out as writable views into the buffer: valid until the next `receive`.
"""

import socket
import struct
from collections.abc import Iterator

START_BYTES = 16 * 1024

_length = struct.Struct(">i").unpack_from


class BadFrame(Exception):
    """A length that cannot be: negative, or above socket.request.max.bytes."""


class Inbox:
    __slots__ = ("_buffer", "_end", "_max_frame_bytes", "_start", "_view")

    def __init__(self, max_frame_bytes: int) -> None:
        self._max_frame_bytes = max_frame_bytes
        self._buffer = bytearray(START_BYTES)
        self._view = memoryview(self._buffer)
        self._start = 0
        self._end = 0

    @property
    def capacity_bytes(self) -> int:
        return len(self._buffer)

    @property
    def is_empty(self) -> bool:
        return self._start == self._end

    def receive(self, sock: socket.socket) -> int:
        """Read once into the free end of the buffer; 0 means that the peer has closed."""
        if self._end == len(self._buffer):
            self._make_room()
        count = sock.recv_into(self._view[self._end :])
        self._end += count
        return count

    def frames(self) -> Iterator[memoryview]:
        """Every complete frame that has arrived, without its length prefix."""
        while self._end - self._start >= 4:
            size = _length(self._buffer, self._start)[0]
            if size < 0 or size > self._max_frame_bytes:
                raise BadFrame(f"frame length {size} is outside of 0..{self._max_frame_bytes}")
            after = self._start + 4 + size
            if after > self._end:
                return
            frame = self._view[self._start + 4 : after]
            self._start = after
            yield frame
        if self._start == self._end:
            self._start = self._end = 0

    def announced_bytes(self) -> int:
        """The size of the frame that is still arriving, 0 when its length is not here yet."""
        if self._end - self._start < 4:
            return 0
        return int(_length(self._buffer, self._start)[0]) + 4

    def shrink(self) -> None:
        """Give a grown buffer back when no part of a frame is in it."""
        if self.is_empty and len(self._buffer) > START_BYTES:
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
