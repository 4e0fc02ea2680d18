"""Bytes in, frames out: cut anywhere, grown as they arrive, shrunk when not needed."""

import socket
import struct
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kwire.server.inbox import KEPT_BYTES, START_BYTES, BadFrame, Inbox


@pytest.fixture
def pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.setblocking(False)
        yield ours, theirs


def _frame(body: bytes) -> bytes:
    return struct.pack(">i", len(body)) + body


def _taken(inbox: Inbox) -> list[bytes]:
    frames = []
    while (frame := inbox.next_frame()) is not None:
        frames.append(bytes(frame))
    return frames


def _pump(inbox: Inbox, ours: socket.socket, theirs: socket.socket, data: bytes) -> list[bytes]:
    """Send in pieces that the socket takes, and receive after each."""
    frames = []
    for start in range(0, len(data), 50_000):
        theirs.sendall(data[start : start + 50_000])
        while True:
            try:
                inbox.receive(ours)
            except BlockingIOError:
                break
            frames += _taken(inbox)
    return frames


@given(
    bodies=st.lists(st.binary(max_size=300) | st.just(b"x" * 40_000), max_size=8),
    cuts=st.lists(st.integers(1, 2_000), max_size=30),
)
def test_frames_come_out_however_the_stream_is_cut(bodies: list[bytes], cuts: list[int]) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.setblocking(False)
        inbox, frames = Inbox(1_000_000), []
        stream = b"".join(map(_frame, bodies))
        for size in cuts:
            piece, stream = stream[:size], stream[size:]
            frames += _pump(inbox, ours, theirs, piece)
        frames += _pump(inbox, ours, theirs, stream)
        assert frames == bodies
        assert inbox.is_empty


def test_a_frame_is_a_writable_view(pair: tuple[socket.socket, socket.socket]) -> None:
    ours, theirs = pair
    theirs.sendall(_frame(b"abc"))
    inbox = Inbox(1000)
    inbox.receive(ours)
    frame = inbox.next_frame()
    assert frame is not None
    frame[0] = ord("A")
    assert bytes(frame) == b"Abc"


def test_a_declared_length_alone_makes_nothing_grow(
    pair: tuple[socket.socket, socket.socket],
) -> None:
    ours, theirs = pair
    theirs.sendall(struct.pack(">i", 100_000_000) + b"x" * 100)
    inbox = Inbox(100_000_000)
    inbox.receive(ours)
    assert inbox.next_frame() is None
    assert inbox.announced_bytes() == 100_000_004
    assert inbox.capacity_bytes == START_BYTES


@pytest.mark.parametrize("size", [-1, -(2**31), 1001, 2**31 - 1])
def test_a_length_outside_of_the_limits_is_refused(
    pair: tuple[socket.socket, socket.socket], size: int
) -> None:
    ours, theirs = pair
    theirs.sendall(struct.pack(">i", size))
    inbox = Inbox(1000)
    inbox.receive(ours)
    with pytest.raises(BadFrame, match=str(size)):
        inbox.next_frame()


def test_an_empty_frame_is_a_frame(pair: tuple[socket.socket, socket.socket]) -> None:
    ours, theirs = pair
    theirs.sendall(_frame(b""))
    inbox = Inbox(1000)
    inbox.receive(ours)
    assert _taken(inbox) == [b""]


def test_a_huge_buffer_goes_with_its_frame(pair: tuple[socket.socket, socket.socket]) -> None:
    inbox = Inbox(100_000_000)
    body = b"x" * (KEPT_BYTES + 1)
    assert _pump(inbox, *pair, _frame(body)) == [body]
    assert inbox.capacity_bytes == START_BYTES


def test_a_large_buffer_stays_while_frames_need_it(
    pair: tuple[socket.socket, socket.socket],
) -> None:
    inbox = Inbox(100_000_000)
    _pump(inbox, *pair, _frame(b"x" * 500_000))
    grown = inbox.capacity_bytes
    assert grown > 500_000
    inbox.shrink()
    assert inbox.capacity_bytes == grown
    _pump(inbox, *pair, _frame(b"small"))
    inbox.shrink()
    assert inbox.capacity_bytes == START_BYTES


def test_a_buffer_with_half_a_frame_in_it_does_not_shrink(
    pair: tuple[socket.socket, socket.socket],
) -> None:
    inbox = Inbox(100_000_000)
    body = b"x" * 500_000
    assert _pump(inbox, *pair, _frame(body)[:-1]) == []
    inbox.shrink()
    assert _pump(inbox, *pair, body[-1:]) == [body]


def test_a_peer_that_closed_is_seen(pair: tuple[socket.socket, socket.socket]) -> None:
    ours, theirs = pair
    theirs.close()
    assert Inbox(1000).receive(ours) == 0
