"""Where a consumer may begin, and what the broker says about offsets and times."""

import pytest

from compat_tests.python_clients.values import A_TIMESTAMP, END, Client, Sent

SECOND_MS = 1000
HOUR_MS = 3_600_000


@pytest.fixture
def written(client: Client, topic: str) -> str:
    """A topic with ten records, one second apart, in batches that hold several of them."""
    client.create(topic)
    client.write(
        topic,
        [Sent(b"%d" % n, timestamp=A_TIMESTAMP + n * SECOND_MS) for n in range(10)],
        codec="lz4",
    )
    return topic


def test_a_consumer_begins_where_it_is_put(client: Client, written: str) -> None:
    assert [one.value for one in client.read(written, 10)] == [b"%d" % n for n in range(10)]
    # In the middle of a batch the broker sends the whole batch, and the client drops the first.
    assert [one.offset for one in client.read(written, 3, start=7)] == [7, 8, 9]
    assert [one.value for one in client.read_from_time(written, 2, A_TIMESTAMP + 3500)] == [
        b"4",
        b"5",
    ]


def test_a_consumer_at_the_end_sees_only_what_comes_later(client: Client, written: str) -> None:
    assert client.first_and_end(written) == (0, 10)
    client.write(written, [Sent(b"later")])
    assert [one.value for one in client.read(written, 1, start=10)] == [b"later"]
    assert client.read(written, 0, start=END) == []


@pytest.mark.parametrize(
    ("later_ms", "offset"),
    [(-10 * HOUR_MS, 0), (0, 0), (1, 1), (4000, 4), (9000, 9), (9001, None)],
)
def test_a_time_is_looked_up_exactly_inside_a_compressed_batch(
    client: Client, written: str, later_ms: int, offset: int | None
) -> None:
    assert client.offset_for_time(written, A_TIMESTAMP + later_ms) == offset


def test_an_offset_that_is_not_there_is_out_of_range(client: Client, written: str) -> None:
    # Each library has its own exception for a position that it may not choose anew.
    with pytest.raises(Exception, match=r"(?i)offset.?out.?of.?range"):
        client.read(written, 1, start=5000)
