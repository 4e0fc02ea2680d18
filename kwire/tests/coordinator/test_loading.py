"""Replaying a log: all of it, in pieces and slices, with transactions resolved."""

import pytest

from kwire.codec.records.batch import parse_header
from kwire.codec.records.builder import build_batch
from kwire.codec.records.control import marker_key, marker_value
from kwire.codec.records.record import Record
from kwire.coordinator.decision import Asker, Decision, StoredRecord
from kwire.coordinator.loading import SLICE_RECORDS, Loading
from kwire.replication.partition import Partition
from kwire.tests.builders import a_batch, some_records
from kwire.tests.handlers.nodes import OpenNode


class _Listener:
    """A machine that only notes what it is told."""

    def __init__(self) -> None:
        self.seen: list[object] = []

    def apply(self, record: StoredRecord) -> None:
        self.seen.append((record.offset, record.producer_id))

    def end_transaction(self, producer_id: int, *, is_committed: bool) -> None:
        self.seen.append((producer_id, is_committed))

    def decide(self, command: object, asker: Asker, now_ms: int) -> Decision:
        raise NotImplementedError

    def loaded(self, now_ms: int) -> Decision:
        raise NotImplementedError

    def unloaded(self) -> Decision:
        raise NotImplementedError


class _Replay:
    def __init__(self, node: OpenNode, partition: Partition, piece_bytes: int = 2**20) -> None:
        self.listener = _Listener()
        self.outcome: list[Exception | None] = []
        self.loading = Loading(
            partition.log,
            partition.high_watermark,
            self.listener,
            piece_bytes=piece_bytes,
            scheduler=node.scheduler,
            done=self.outcome.append,
        )
        self.loading.start()


def _partition(node: OpenNode) -> Partition:
    node.create("internal")
    return node.node.hosted.find("internal", 0)


def test_every_record_is_applied_in_order(node: OpenNode) -> None:
    partition = _partition(node)
    for _ in range(10):
        partition.append_own(a_batch(3))
    replay = _Replay(node, partition, piece_bytes=300)
    node.scheduler.end_turn()
    assert replay.listener.seen == [(offset, -1) for offset in range(30)]
    assert replay.outcome == [None]


def test_an_empty_log_is_loaded_at_once(node: OpenNode) -> None:
    assert _Replay(node, _partition(node)).outcome == [None]


def test_the_loop_gets_a_turn_after_some_hundred_records(node: OpenNode) -> None:
    partition = _partition(node)
    partition.append_own(a_batch(some_records(2 * SLICE_RECORDS)))
    replay = _Replay(node, partition)
    for expected in (0, SLICE_RECORDS, 2 * SLICE_RECORDS):
        assert len(replay.listener.seen) == expected
        waiting, node.scheduler.soon = node.scheduler.soon, []
        for callback in waiting:
            callback()


def test_only_what_is_below_the_end_is_applied(node: OpenNode) -> None:
    partition = _partition(node)
    partition.append_own(a_batch(2))
    replay = _Replay(node, partition)
    partition.append_own(a_batch(2))
    node.scheduler.end_turn()
    assert replay.listener.seen == [(0, -1), (1, -1)]


@pytest.mark.parametrize("is_abort", [True, False])
def test_transactions_end_with_their_marker(node: OpenNode, is_abort: bool) -> None:
    partition = _partition(node)
    begun = a_batch(2, producer_id=7, producer_epoch=0, base_sequence=0, transactional=True)
    marker = Record(0, 1, marker_key(is_abort=is_abort), marker_value(0))
    ended = build_batch([marker], producer_id=7, producer_epoch=0, transactional=True, control=True)
    for batch in (begun, ended):
        assert parse_header(batch).is_transactional
        partition.append_own(batch)
    replay = _Replay(node, partition)
    node.scheduler.end_turn()
    assert replay.listener.seen == [(0, 7), (1, 7), (7, not is_abort)]


def test_a_log_that_cannot_be_read_ends_with_the_reason(
    node: OpenNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    partition = _partition(node)
    partition.append_own(a_batch(2))
    replay = _Replay(node, partition)
    monkeypatch.setattr(replay.listener, "apply", _raise)
    node.scheduler.end_turn()
    assert [str(error) for error in replay.outcome] == ["nonsense"]


def _raise(record: StoredRecord) -> None:
    from kwire.codec.primitives import MalformedMessage

    raise MalformedMessage("nonsense")
