"""Groups of the new protocol (KIP-848), as librdkafka forms them with `group.protocol=consumer`."""

import time
from collections.abc import Callable, Iterator

import pytest
from confluent_kafka import Consumer, ConsumerGroupType, TopicPartition
from confluent_kafka.admin import AdminClient

from compat_tests.oracle.processes import BrokerProcess
from compat_tests.python_clients.confluent import Confluent
from compat_tests.python_clients.values import Sent

PARTITIONS = 6
RECORDS = 60
PATIENCE_S = 40
STEP_S = 0.05


class Member:
    """A consumer that notes what it is given, what is taken from it, and what it reads."""

    def __init__(self, bootstrap: str, group: str, topics: list[str], **settings: object) -> None:
        self.read: list[bytes] = []
        self.kept: set[int] | None = None
        """What it never let go of since this was last set."""
        self._consumer = Consumer(
            {
                "bootstrap.servers": bootstrap,
                "group.id": group,
                "group.protocol": "consumer",
                "auto.offset.reset": "earliest",
                "enable.auto.commit": False,
                "fetch.wait.max.ms": 50,
                **settings,
            }
        )
        self._consumer.subscribe(topics, on_revoke=self._revoked)

    def _revoked(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        if self.kept is not None:
            self.kept -= {one.partition for one in partitions}

    def step(self) -> None:
        for message in self._consumer.consume(100, timeout=STEP_S):
            if message.error() is None:
                self.read.append(message.value())

    def assigned(self) -> set[int]:
        return {one.partition for one in self._consumer.assignment()}

    def commit(self) -> None:
        self._consumer.commit(asynchronous=False)

    def leave(self) -> None:
        self._consumer.close()


Join = Callable[..., Member]


@pytest.fixture
def filled(broker: BrokerProcess, topic: str) -> str:
    """A topic with ten records in each of its partitions."""
    client = Confluent(broker.bootstrap)
    client.create(topic, partitions=PARTITIONS)
    client.write(topic, [Sent(b"%d" % n, partition=n % PARTITIONS) for n in range(RECORDS)])
    return topic


@pytest.fixture
def join(broker: BrokerProcess, filled: str) -> Iterator[Join]:
    """Each call is one more member of the same group; all have left when the test ends."""
    members: list[Member] = []

    def join(*topics: str, **settings: object) -> Member:
        wanted = list(topics) or [filled]
        member = Member(broker.bootstrap, f"group-of-{filled}", wanted, **settings)
        members.append(member)
        return member

    yield join
    for member in members:
        member.leave()


def _until(members: list[Member], done: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not done():
        for member in members:
            member.step()
        shares = [(sorted(member.assigned()), len(member.read)) for member in members]
        assert time.monotonic() < deadline, f"after {PATIENCE_S} s: {shares}"


def _share_all(members: list[Member]) -> bool:
    shares = [member.assigned() for member in members]
    return all(shares) and sorted(p for share in shares for p in share) == list(range(PARTITIONS))


def test_one_member_becomes_three_and_one_again_without_a_stop(join: Join) -> None:
    first = join()
    _until([first], lambda: _share_all([first]))
    first.kept = first.assigned()
    three = [first, join(), join()]
    _until(three, lambda: _share_all(three))
    assert [len(member.assigned()) for member in three] == [2, 2, 2]
    assert first.kept == first.assigned()
    for member in three[1:]:
        member.leave()
    _until([first], lambda: _share_all([first]))
    assert len(first.kept) == 2


def test_a_group_goes_on_where_it_committed(broker: BrokerProcess, join: Join, filled: str) -> None:
    first = join()
    _until([first], lambda: len(first.read) == RECORDS)
    first.commit()
    first.leave()
    Confluent(broker.bootstrap).write(filled, [Sent(b"later", partition=3)])
    second = join()
    _until([second], lambda: bool(second.read))
    assert second.read == [b"later"]


def test_topics_are_chosen_by_an_expression(join: Join, filled: str) -> None:
    member = join(f"^{filled[:-1]}.$")
    _until([member], lambda: len(member.read) == RECORDS)
    assert member.assigned() == set(range(PARTITIONS))


def test_a_static_member_gets_its_partitions_back(join: Join) -> None:
    settings = {"group.instance.id": "one", "group.remote.assignor": "range"}
    first = join(**settings)
    other = join(**{"group.instance.id": "two", "group.remote.assignor": "range"})
    _until([first, other], lambda: _share_all([first, other]))
    had = first.assigned()
    other.kept = other.assigned()
    first.leave()
    back = join(**settings)
    _until([back, other], lambda: _share_all([back, other]))
    assert back.assigned() == had
    assert other.kept == other.assigned()


def test_a_group_changes_its_protocol_under_its_members(
    broker: BrokerProcess, join: Join, filled: str
) -> None:
    classic = join(**{"group.protocol": "classic", "heartbeat.interval.ms": 500})
    _until([classic], lambda: _share_all([classic]))
    assert _type_of(broker, filled) is ConsumerGroupType.CLASSIC
    modern = join()
    both = [classic, modern]
    _until(both, lambda: _share_all(both))
    assert _type_of(broker, filled) is ConsumerGroupType.CONSUMER
    modern.leave()
    _until([classic], lambda: _share_all([classic]))
    assert _type_of(broker, filled) is ConsumerGroupType.CLASSIC


def _type_of(broker: BrokerProcess, topic: str) -> ConsumerGroupType:
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    listed = admin.list_consumer_groups().result().valid
    (found,) = [one.type for one in listed if one.group_id == f"group-of-{topic}"]
    assert isinstance(found, ConsumerGroupType)
    return found
