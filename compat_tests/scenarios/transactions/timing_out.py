"""Transactions that take too long: the coordinator aborts them, and fences who left them open."""

from compat_tests.scenarios.group_steps import Group
from compat_tests.scenarios.play import Play
from compat_tests.scenarios.transaction_steps import Producer, until_stable

SHORT_MS = 200


def a_transaction_that_takes_too_long_is_aborted(play: Play) -> None:
    topic, producer = play.topic(), Producer(play)
    producer.begin(topic, timeout_ms=SHORT_MS)
    producer.until_state("CompleteAbort")
    until_stable(play, topic)


def who_took_too_long_can_neither_write_nor_end(play: Play) -> None:
    topic, producer = play.topic(), Producer(play)
    producer.begin(topic, timeout_ms=SHORT_MS)
    producer.until_state("CompleteAbort")
    for version in (3, 11, 12):
        producer.produce(topic, sequence=1, version=version)
    for version in (0, 2, 4, 5):
        producer.end(version=version)
    for version in (0, 3):
        producer.add(topic, version=version)


def who_took_too_long_goes_on_after_a_bump(play: Play) -> None:
    topic, producer = play.topic(), Producer(play)
    producer.begin(topic, timeout_ms=SHORT_MS)
    producer.until_state("CompleteAbort")
    producer.bump()
    producer.add(topic)
    producer.produce(topic)
    producer.end()


def who_took_too_long_goes_on_as_a_new_incarnation(play: Play) -> None:
    topic, producer = play.topic(), Producer(play)
    producer.begin(topic, timeout_ms=SHORT_MS)
    producer.until_state("CompleteAbort")
    producer.init()
    producer.add(topic)
    producer.produce(topic)


def offsets_of_a_transaction_that_took_too_long_are_dropped(play: Play) -> None:
    group, topic, producer = Group(play), play.topic(), Producer(play)
    group.commit(topic, offset=1)
    producer.init(timeout_ms=SHORT_MS)
    producer.add_offsets(group)
    producer.commit_offsets(group, topic, offset=7)
    producer.until_state("CompleteAbort")
    group.committed(topic, require_stable=True)


def a_transaction_of_version_2_that_takes_too_long_is_aborted(play: Play) -> None:
    topic, producer = play.topic(), Producer(play)
    producer.init(version=5, timeout_ms=SHORT_MS)
    producer.produce(topic, version=12)
    producer.until_state("CompleteAbort")
    until_stable(play, topic)
    producer.produce(topic, version=12, sequence=1)
    producer.end(version=5)
    producer.end(version=5, commits=False)
    producer.bump(version=5)
