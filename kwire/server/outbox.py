"""The sending half of a connection: answers go out at once, or wait for the socket to drain.

An answer is a list of buffers, and the records in a Fetch answer are slices of files. A slice is
read when it is sent, a piece at a time, into one scratch buffer that all connections of a loop
share; what the socket did not take is read again later. So an answer of fifty megabytes to a client
that does not read costs a descriptor and no memory. Bytes that the page cache does not have are
left to the pool: `send` says so, and `send_loaded` goes on with what the pool has read.
"""

import socket
from collections import deque
from collections.abc import Iterable
from enum import Enum

from kwire.codec.primitives import Buffer
from kwire.log.file_slice import FileSlice

Piece = Buffer | FileSlice

PIECE_BYTES = 1024 * 1024
SMALLEST_PIECE_BYTES = 64 * 1024

SENDS_PER_TURN = 4
"""After so many pieces for one client the others have their turn."""

# More buffers than this in one sendmsg would hit the kernel's IOV_MAX.
MAX_BUFFERS = 512


def new_scratch() -> memoryview:
    """The buffer that the connections of one loop share; used only while a `send` runs."""
    return memoryview(bytearray(PIECE_BYTES))


class Progress(Enum):
    """How a `send` ended."""

    DONE = "all is sent"
    FULL = "the socket takes no more, or took enough for this turn"
    COLD = "the next bytes must come from the disk"


class Outbox:
    __slots__ = ("_piece_bytes", "_pieces", "_scratch", "queued_bytes")

    def __init__(self, scratch: memoryview) -> None:
        self._scratch = scratch
        self._pieces: deque[Piece] = deque()
        self._piece_bytes = PIECE_BYTES
        self.queued_bytes = 0

    def put(self, pieces: Iterable[Piece], size_bytes: int) -> None:
        self._pieces.extend(pieces)
        self.queued_bytes += size_bytes

    def send(self, sock: socket.socket) -> Progress:
        """Write as much as the socket takes."""
        pieces = self._pieces
        for _ in range(SENDS_PER_TURN):
            if not pieces:
                return Progress.DONE
            try:
                if len(pieces) == 1 and pieces[0].__class__ is bytes:
                    gathered = len(pieces[0])
                    sent = sock.send(pieces[0])
                    if sent == gathered:
                        pieces.clear()
                        self.queued_bytes = 0
                        return Progress.DONE
                else:
                    buffers, gathered = self._gather()
                    if not gathered:
                        return Progress.COLD
                    sent = sock.sendmsg(buffers)
            except (BlockingIOError, InterruptedError):
                return Progress.FULL
            self._drop(sent)
            if sent < gathered:
                self._piece_bytes = max(SMALLEST_PIECE_BYTES, min(2 * sent, PIECE_BYTES))
                return Progress.FULL
            self._piece_bytes = PIECE_BYTES
        return Progress.FULL if pieces else Progress.DONE

    def hold(self) -> None:
        """The answers stay for longer than this turn: let nobody take their files away."""
        for piece in self._pieces:
            if isinstance(piece, FileSlice):
                piece.hold()

    def cold_bytes(self) -> FileSlice:
        """What to read in the pool after `Progress.COLD`; whoever reads it must release it."""
        first = self._pieces[0]
        assert isinstance(first, FileSlice)
        return first.first_bytes(PIECE_BYTES)

    def send_loaded(self, sock: socket.socket, data: bytes) -> Progress:
        """Go on with the first bytes of the first slice; what is not sent now is read again."""
        try:
            sent = sock.send(data)
        except (BlockingIOError, InterruptedError):
            return Progress.FULL
        self._drop(sent)
        return self.send(sock) if sent == len(data) else Progress.FULL

    def clear(self) -> None:
        """Nobody waits for the answers any more."""
        release(self._pieces)
        self._pieces.clear()
        self.queued_bytes = 0

    def _gather(self) -> tuple[list[Buffer], int]:
        """The next buffers to send, and their size: 0 if the first must come from the disk."""
        buffers: list[Buffer] = []
        gathered = used = 0
        scratch = self._scratch
        for piece in self._pieces:
            if isinstance(piece, FileSlice):
                room = self._piece_bytes - used
                if room <= 0:
                    break
                count = piece.read_cached(scratch[used : used + min(room, piece.size)])
                if not count:
                    break
                buffers.append(scratch[used : used + count])
                used += count
                gathered += count
                if count < piece.size:
                    break
            else:
                buffers.append(piece)
                gathered += len(piece)
            if len(buffers) == MAX_BUFFERS:
                break
        return buffers, gathered

    def _drop(self, sent: int) -> None:
        self.queued_bytes -= sent
        pieces = self._pieces
        while sent:
            first = pieces[0]
            size = len(first)
            if sent < size:
                if isinstance(first, FileSlice):
                    first.skip(sent)
                else:
                    pieces[0] = memoryview(first)[sent:]
                return
            sent -= size
            pieces.popleft()
            if isinstance(first, FileSlice):
                first.release()


def release(pieces: Iterable[Piece]) -> None:
    """Let go of the files of an answer that will not be sent."""
    for piece in pieces:
        if isinstance(piece, FileSlice):
            piece.release()
