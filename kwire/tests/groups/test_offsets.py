"""What groups have committed, by themselves and in transactions."""

from kwire.codec.internal import offsets as format
from kwire.codec.internal.offsets import CommittedOffset
from kwire.coordinator.decision import NO_PRODUCER, StoredRecord
from kwire.groups.offsets import Offsets
from kwire.types import TopicPartition

AT = TopicPartition("t", 0)
PRODUCER = 7


def _record(offset: int, *, at: int, producer_id: int = NO_PRODUCER) -> StoredRecord:
    committed = CommittedOffset(offset, -1, "", 1_700_000_000_000)
    key = format.write_key("g", "t", 0)
    return StoredRecord(key, format.write_value(committed), at, producer_id)


def _committed(offsets: Offsets) -> int | None:
    found = offsets.get("g", AT)
    return None if found is None else found.offset


def test_a_transaction_counts_when_it_is_committed() -> None:
    offsets = Offsets()
    offsets.apply(_record(5, at=0, producer_id=PRODUCER))
    assert _committed(offsets) is None
    assert offsets.is_unstable("g", AT)
    assert offsets.has_open_transactions("g")
    offsets.end_transaction(PRODUCER, is_committed=True)
    assert _committed(offsets) == 5
    assert not offsets.is_unstable("g", AT)


def test_a_transaction_that_is_aborted_never_was() -> None:
    offsets = Offsets()
    offsets.apply(_record(5, at=0, producer_id=PRODUCER))
    offsets.end_transaction(PRODUCER, is_committed=False)
    assert _committed(offsets) is None
    assert not offsets.has_open_transactions("g")


def test_of_a_plain_and_a_transactional_commit_the_later_record_counts() -> None:
    offsets = Offsets()
    offsets.apply(_record(5, at=0, producer_id=PRODUCER))
    offsets.apply(_record(6, at=1))
    offsets.end_transaction(PRODUCER, is_committed=True)
    assert _committed(offsets) == 6


def test_a_deletion_takes_what_transactions_are_about_to_commit_too() -> None:
    offsets = Offsets()
    offsets.apply(_record(5, at=0, producer_id=PRODUCER))
    assert list(offsets.with_topics({"t"})) == [("g", AT)]
    offsets.apply(StoredRecord(format.write_key("g", "t", 0), None, 1))
    offsets.end_transaction(PRODUCER, is_committed=True)
    assert _committed(offsets) is None


def test_everything_of_a_group_is_listed_once() -> None:
    offsets = Offsets()
    offsets.apply(_record(5, at=0))
    offsets.apply(_record(6, at=1, producer_id=PRODUCER))
    assert offsets.partitions_of("g") == [AT]
