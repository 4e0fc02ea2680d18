"""One exchange on a raw socket: what was sent, and whether an answer, an end or silence came."""

import socket
from contextlib import suppress
from typing import NamedTuple

PATIENCE_S = 5.0


class Outcome(NamedTuple):
    """`answer` without its length, or None; `closed` if the broker hung up; else it was silent."""

    answer: bytes | None
    closed: bool
    port: int

    def __str__(self) -> str:
        if self.answer is not None:
            return f"an answer of {len(self.answer)} bytes: {self.answer[:60].hex(' ')}"
        return "a closed connection" if self.closed else "silence"


def exchange(address: str, sent: bytes, *, then_end: bool = False) -> Outcome:
    """Send on a connection of its own and wait for the first frame, the end, or a while."""
    host, port = address.split(":")
    with socket.create_connection((host, int(port)), PATIENCE_S) as peer:
        own_port = peer.getsockname()[1]
        # A broker may hang up before it has read everything.
        with suppress(ConnectionResetError, BrokenPipeError):
            peer.sendall(sent)
            if then_end:
                peer.shutdown(socket.SHUT_WR)
        return _receive(peer, own_port)


def _receive(peer: socket.socket, own_port: int) -> Outcome:
    try:
        head = _exactly(peer, 4)
        if head is None:
            return Outcome(None, True, own_port)
        return Outcome(_exactly(peer, int.from_bytes(head, "big")), False, own_port)
    except ConnectionResetError:
        return Outcome(None, True, own_port)
    except TimeoutError:
        return Outcome(None, False, own_port)


def _exactly(peer: socket.socket, size: int) -> bytes | None:
    got = bytearray()
    while len(got) < size:
        part = peer.recv(size - len(got))
        if not part:
            return None
        got += part
    return bytes(got)
