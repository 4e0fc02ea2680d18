"""Transactions on a whole node: markers in real logs, and crashes at every step of ending one."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kwire.codec.messages.find_coordinator import FindCoordinatorRequest
from kwire.codec.messages.offset_fetch import OffsetFetchGroup, OffsetFetchRequest, OffsetFetchTopic
from kwire.codec.records.batch import each_batch
from kwire.codec.records.control import read_marker
from kwire.errors import ErrorCode, KafkaStorageError
from kwire.replication.partition import Partition
from kwire.tasks import now
from kwire.tests.handlers.nodes import OpenNode
from kwire.tests.transactions.nodes import Producer
from kwire.transactions.markers import Markers
from kwire.transactions.state import LAST_EPOCH, TransactionState

SWEEP_MS = 10_000
RETRY_MS = 100
TIMEOUT_MS = 60_000
GROUP = "g"


@pytest.fixture
def node(tmp_path: Path) -> Iterator[OpenNode]:
    opened = OpenNode(tmp_path / "data")
    opened.create("orders", 3)
    opened.ask(FindCoordinatorRequest(key=GROUP), 3)
    opened.scheduler.end_turn()
    yield opened
    opened.close()


def _partition(node: OpenNode, index: int = 0) -> Partition:
    return node.node.hosted.find("orders", index)


def _kinds(partition: Partition) -> str:
    """The batches of a log: `d` is data, `c` a commit and `a` an abort."""
    piece = partition.log.read(0, 2**30, end_offset=partition.high_watermark)
    data = b"" if piece is None else bytes(piece)
    kinds = ""
    for position, header in each_batch(data):
        if header.is_control:
            marker = read_marker(data[position : position + header.size_bytes], header)
            kinds += "a" if marker.is_abort else "c"
        else:
            kinds += "d"
    return kinds


def _state(node: OpenNode) -> TransactionState:
    return node.node.transactions.reading("tx").transactions["tx"].state


def _committed(node: OpenNode) -> Any:
    topic = OffsetFetchTopic(name="orders", partition_indexes=[0])
    asked = OffsetFetchGroup(group_id=GROUP, topics=[topic])
    answer = node.ask(OffsetFetchRequest(groups=[asked], require_stable=True), 8)
    found = answer.groups[0].topics[0].partitions[0]
    return found.committed_offset if found.error_code == 0 else ErrorCode(found.error_code)


def _started(node: OpenNode, *, is_new: bool = True) -> Producer:
    producer = Producer(node, is_new=is_new)
    assert producer.init() == ErrorCode.NONE
    return producer


@pytest.mark.parametrize("is_new", [False, True])
@pytest.mark.parametrize(("is_commit", "marker"), [(True, "c"), (False, "a")])
def test_every_partition_gets_one_marker(
    node: OpenNode, is_new: bool, is_commit: bool, marker: str
) -> None:
    producer = _started(node, is_new=is_new)
    producer.begin("orders", 0, 1)
    assert [_partition(node, index).last_stable_offset for index in range(3)] == [0, 0, 0]
    assert producer.end(is_commit=is_commit) == ErrorCode.NONE
    assert [_kinds(_partition(node, index)) for index in range(3)] == ["d" + marker] * 2 + [""]
    assert [_partition(node, index).last_stable_offset for index in range(3)] == [2, 2, 0]
    assert len(_partition(node).log.aborted_transactions(0, 10)) == (0 if is_commit else 1)


@pytest.mark.parametrize("is_new", [False, True])
def test_transactions_follow_each_other(node: OpenNode, is_new: bool) -> None:
    producer = _started(node, is_new=is_new)
    for is_commit in (True, False, True):
        producer.begin()
        assert producer.end(is_commit=is_commit) == ErrorCode.NONE
    assert _kinds(_partition(node)) == "dcdadc"


def test_a_partition_without_records_gets_its_marker_too(node: OpenNode) -> None:
    producer = _started(node, is_new=False)
    producer.add("orders", 0, 1)
    producer.send("orders", 0)
    producer.end()
    assert [_kinds(_partition(node, index)) for index in (0, 1)] == ["dc", "c"]


def test_a_topic_that_was_deleted_does_not_keep_a_transaction_open(node: OpenNode) -> None:
    node.create("gone")
    producer = _started(node)
    producer.begin("gone")
    producer.begin("orders")
    node.node.controller.delete_topics(["gone"])
    assert producer.end() == ErrorCode.NONE
    assert _state(node) is TransactionState.COMPLETE_COMMIT


def test_offsets_count_when_their_transaction_commits(node: OpenNode) -> None:
    producer = _started(node)
    assert producer.commit_offset(GROUP, 5) == ErrorCode.NONE
    assert _committed(node) == ErrorCode.UNSTABLE_OFFSET_COMMIT
    producer.end()
    assert _committed(node) == 5
    producer.commit_offset(GROUP, 9)
    producer.end(is_commit=False)
    assert _committed(node) == 5


def test_a_timeout_frees_offsets_and_readers(node: OpenNode) -> None:
    producer = _started(node)
    producer.begin()
    producer.commit_offset(GROUP, 5)
    node.scheduler.pass_time(TIMEOUT_MS + SWEEP_MS)
    assert _committed(node) == -1
    assert _kinds(_partition(node)) == "da"
    assert _partition(node).last_stable_offset == 2
    assert producer.send() == ErrorCode.INVALID_PRODUCER_EPOCH
    assert producer.end() == ErrorCode.INVALID_TXN_STATE


def test_a_partition_that_cannot_be_written_gets_its_marker_later(
    node: OpenNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    producer = _started(node)
    producer.begin("orders", 0, 1)
    refused = _partition(node, 1)
    append_own = Partition.append_own

    def append(partition: Partition, batch: bytearray) -> Any:
        if partition is refused:
            raise KafkaStorageError()
        return append_own(partition, batch)

    with monkeypatch.context() as patch:
        patch.setattr(Partition, "append_own", append)
        assert producer.end() == ErrorCode.NONE
        assert _state(node) is TransactionState.PREPARE_COMMIT
        assert producer.init() == ErrorCode.CONCURRENT_TRANSACTIONS
    node.scheduler.pass_time(RETRY_MS)
    assert _state(node) is TransactionState.COMPLETE_COMMIT
    assert [_kinds(_partition(node, index)) for index in (0, 1)] == ["dc", "dc"]


def test_the_last_epoch_of_a_producer_gives_it_a_new_id(node: OpenNode) -> None:
    producer = _started(node)
    machine = node.node.transactions.reading("tx")
    machine.transactions["tx"] = machine.transactions["tx"]._replace(epoch=LAST_EPOCH - 1)
    old_id, producer.epoch = producer.producer_id, LAST_EPOCH - 1
    producer.begin()
    assert producer.end() == ErrorCode.NONE
    assert producer.producer_id != old_id
    assert producer.epoch == 0
    producer.begin()
    assert producer.end() == ErrorCode.NONE
    assert _kinds(_partition(node)) == "dcdc"


def test_without_ids_a_producer_is_told_to_ask_again(
    node: OpenNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(node.node.producer_ids, "next", lambda: now(KafkaStorageError()))
    assert Producer(node).init() == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS


def test_with_flush_messages_markers_wait_for_the_disk(node: OpenNode) -> None:
    node.create("safe", flush_messages="1")
    producer = _started(node)
    answered = node.begin(producer.request("safe"), 12)
    node.scheduler.end_turn()
    assert answered.done
    assert producer.end() == ErrorCode.NONE
    assert _state(node) is TransactionState.PREPARE_COMMIT
    node.scheduler.end_turn()
    assert _state(node) is TransactionState.COMPLETE_COMMIT


Snapshot = Callable[[], object]


def _before_the_first_marker(patch: pytest.MonkeyPatch, snapshot: Snapshot) -> None:
    _at_markers(patch, snapshot, after=0)


def _between_markers(patch: pytest.MonkeyPatch, snapshot: Snapshot) -> None:
    _at_markers(patch, snapshot, after=2)


def _before_it_is_complete(patch: pytest.MonkeyPatch, snapshot: Snapshot) -> None:
    _at_markers(patch, snapshot, after=3)


def _at_markers(patch: pytest.MonkeyPatch, snapshot: Snapshot, *, after: int) -> None:
    """Take the snapshot when so many of the three markers are written."""
    write, written = Markers.write, 0

    def counting(markers: Markers, *marker: Any) -> Any:
        nonlocal written
        if written == after:
            snapshot()
        done = write(markers, *marker)
        written += 1
        if written == after == 3:
            snapshot()
        return done

    patch.setattr(Markers, "write", counting)


@pytest.mark.parametrize("is_new", [False, True])
@pytest.mark.parametrize(("is_commit", "marker", "offset"), [(True, "c", 5), (False, "a", -1)])
@pytest.mark.parametrize(
    "crash", [_before_the_first_marker, _between_markers, _before_it_is_complete]
)
def test_a_crash_while_a_transaction_ends_loses_and_doubles_nothing(
    node: OpenNode,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    crash: Callable[[pytest.MonkeyPatch, Snapshot], None],
    is_commit: bool,
    marker: str,
    offset: int,
    is_new: bool,
) -> None:
    producer = _started(node, is_new=is_new)
    producer.begin("orders", 0, 1)
    if not is_new:
        producer.add_offsets(GROUP)
    assert producer.commit_offset(GROUP, 5, version=5 if is_new else 3) == ErrorCode.NONE
    with monkeypatch.context() as patch:
        crash(patch, lambda: shutil.copytree(tmp_path / "data", tmp_path / "crashed"))
        producer.end(is_commit=is_commit)
    after = OpenNode(tmp_path / "crashed")
    after.scheduler.pass_time(RETRY_MS)
    assert _state(after).title == ("CompleteCommit" if is_commit else "CompleteAbort")
    for index in (0, 1):
        assert _kinds(_partition(after, index)) == "d" + marker
        assert _partition(after, index).last_stable_offset == 2
    assert _committed(after) == offset
    again = Producer(after, is_new=is_new)
    assert again.init() == ErrorCode.NONE
    again.begin()
    assert again.end() == ErrorCode.NONE
    after.close()


def test_a_crash_with_an_open_transaction_ends_it_in_time(node: OpenNode, tmp_path: Path) -> None:
    producer = _started(node)
    producer.begin()
    producer.commit_offset(GROUP, 5)
    shutil.copytree(tmp_path / "data", tmp_path / "crashed")
    after = OpenNode(tmp_path / "crashed")
    assert _partition(after).last_stable_offset == 0
    assert _committed(after) == ErrorCode.UNSTABLE_OFFSET_COMMIT
    after.scheduler.pass_time(TIMEOUT_MS + SWEEP_MS)
    assert _kinds(_partition(after)) == "da"
    assert _committed(after) == -1
    after.close()


def test_a_producer_goes_on_after_a_restart(node: OpenNode, tmp_path: Path) -> None:
    producer = _started(node)
    producer.begin()
    shutil.copytree(tmp_path / "data", tmp_path / "crashed")
    after = OpenNode(tmp_path / "crashed")
    producer.move_to(after)
    assert producer.send() == ErrorCode.NONE
    assert producer.end() == ErrorCode.NONE
    assert _kinds(_partition(after)) == "ddc"
    after.close()
