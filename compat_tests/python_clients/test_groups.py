"""Consumer groups as the Python clients form them: share, commit, resume, leave."""

import time
from collections.abc import Callable, Iterator

import pytest

from compat_tests.oracle.processes import BrokerProcess
from compat_tests.python_clients.confluent import Confluent
from compat_tests.python_clients.members import MEMBERS, Member
from compat_tests.python_clients.values import Sent

PARTITIONS = 6
PATIENCE_S = 30

Join = Callable[[], Member]


@pytest.fixture
def filled(broker: BrokerProcess, topic: str) -> str:
    """A topic with ten records in each of its partitions."""
    client = Confluent(broker.bootstrap)
    client.create(topic, partitions=PARTITIONS)
    client.write(
        topic, [Sent(b"%d-%d" % (p, n), partition=p) for n in range(10) for p in range(PARTITIONS)]
    )
    return topic


@pytest.fixture(params=MEMBERS)
def join(request: pytest.FixtureRequest, broker: BrokerProcess, filled: str) -> Iterator[Join]:
    """Each call is one more member of the same group; all have left when the test ends."""
    members: list[Member] = []

    def join() -> Member:
        member = MEMBERS[request.param](broker.bootstrap, f"group-of-{filled}", filled)
        members.append(member)
        return member

    yield join
    for member in members:
        member.leave()


def _until(members: list[Member], done: Callable[[], bool]) -> list[bytes]:
    """Let the members work until something is true; return all they read on the way."""
    read: list[bytes] = []
    deadline = time.monotonic() + PATIENCE_S
    while not done():
        for member in members:
            read.extend(member.step())
        shares = [member.assigned() for member in members]
        assert time.monotonic() < deadline, f"after {PATIENCE_S} s: {shares}, {len(read)} records"
    return read


def _is_shared_by(members: list[Member]) -> bool:
    shares = [member.assigned() for member in members]
    taken = [partition for share in shares for partition in share]
    return all(shares) and sorted(taken) == list(range(PARTITIONS))


def test_one_member_becomes_three_and_one_again(join: Join) -> None:
    first = join()
    _until([first], lambda: _is_shared_by([first]))
    three = [first, join(), join()]
    _until(three, lambda: _is_shared_by(three))
    assert [len(member.assigned()) for member in three] == [2, 2, 2]
    for member in three[1:]:
        member.leave()
    _until([first], lambda: _is_shared_by([first]))


def test_a_settled_group_reads_each_record_once(
    broker: BrokerProcess, join: Join, filled: str
) -> None:
    members = [join(), join()]
    read = _until(members, lambda: _is_shared_by(members))
    later = [Sent(b"later-%d" % n, partition=n % PARTITIONS) for n in range(60)]
    Confluent(broker.bootstrap).write(filled, later)

    def all_read() -> bool:
        for member in members:
            read.extend(member.step())
        return len(set(read)) == 60 + PARTITIONS * 10

    _until([], all_read)
    assert sorted(value for value in read if value.startswith(b"later")) == sorted(
        sent.value or b"" for sent in later
    )


def test_a_member_resumes_where_the_group_committed(join: Join) -> None:
    first = join()
    _until([first], lambda: _is_shared_by([first]))
    assert first.committed(0) is None
    for partition in range(PARTITIONS):
        first.commit(partition, 7)
    assert first.committed(3) == 7
    first.leave()
    second = join()
    read: list[bytes] = []

    def all_read() -> bool:
        read.extend(second.step())
        return len(read) >= PARTITIONS * 3

    _until([], all_read)
    assert sorted(read) == sorted(b"%d-%d" % (p, n) for p in range(PARTITIONS) for n in (7, 8, 9))
