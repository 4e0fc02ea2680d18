"""Writing to an internal partition: batches of the right size, and waiting for the disk."""

from typing import Any

from kwire.codec.records.batch import BatchHeader, each_batch
from kwire.coordinator.decision import Decision, StoredRecord, TransactionEnd
from kwire.coordinator.journal import PartitionJournal
from kwire.errors import RecordListTooLarge
from kwire.replication.partition import Partition
from kwire.tests.handlers.nodes import OpenNode

NOW_MS = 1_700_000_000_000


def _records(count: int, value_bytes: int = 10) -> list[StoredRecord]:
    return [StoredRecord(b"key-%d" % at, bytes(value_bytes)) for at in range(count)]


def _journal(node: OpenNode, codec: int = 0, **config: Any) -> tuple[PartitionJournal, Partition]:
    node.create("internal", cleanup_policy="compact", **config)
    partition = node.node.hosted.find("internal", 0)
    return PartitionJournal(partition, node.node.group_commit, codec), partition


def _headers(partition: Partition) -> list[BatchHeader]:
    piece = partition.log.read(0, 2**30, end_offset=partition.high_watermark)
    assert piece is not None
    return [header for _, header in each_batch(bytes(piece))]


def _counts(partition: Partition) -> list[int]:
    return [header.records_count for header in _headers(partition)]


def test_records_of_one_decision_are_one_batch(node: OpenNode) -> None:
    journal, partition = _journal(node)
    assert journal.append(_records(3), NOW_MS).value == 0
    assert journal.append(_records(2), NOW_MS).value == 3
    assert _counts(partition) == [3, 2]
    assert partition.high_watermark == 5


def test_what_is_too_much_for_one_batch_is_cut(node: OpenNode) -> None:
    journal, partition = _journal(node, max_message_bytes="2000")
    assert journal.append(_records(50, 100), NOW_MS).value == 0
    counts = _counts(partition)
    assert sum(counts) == 50
    assert len(counts) > 1


def test_a_record_that_is_too_large_is_refused(node: OpenNode) -> None:
    journal, partition = _journal(node, max_message_bytes="200")
    assert isinstance(journal.append(_records(1, 300), NOW_MS).value, RecordListTooLarge)
    assert partition.high_watermark == 0


def test_batches_are_compressed_as_the_setting_says(node: OpenNode) -> None:
    journal, partition = _journal(node, codec=1)
    journal.append(_records(100, 100), NOW_MS)
    assert partition.log.size_bytes < 2000


def test_with_flush_messages_the_answer_waits_for_the_disk(node: OpenNode) -> None:
    journal, partition = _journal(node, flush_messages="1")
    written = journal.append(_records(1), NOW_MS)
    assert not written.done
    node.scheduler.end_turn()
    assert written.value == 0
    assert partition.log.recovery_point == 1


def test_a_transaction_is_open_until_its_marker_was_written(node: OpenNode) -> None:
    journal, partition = _journal(node, codec=1)
    record = StoredRecord(b"key", b"value", producer_id=7, producer_epoch=3)
    journal.append([record], NOW_MS)
    assert partition.last_stable_offset == 0
    marker = Decision()
    marker.end_transaction(TransactionEnd(7, 3, coordinator_epoch=0, is_commit=True))
    journal.append(marker.records, NOW_MS)
    assert partition.last_stable_offset == partition.high_watermark == 2
    data, control = _headers(partition)
    assert (data.producer_id, data.producer_epoch, data.base_sequence) == (7, 3, -1)
    assert (data.is_transactional, data.is_control, data.codec) == (True, False, 1)
    assert (control.is_transactional, control.is_control, control.codec) == (True, True, 0)
