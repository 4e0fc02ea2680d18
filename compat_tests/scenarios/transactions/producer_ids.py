"""InitProducerId: ids and epochs, for producers with and without transactions."""

from compat_tests.scenarios.play import Play
from compat_tests.scenarios.transaction_steps import Producer
from kwire.codec.apis import INIT_PRODUCER_ID

VERSIONS = range(6)


def every_version_gives_an_idempotent_producer_an_id_of_its_own(play: Play) -> None:
    for version in VERSIONS:
        Producer(play, None).init(version=version)


def every_version_gives_a_new_transactional_id_a_producer(play: Play) -> None:
    for version in VERSIONS:
        Producer(play, f"transaction {version}").init(version=version)


def asking_again_keeps_the_producer_and_raises_its_epoch(play: Play) -> None:
    producer = Producer(play)
    for version in VERSIONS:
        producer.init(version=version)


def a_producer_that_shows_its_epoch_gets_the_next_one(play: Play) -> None:
    for version in (3, 4, 5):
        producer = Producer(play, f"transaction {version}")
        producer.init(version=version)
        producer.bump(version=version)
        producer.bump(version=version)


def a_producer_that_asks_for_the_same_bump_twice_is_answered_the_same(play: Play) -> None:
    for version in (3, 4, 5):
        producer = Producer(play, f"transaction {version}")
        producer.init(version=version)
        producer.bump(version=version, epoch=0)
        producer.bump(version=version, epoch=0)


def an_epoch_from_before_the_last_is_fenced(play: Play) -> None:
    for version in (3, 4, 5):
        producer = Producer(play, f"transaction {version}")
        for _ in range(3):
            producer.init(version=version)
        producer.bump(version=version, epoch=0)


def an_epoch_from_before_the_last_bump_is_fenced(play: Play) -> None:
    for version in (3, 4, 5):
        producer = Producer(play, f"transaction {version}")
        producer.init(version=version)
        producer.bump(version=version, epoch=0)
        producer.bump(version=version, epoch=1)
        producer.bump(version=version, epoch=0)


def an_epoch_that_was_never_given_out_is_fenced(play: Play) -> None:
    for version in (3, 4, 5):
        producer = Producer(play, f"transaction {version}")
        producer.init(version=version)
        producer.bump(version=version, epoch=7)


def an_id_of_another_producer_is_fenced(play: Play) -> None:
    for version in (3, 4, 5):
        producer = Producer(play, f"transaction {version}")
        producer.init(version=version)
        producer.bump(version=version, producer_id=producer.producer_id + 1000)


def a_new_transactional_id_gets_a_new_producer_whatever_it_shows(play: Play) -> None:
    for version in (3, 4, 5):
        other = Producer(play, f"other {version}")
        other.init()
        new = Producer(play, f"new {version}")
        new.bump(version=version, producer_id=other.producer_id, epoch=other.epoch)


def an_id_and_an_epoch_come_together_or_not_at_all(play: Play) -> None:
    for version in (3, 4):
        for producer_id, epoch in ((1, -1), (-1, 1), (-2, 0), (-1, -2)):
            play.ask(
                INIT_PRODUCER_ID,
                version,
                transactional_id=play.name("transaction"),
                transaction_timeout_ms=1000,
                producer_id=producer_id,
                producer_epoch=epoch,
            )


def an_idempotent_producer_that_shows_its_epoch_gets_a_new_id(play: Play) -> None:
    producer = Producer(play, None)
    producer.init()
    for version in (3, 4, 5):
        producer.bump(version=version)


def a_timeout_out_of_range_is_refused(play: Play) -> None:
    producer = Producer(play)
    for version in (0, 4, 5):
        for timeout_ms in (0, -1, 60_001):
            producer.init(version=version, timeout_ms=timeout_ms)


def the_longest_timeout_is_allowed(play: Play) -> None:
    producer = Producer(play)
    producer.init(timeout_ms=60_000)
    producer.init(timeout_ms=1)
    producer.describe()


def an_idempotent_producer_has_no_timeout(play: Play) -> None:
    producer = Producer(play, None)
    for timeout_ms in (0, -1, 2**31 - 1):
        producer.init(timeout_ms=timeout_ms)


def an_empty_transactional_id_is_an_invalid_request(play: Play) -> None:
    for version in VERSIONS:
        play.ask(INIT_PRODUCER_ID, version, transactional_id="", transaction_timeout_ms=1000)


def a_new_incarnation_aborts_what_the_old_one_left_open(play: Play) -> None:
    for version in (0, 3, 4, 5):
        topic = play.topic(f"topic-{version}")
        old = Producer(play, f"transaction {version}")
        old.begin(topic)
        new = Producer(play, f"transaction {version}")
        new.init(version=version)
        new.describe()
        old.end()


def a_producer_that_bumps_its_epoch_aborts_what_it_left_open(play: Play) -> None:
    topic, producer = play.topic(), Producer(play)
    producer.begin(topic)
    producer.bump()
    producer.describe()


def a_new_incarnation_follows_a_committed_transaction(play: Play) -> None:
    topic, producer = play.topic(), Producer(play)
    producer.begin(topic)
    producer.end()
    producer.until_state("CompleteCommit")
    producer.init()
    producer.describe()


def the_timeout_is_that_of_the_last_incarnation(play: Play) -> None:
    producer = Producer(play)
    producer.init(timeout_ms=20_000)
    producer.describe()
    producer.init(timeout_ms=30_000)
    producer.describe()
