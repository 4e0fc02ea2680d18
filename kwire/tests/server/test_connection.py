"""One connection: order of answers, partial frames, pauses, limits, and its end."""

import errno
import logging
import os
import struct
from collections.abc import Callable
from pathlib import Path

import pytest

from kwire.handlers.context import HangUp
from kwire.log.file_slice import FileSlice
from kwire.log.files import LogFile, OpenFiles
from kwire.server import connection as module
from kwire.server.dispatch import Answer, LaterAnswer
from kwire.server.memory import FREE_BYTES, RequestMemory
from kwire.tasks import Later
from kwire.tests.server.loops import Client, Echo, StepLoop, framed

Connect = Callable[..., Client]


def test_answers_come_in_the_order_of_their_requests(connect: Connect) -> None:
    echo = Echo()
    client = connect(echo)
    client.send(b"one", b"later two", b"three", b"later four", b"five")
    assert client.receive() == [b"one"]
    echo.laters[b"later four"].complete(b"4")
    assert client.receive() == []
    echo.laters[b"later two"].complete(b"2")
    assert client.receive() == [b"2", b"three", b"4", b"five"]


def test_a_frame_may_arrive_byte_by_byte(connect: Connect) -> None:
    client = connect(Echo())
    for byte in struct.pack(">i", 5) + b"hello":
        assert client.receive() == []
        client.send_raw(bytes([byte]))
    assert client.receive() == [b"hello"]


def test_many_frames_in_one_packet_are_all_answered(connect: Connect) -> None:
    bodies = [b"%d" % number for number in range(3 * module.FRAMES_PER_TURN)]
    client = connect(Echo())
    client.send(*bodies)
    assert client.receive() == bodies


def test_one_client_does_not_keep_the_loop_for_all_its_frames(connect: Connect) -> None:
    echo = Echo()
    client = connect(echo)
    bodies = [b""] * (2 * module.FRAMES_PER_TURN)
    client.sock.send(b"".join(struct.pack(">i", len(body)) + body for body in bodies))
    client.loop.turn()
    assert len(echo.seen) == module.FRAMES_PER_TURN


def test_a_request_without_an_answer_does_not_hold_up_the_next(connect: Connect) -> None:
    client = connect(Echo())
    client.send(b"silent", b"loud")
    assert client.receive() == [b"loud"]


def test_a_client_that_goes_away_abandons_what_it_waited_for(connect: Connect) -> None:
    echo = Echo()
    client = connect(echo)
    client.send(b"later")
    undone: list[bool] = []
    echo.laters[b"later"].on_abandon(lambda: undone.append(True))
    client.sock.close()
    client.loop.settle()
    assert client.is_closed
    assert undone == [True]
    assert client.ends[0].complaint is None


def test_an_answer_that_comes_after_the_end_is_nobodys(connect: Connect) -> None:
    echo = Echo()
    client = connect(echo)
    client.send(b"later")
    client.connection.close()
    echo.laters[b"later"].complete(b"too late")
    assert len(client.ends) == 1


def test_a_client_that_does_not_read_is_not_read_from(connect: Connect) -> None:
    echo = Echo()
    client = connect(echo)
    body = b"x" * 60_000
    client.send_raw(b"".join(struct.pack(">i", len(body)) + body for _ in range(200)))
    held_up = len(echo.seen)
    assert held_up < 200
    received = client.receive()
    client.loop.settle()
    received += client.receive()
    assert len(received) == len(echo.seen) > held_up


def test_too_many_waiting_answers_stop_the_reading_until_there_are_fewer(
    connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_PENDING_ANSWERS", 3)
    echo = Echo()
    client = connect(echo)
    client.send(*(b"later %d" % number for number in range(5)))
    assert len(echo.seen) == 3
    echo.laters[b"later 0"].complete(b"0")
    client.loop.settle()
    assert len(echo.seen) == 4
    assert client.receive() == [b"0"]


def test_what_arrived_before_a_pause_is_handled_after_it(
    connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_PENDING_ANSWERS", 1)
    echo = Echo()
    client = connect(echo)
    client.send(b"later", b"next")
    echo.laters[b"later"].complete(b"now")
    assert client.receive() == [b"now", b"next"]


def test_a_large_frame_waits_for_memory_that_others_hold(connect: Connect) -> None:
    loop, memory, echo = StepLoop(), RequestMemory(3 * FREE_BYTES), Echo()
    first = connect(echo, loop=loop, memory=memory)
    second = connect(echo, loop=loop, memory=memory)
    body = b"y" * (2 * FREE_BYTES)
    first.send_raw(struct.pack(">i", len(body)) + body[:-1])
    second.send(body)
    assert memory.is_short
    assert echo.seen == []
    first.send_raw(body[-1:])
    assert first.receive() == [body]
    assert second.receive() == [body]
    assert memory.held_bytes == 0


def test_closing_gives_back_memory_and_the_place_in_the_queue(connect: Connect) -> None:
    loop, memory, echo = StepLoop(), RequestMemory(3 * FREE_BYTES), Echo()
    clients = [connect(echo, loop=loop, memory=memory) for _ in range(3)]
    for client in clients:
        client.send_raw(struct.pack(">i", 2 * FREE_BYTES) + b"z")
    assert memory.held_bytes == 2 * FREE_BYTES + 4
    clients[1].connection.close()
    clients[0].connection.close()
    assert memory.held_bytes == 2 * FREE_BYTES + 4
    clients[2].connection.close()
    assert memory.held_bytes == 0
    assert not memory.is_short


@pytest.mark.parametrize("size", [-1, 1001, 0x7FFFFFFF])
def test_a_length_that_cannot_be_ends_the_connection(connect: Connect, size: int) -> None:
    client = connect(Echo(), max_frame_bytes=1000)
    client.send_raw(struct.pack(">i", size) + b"abc")
    assert client.is_closed
    assert str(size) in (client.ends[0].complaint or "")


def test_answers_before_a_broken_frame_still_go_out(connect: Connect) -> None:
    client = connect(Echo())
    client.send_raw(struct.pack(">i", 2) + b"ok" + struct.pack(">i", -1))
    assert client.receive() == [b"ok"]
    assert client.is_closed


class _Failing:
    def __init__(self, error: Exception) -> None:
        self._error = error

    def answer(self, frame: memoryview) -> Answer | LaterAnswer | None:
        raise self._error


def test_a_request_that_cannot_be_answered_ends_the_connection(connect: Connect) -> None:
    client = connect(_Failing(HangUp("unknown api key 99")))
    client.send(b"x")
    assert [end.complaint for end in client.ends] == ["unknown api key 99"]


def test_a_bug_ends_the_connection_and_is_logged(
    connect: Connect, caplog: pytest.LogCaptureFixture
) -> None:
    client = connect(_Failing(ZeroDivisionError()))
    with caplog.at_level(logging.ERROR):
        client.send(b"x")
    assert client.is_closed
    assert [record.exc_info is not None for record in caplog.records] == [True]


def test_a_later_answer_that_cannot_be_encoded_hurts_only_its_own_client(
    connect: Connect, caplog: pytest.LogCaptureFixture
) -> None:
    class Broken:
        def __init__(self) -> None:
            self.later: Later[bytes] = Later()

        def answer(self, frame: memoryview) -> LaterAnswer:
            return LaterAnswer(self.later, lambda _: 1 / 0)  # type: ignore[arg-type,return-value]

    broken = Broken()
    client = connect(broken)
    client.send(b"x")
    broken.later.complete(b"never seen")
    assert client.is_closed
    assert "answer failed" in caplog.text


def test_a_later_answer_that_cannot_be_made_ends_its_own_connection_and_is_logged_once(
    connect: Connect, caplog: pytest.LogCaptureFixture
) -> None:
    class Broken:
        def __init__(self) -> None:
            self.later: Later[int] = Later()

        def answer(self, frame: memoryview) -> LaterAnswer:
            return LaterAnswer(self.later.map(lambda value: 1 / value), lambda _: framed(b""))

    broken = Broken()
    client = connect(broken)
    client.send(b"x")
    broken.later.complete(0)
    assert client.is_closed
    assert [(record.msg, record.exc_info is not None) for record in caplog.records] == [
        ("answer failed", True)
    ]


def test_a_bug_while_sending_hurts_only_its_own_client(
    connect: Connect, caplog: pytest.LogCaptureFixture
) -> None:
    class Unsendable:
        def __init__(self) -> None:
            self.later: Later[None] = Later()

        def answer(self, frame: memoryview) -> LaterAnswer:
            return LaterAnswer(self.later, lambda _: ([object(), b""], 1))  # type: ignore[list-item]

    unsendable = Unsendable()
    client = connect(unsendable)
    client.send(b"x")
    unsendable.later.complete(None)
    assert client.is_closed
    assert [record.exc_info is not None for record in caplog.records] == [True]


class _Records:
    """Answers with a slice of a file between two buffers."""

    def __init__(self, path: Path, data: bytes) -> None:
        path.write_bytes(data)
        self.files = OpenFiles(8)
        self.file = LogFile(str(path), self.files)
        self.data = data
        self.laters: list[Later[None]] = []

    def answer(self, frame: memoryview) -> Answer | LaterAnswer:
        if bytes(frame) == b"later":
            self.laters.append(Later())
            return LaterAnswer(self.laters[-1], lambda _: framed(b"at last"))
        return self.sliced()

    def sliced(self) -> Answer:
        size = len(self.data)
        slice_ = FileSlice(self.file, 0, size, 0)
        return [struct.pack(">i", size + 2) + b"<", slice_, b">"], size + 6


@pytest.fixture
def records(tmp_path: Path) -> "_Records":
    return _Records(tmp_path / "segment.log", bytes(range(256)) * 20_000)


def test_records_are_sent_from_their_file(connect: Connect, records: _Records) -> None:
    client = connect(records)
    client.send(b"fetch")
    assert client.receive() == [b"<" + records.data + b">"]
    records.file.close()


def test_a_slow_reader_gets_the_records_that_were_there_when_it_asked(
    connect: Connect, records: _Records, tmp_path: Path
) -> None:
    client = connect(records)
    client.send(b"fetch")
    records.file.close()
    (tmp_path / "segment.log").unlink()
    (tmp_path / "segment.log").write_bytes(b"compacted")
    assert client.receive() == [b"<" + records.data + b">"]


def test_records_that_wait_behind_another_answer_are_kept(
    connect: Connect, records: _Records, tmp_path: Path
) -> None:
    client = connect(records)
    client.send(b"later", b"fetch")
    records.file.close()
    (tmp_path / "segment.log").unlink()
    records.laters[0].complete(None)
    assert client.receive() == [b"at last", b"<" + records.data + b">"]


def test_records_that_cannot_be_kept_end_their_own_connection(
    connect: Connect, records: _Records, monkeypatch: pytest.MonkeyPatch
) -> None:
    class OneBehindTheOther:
        def __init__(self) -> None:
            self.laters: list[Later[None]] = []

        def answer(self, frame: memoryview) -> LaterAnswer:
            self.laters.append(Later())
            return LaterAnswer(self.laters[-1], lambda _: records.sliced())

    def refuse(piece: FileSlice) -> None:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    asked = OneBehindTheOther()
    client = connect(asked)
    client.send(b"first", b"second")
    monkeypatch.setattr(FileSlice, "hold", refuse)
    asked.laters[1].complete(None)
    assert client.is_closed


def test_records_that_are_not_cached_are_read_in_the_pool(
    connect: Connect, records: _Records, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(FileSlice, "read_cached", lambda self, buffer: 0)
    client = connect(records)
    client.send(b"fetch", b"fetch")
    received: list[bytes] = []
    while client.loop.pool:
        client.loop.run_pool()
        received += client.receive()
    assert received == [b"<" + records.data + b">"] * 2
    records.file.close()


def test_a_client_may_go_away_while_the_pool_reads_for_it(
    connect: Connect, records: _Records, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(FileSlice, "read_cached", lambda self, buffer: 0)
    client = connect(records)
    client.send(b"fetch")
    client.connection.close()
    client.loop.run_pool()
    assert len(client.ends) == 1
    records.file.close()


def test_records_that_cannot_be_read_end_the_connection(
    connect: Connect, records: _Records, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "segment.log").write_bytes(b"cut")
    client = connect(records)
    client.send(b"fetch")
    assert client.is_closed
    assert "answer cut off" in caplog.text
    records.file.close()
