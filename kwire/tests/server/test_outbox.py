"""What is sent, in which pieces, and what is kept meanwhile."""

import os
import socket
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest

from kwire.log.file_slice import FileSlice
from kwire.log.files import LogFile, OpenFiles
from kwire.server.outbox import (
    PIECE_BYTES,
    SENDS_PER_TURN,
    SMALLEST_PIECE_BYTES,
    Outbox,
    Piece,
    Progress,
    new_scratch,
)

Pair = tuple[socket.socket, socket.socket]


@pytest.fixture
def pair() -> Iterator[Pair]:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.setblocking(False)
        theirs.setblocking(False)
        yield ours, theirs


@pytest.fixture
def file(tmp_path: Path) -> Iterator[LogFile]:
    path = tmp_path / "segment.log"
    path.write_bytes(os.urandom(3 * PIECE_BYTES))
    opened = LogFile(str(path), OpenFiles(4))
    yield opened
    opened.close()


def _content(file: LogFile) -> bytes:
    return Path(file.path).read_bytes()


def _outbox(*pieces: Piece) -> Outbox:
    outbox = Outbox(new_scratch())
    outbox.put(pieces, sum(map(len, pieces)))
    return outbox


def _drain(outbox: Outbox, pair: Pair) -> bytes:
    """Send and receive in turns until all is there."""
    ours, theirs = pair
    received = bytearray()
    progress = Progress.FULL
    while progress is not Progress.DONE:
        progress = outbox.send(ours)
        while True:
            try:
                received += theirs.recv(1 << 20)
            except BlockingIOError:
                break
    return bytes(received)


def test_buffers_of_every_kind_are_sent_in_order(pair: Pair) -> None:
    outbox = _outbox(b"a", bytearray(b"b"), memoryview(b"c"))
    assert outbox.send(pair[0]) is Progress.DONE
    assert pair[1].recv(100) == b"abc"
    assert outbox.queued_bytes == 0


def test_more_buffers_than_the_kernel_takes_at_once_are_sent(pair: Pair) -> None:
    assert _drain(_outbox(*[b"x"] * 2000), pair) == b"x" * 2000


def test_what_the_socket_does_not_take_is_kept(pair: Pair) -> None:
    data = os.urandom(2_000_000)
    outbox = _outbox(data)
    assert outbox.send(pair[0]) is Progress.FULL
    assert 0 < outbox.queued_bytes < len(data)
    assert _drain(outbox, pair) == data


def test_a_slice_larger_than_a_piece_arrives_whole(pair: Pair, file: LogFile) -> None:
    size = 2 * PIECE_BYTES + 17
    outbox = _outbox(b"<", FileSlice(file, 5, size, 0), b">")
    assert _drain(outbox, pair) == b"<" + _content(file)[5 : 5 + size] + b">"
    assert outbox.queued_bytes == 0


def test_many_small_slices_arrive_in_order(pair: Pair, file: LogFile) -> None:
    slices = [FileSlice(file, start, 100, 0) for start in range(0, 100_000, 100)]
    assert _drain(_outbox(*slices), pair) == _content(file)[:100_000]


def test_a_slow_reader_costs_no_memory(pair: Pair, file: LogFile) -> None:
    outbox = _outbox(b"<", FileSlice(file, 0, 3 * PIECE_BYTES, 0))
    tracemalloc.start()
    try:
        assert outbox.send(pair[0]) is Progress.FULL
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert outbox.queued_bytes > PIECE_BYTES
    assert held < 10_000


def test_what_the_page_cache_does_not_have_is_asked_for(
    pair: Pair, file: LogFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(FileSlice, "read_cached", lambda self, buffer: 0)
    outbox = _outbox(b"<", FileSlice(file, 0, 1000, 0), b">")
    assert outbox.send(pair[0]) is Progress.COLD
    cold = outbox.cold_bytes()
    loaded = cold.read()
    cold.release()
    assert outbox.send_loaded(pair[0], loaded) is Progress.DONE
    assert pair[1].recv(2000) == b"<" + _content(file)[:1000] + b">"


def test_loaded_bytes_that_the_socket_did_not_take_are_read_again(
    pair: Pair, file: LogFile
) -> None:
    filler = b"." * 1_000_000
    outbox = _outbox(filler, FileSlice(file, 0, 1000, 0))
    assert outbox.send(pair[0]) is Progress.FULL
    rest = Outbox(new_scratch())
    rest.put([FileSlice(file, 0, 1000, 0)], 1000)
    assert rest.send_loaded(pair[0], _content(file)[:1000]) is Progress.FULL
    assert rest.queued_bytes == 1000
    received = _drain(outbox, pair) + _drain(rest, pair)
    assert received == filler + _content(file)[:1000] * 2


def test_clearing_lets_go_of_the_files(file: LogFile) -> None:
    before = len(os.listdir("/proc/self/fd"))
    file.fd()
    outbox = _outbox(FileSlice(file, 0, 10, 0), FileSlice(file, 10, 10, 0))
    outbox.hold()
    assert len(os.listdir("/proc/self/fd")) == before + 2
    outbox.clear()
    assert len(os.listdir("/proc/self/fd")) == before + 1
    assert outbox.queued_bytes == 0


def test_one_client_does_not_keep_the_loop_however_fast_it_reads(
    file: LogFile,
) -> None:
    class Fast:
        """A socket whose peer reads as fast as we write."""

        def __init__(self) -> None:
            self.taken = 0

        def sendmsg(self, buffers: list[memoryview]) -> int:
            size = sum(map(len, buffers))
            self.taken += size
            return size

    slices = [FileSlice(file, 0, 3 * PIECE_BYTES, 0) for _ in range(4)]
    outbox, sock = _outbox(*slices), Fast()
    assert outbox.send(cast(socket.socket, sock)) is Progress.FULL
    assert sock.taken == SENDS_PER_TURN * PIECE_BYTES
    while outbox.send(cast(socket.socket, sock)) is not Progress.DONE:
        pass
    assert sock.taken == 12 * PIECE_BYTES


def test_a_socket_that_takes_little_is_offered_little(file: LogFile) -> None:
    offered: list[int] = []

    class Narrow:
        """A socket that takes ten kilobytes at a time."""

        def sendmsg(self, buffers: list[memoryview]) -> int:
            offered.append(sum(map(len, buffers)))
            return min(offered[-1], 10_000)

    outbox = _outbox(FileSlice(file, 0, 3 * PIECE_BYTES, 0))
    for _ in range(3):
        assert outbox.send(cast(socket.socket, Narrow())) is Progress.FULL
    assert offered == [PIECE_BYTES, SMALLEST_PIECE_BYTES, SMALLEST_PIECE_BYTES]
