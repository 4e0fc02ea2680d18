"""The sending half of a connection: answers go out at once, or wait for the socket to drain."""

import socket
from collections import deque

# More buffers than this in one sendmsg would hit the kernel's IOV_MAX.
MAX_BUFFERS = 512

Buffer = bytes | bytearray | memoryview


class Outbox:
    __slots__ = ("_buffers", "queued_bytes")

    def __init__(self) -> None:
        self._buffers: deque[Buffer] = deque()
        self.queued_bytes = 0

    def put(self, buffers: list[Buffer]) -> None:
        self._buffers.extend(buffers)
        self.queued_bytes += sum(map(len, buffers))

    def send(self, sock: socket.socket) -> bool:
        """Write as much as the socket takes; true when nothing is left."""
        buffers = self._buffers
        while buffers:
            try:
                if len(buffers) == 1:
                    sent = sock.send(buffers[0])
                else:
                    sent = sock.sendmsg([buffers[i] for i in range(min(len(buffers), MAX_BUFFERS))])
            except (BlockingIOError, InterruptedError):
                return False
            self.queued_bytes -= sent
            self._drop(sent)
        return True

    def _drop(self, sent: int) -> None:
        buffers = self._buffers
        while sent:
            first = buffers[0]
            if sent < len(first):
                buffers[0] = memoryview(first)[sent:]
                return
            sent -= len(first)
            buffers.popleft()
        while buffers and not len(buffers[0]):
            buffers.popleft()
