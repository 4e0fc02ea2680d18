"""What a row of the tables is: what is sent, and what must come back from each broker."""

from collections.abc import Callable
from typing import NamedTuple

from compat_tests.bad_input.wire import Reader

CLOSED = "closed"
"""The broker hangs up without an answer."""

Expected = int | str
"""An error code, or CLOSED."""

ReadCode = Callable[[Reader], int]


class Ground(NamedTuple):
    """Where the rows are tried: one broker and the topics they speak of."""

    address: str
    plain: str
    compacted: str
    timed: str
    now: int


Build = Callable[[Ground], bytes]


class Row(NamedTuple):
    """One hostile thing. `kafka` is None where Kafka itself would fall, or answers otherwise."""

    send: bytes | Build
    expect: Expected
    kafka: Expected | None
    read_code: ReadCode | None = None

    def bytes_for(self, ground: Ground) -> bytes:
        return self.send if isinstance(self.send, bytes) else self.send(ground)


def both(send: bytes | Build, expect: Expected, read_code: ReadCode | None = None) -> Row:
    """Both brokers answer the same."""
    return Row(send, expect, expect, read_code)


def better(send: bytes | Build, expect: Expected, read_code: ReadCode, *, kafka: int) -> Row:
    """kwire names what is wrong (or notices it) where Kafka answers `kafka`."""
    return Row(send, expect, kafka, read_code)


def ours(send: bytes | Build, expect: Expected, read_code: ReadCode | None = None) -> Row:
    """Only kwire is asked: Kafka would fall, or take what we refuse."""
    return Row(send, expect, None, read_code)


def error_of_produce(answer: Reader) -> int:
    """The code of the first partition of a Produce answer of versions 3 to 8."""
    answer.i32(), answer.text(), answer.i32(), answer.i32()
    return answer.i16()


def error_of_topic(answer: Reader) -> int:
    """The code of the first result, where an answer begins: throttle time, results, name, code."""
    answer.i32(), answer.i32(), answer.text()
    return answer.i16()


def error_of_partition(answer: Reader) -> int:
    """The code of the first partition: throttle time, topics, name, partitions, index, code."""
    answer.i32(), answer.i32(), answer.text(), answer.i32(), answer.i32()
    return answer.i16()


def error_after_throttle(answer: Reader) -> int:
    """The code of answers that begin with: throttle time, code."""
    answer.i32()
    return answer.i16()


def error_of_resource(answer: Reader) -> int:
    """The code of the first result, where an answer begins: throttle time, results, code."""
    answer.i32(), answer.i32()
    return answer.i16()


def error_first(answer: Reader) -> int:
    return answer.i16()


def error_of_metadata(answer: Reader) -> int:
    """The code of the first topic of a Metadata answer of version 4."""
    answer.i32()
    for _ in range(answer.i32()):
        answer.i32(), answer.text(), answer.i32(), answer.text()
    answer.text(), answer.i32(), answer.i32()
    return answer.i16()


def code_zero(answer: Reader) -> int:
    """Any answer at all will do."""
    return 0
