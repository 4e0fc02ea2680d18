"""Fetch: what is returned, when an answer waits, and what a session leaves out."""

from typing import Any

import pytest

from kwire.codec.messages.fetch import (
    FetchPartition,
    FetchPartitionResponse,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    ForgottenTopic,
    ReplicaState,
)
from kwire.codec.records.batch import each_batch
from kwire.codec.records.builder import build_batch
from kwire.codec.records.control import marker_key, marker_value
from kwire.codec.records.record import Record
from kwire.controller.commands import NewTopic
from kwire.errors import ErrorCode, KafkaStorageError
from kwire.handlers.context import Peer, RequestContext
from kwire.handlers.fetch import handle
from kwire.replication.partition import Partition
from kwire.tasks import Later
from kwire.tests.builders import a_batch
from kwire.tests.handlers.nodes import OpenNode

VERSIONS = range(4, 19)
NEWEST = 18
READ_COMMITTED = 1
PLENTY = 1 << 20
NOBODYS_ID = b"?" * 16


@pytest.fixture(autouse=True)
def _topic(node: OpenNode) -> None:
    node.create("orders", partitions=2)


def _topic_of(node: OpenNode, name: str, *partitions: FetchPartition) -> FetchTopic:
    image = node.node.controller.image.topics.get(name)
    topic_id = image.topic_id if image else NOBODYS_ID
    return FetchTopic(topic=name, topic_id=topic_id, partitions=list(partitions))


def _from(offset: int, partition: int = 0, max_bytes: int = PLENTY, **more: Any) -> FetchPartition:
    return FetchPartition(
        partition=partition, fetch_offset=offset, partition_max_bytes=max_bytes, **more
    )


def _request(*topics: FetchTopic, **options: Any) -> FetchRequest:
    defaults: dict[str, Any] = {"max_wait_ms": 0, "min_bytes": 1, "max_bytes": PLENTY}
    return FetchRequest(**{**defaults, "topics": list(topics), **options})


def _fetch(
    node: OpenNode, wanted: FetchPartition, version: int = 12, **options: Any
) -> FetchPartitionResponse:
    request = _request(_topic_of(node, "orders", wanted), **options)
    return _only(node.ask(request, version))


def _only(response: FetchResponse | None) -> FetchPartitionResponse:
    assert response is not None
    assert response.error_code == ErrorCode.NONE
    (topic,) = response.responses
    (partition,) = topic.partitions
    return partition


def _offsets(answer: FetchPartitionResponse) -> list[int]:
    """The base offset of every whole batch."""
    return [header.base_offset for _, header in each_batch(memoryview(answer.records or b""))]


def _partition(node: OpenNode) -> Partition:
    return node.node.hosted.find("orders", 0)


@pytest.mark.parametrize("version", VERSIONS)
def test_every_version_reads_what_was_written(node: OpenNode, version: int) -> None:
    node.append("orders", a_batch(2))
    node.append("orders", a_batch(3))
    answer = _fetch(node, _from(0), version)
    assert _offsets(answer) == [0, 2]
    assert (answer.high_watermark, answer.last_stable_offset) == (5, 5)
    assert answer.log_start_offset == (0 if version >= 5 else -1)
    assert answer.preferred_read_replica == -1
    assert answer.aborted_transactions is None


def test_records_too_many_to_be_read_at_once_are_there_too(node: OpenNode) -> None:
    for _ in range(50):
        node.append("orders", a_batch(1, size_bytes=1000))
    assert _offsets(_fetch(node, _from(0))) == list(range(50))


def test_an_offset_within_a_batch_yields_the_whole_batch(node: OpenNode) -> None:
    node.append("orders", a_batch(10))
    node.append("orders", a_batch(1))
    assert _offsets(_fetch(node, _from(7))) == [0, 10]


def test_the_end_of_the_log_is_empty_and_no_error(node: OpenNode) -> None:
    node.append("orders", a_batch(2))
    answer = _fetch(node, _from(2))
    assert (answer.error_code, answer.records, answer.high_watermark) == (0, b"", 2)


@pytest.mark.parametrize("version", [4, 12, NEWEST])
@pytest.mark.parametrize("offset", [-1, 3])
def test_an_offset_that_is_not_there_is_out_of_range(
    node: OpenNode, offset: int, version: int
) -> None:
    node.append("orders", a_batch(2))
    answer = _fetch(node, _from(offset), version, max_wait_ms=1000)
    assert answer == FetchPartitionResponse(
        error_code=ErrorCode.OFFSET_OUT_OF_RANGE,
        high_watermark=-1,
        aborted_transactions=None,
        records=b"",
    )


def test_deleted_records_are_out_of_range(node: OpenNode) -> None:
    node.append("orders", a_batch(5))
    _partition(node).delete_records_before(3)
    assert _fetch(node, _from(2)).error_code == ErrorCode.OFFSET_OUT_OF_RANGE
    assert _fetch(node, _from(3)).log_start_offset == 3


def test_the_first_batch_is_whole_however_large_it_is(node: OpenNode) -> None:
    node.append("orders", a_batch(1, size_bytes=5000))
    node.append("orders", a_batch(1))
    assert _offsets(_fetch(node, _from(0, max_bytes=10))) == [0]
    assert _offsets(_fetch(node, _from(0), max_bytes=10)) == [0]


def test_only_the_first_batch_of_an_answer_may_exceed_its_limit(node: OpenNode) -> None:
    for partition in (0, 1):
        node.append("orders", a_batch(1, size_bytes=5000), partition)
    topic = _topic_of(node, "orders", _from(0, 0), _from(0, 1))
    (answered,) = node.ask(_request(topic, max_bytes=6000), 12).responses
    assert [_offsets(answer) for answer in answered.partitions] == [[0], []]


def test_the_brokers_own_limit_holds(node: OpenNode, tmp_path: Any) -> None:
    strict = OpenNode(tmp_path / "strict", {"fetch.max.bytes": "1024"})
    strict.create("orders", partitions=2)
    for partition in (0, 1):
        strict.append("orders", a_batch(1, size_bytes=1000), partition)
    topic = _topic_of(strict, "orders", _from(0, 0), _from(0, 1))
    (answered,) = strict.ask(_request(topic, min_bytes=PLENTY), 12).responses
    assert [_offsets(answer) for answer in answered.partitions] == [[0], []]
    strict.close()


@pytest.mark.parametrize(
    ("version", "code"),
    [(12, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION), (13, ErrorCode.UNKNOWN_TOPIC_ID)],
)
def test_an_unknown_topic_is_told_beside_the_others(
    node: OpenNode, version: int, code: ErrorCode
) -> None:
    node.append("orders", a_batch(1))
    topics = [_topic_of(node, "nowhere", _from(0)), _topic_of(node, "orders", _from(0))]
    answer = node.ask(_request(*topics), version)
    assert [topic.partitions[0].error_code for topic in answer.responses] == [code, 0]
    assert _offsets(answer.responses[1].partitions[0]) == [0]


@pytest.mark.parametrize(
    ("epoch", "code"),
    [(0, ErrorCode.FENCED_LEADER_EPOCH), (2, ErrorCode.UNKNOWN_LEADER_EPOCH), (1, ErrorCode.NONE)],
)
def test_readers_with_another_leader_epoch_are_refused(
    node: OpenNode, epoch: int, code: ErrorCode
) -> None:
    _partition(node).leader_epoch = 1
    assert _fetch(node, _from(0, current_leader_epoch=epoch)).error_code == code


def test_a_reader_whose_log_parted_from_ours_is_told_where(node: OpenNode) -> None:
    node.append("orders", a_batch(3))
    _partition(node).leader_epoch = 2
    node.append("orders", a_batch(2))
    answer = _fetch(node, _from(4, last_fetched_epoch=0), max_wait_ms=1000)
    assert (answer.diverging_epoch.epoch, answer.diverging_epoch.end_offset) == (0, 3)
    assert not answer.records
    assert _offsets(_fetch(node, _from(3, last_fetched_epoch=0))) == [3]


def test_nobody_but_us_has_a_replica(node: OpenNode) -> None:
    wanted = _topic_of(node, "orders", _from(0))
    state = ReplicaState(replica_id=2)
    for request, version in [
        (_request(wanted, replica_id=2), 14),
        (_request(wanted, replica_state=state), 15),
    ]:
        answer = _only(node.ask(request, version))
        assert answer.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER


# Waiting.


def test_an_answer_waits_for_bytes_and_comes_with_the_append(node: OpenNode) -> None:
    request = _request(_topic_of(node, "orders", _from(0)), max_wait_ms=500)
    answer = node.begin(request, 12)
    assert not answer.done
    node.append("orders", a_batch(1))
    node.scheduler.end_turn()
    assert _offsets(_only(answer.value)) == [0]


def test_an_answer_waits_until_there_are_enough_bytes(node: OpenNode) -> None:
    request = _request(_topic_of(node, "orders", _from(0)), max_wait_ms=500, min_bytes=250)
    answer = node.begin(request, 12)
    for _ in range(2):
        node.append("orders", a_batch(1, size_bytes=100))
        node.scheduler.end_turn()
        assert not answer.done
    node.append("orders", a_batch(1, size_bytes=100))
    node.scheduler.end_turn()
    assert _offsets(_only(answer.value)) == [0, 1, 2]


def test_an_answer_comes_with_what_there_is_when_time_is_over(node: OpenNode) -> None:
    node.append("orders", a_batch(1))
    request = _request(_topic_of(node, "orders", _from(0)), max_wait_ms=500, min_bytes=PLENTY)
    answer = node.begin(request, 12)
    node.scheduler.pass_time(499)
    assert not answer.done
    node.scheduler.pass_time(1)
    assert _offsets(_only(answer.value)) == [0]


def test_more_bytes_than_an_answer_may_have_are_not_waited_for(node: OpenNode) -> None:
    for _ in range(3):
        node.append("orders", a_batch(1, size_bytes=100))
    request = _request(
        _topic_of(node, "orders", _from(0)), max_wait_ms=500, min_bytes=PLENTY, max_bytes=250
    )
    assert node.begin(request, 12).done


def test_an_error_is_not_waited_for(node: OpenNode) -> None:
    topics = [_topic_of(node, "orders", _from(0)), _topic_of(node, "nowhere", _from(0))]
    assert node.begin(_request(*topics, max_wait_ms=500), 12).done


def test_no_partition_at_all_is_not_waited_for(node: OpenNode) -> None:
    assert node.begin(_request(max_wait_ms=500), 12).done


def test_deleting_the_topic_wakes_who_waits_for_it(node: OpenNode) -> None:
    answer = node.begin(_request(_topic_of(node, "orders", _from(0)), max_wait_ms=500), 12)
    node.node.controller.delete_topics(["orders"])
    node.scheduler.end_turn()
    assert _only(answer.value).error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


# Transactions, which only tests can write here.


def _transaction(node: OpenNode, producer_id: int, *, sequence: int = 0) -> None:
    partition = _partition(node)
    batch = a_batch(
        2, producer_id=producer_id, producer_epoch=0, base_sequence=sequence, transactional=True
    )
    partition.append_own(batch)


def _end(node: OpenNode, producer_id: int, *, is_abort: bool) -> None:
    marker = Record(0, 0, marker_key(is_abort=is_abort), marker_value(0), ())
    batch = build_batch(
        [marker], producer_id=producer_id, producer_epoch=0, transactional=True, control=True
    )
    _partition(node).append_own(batch)


def test_committed_readers_stop_before_an_open_transaction(node: OpenNode) -> None:
    node.append("orders", a_batch(1))
    _transaction(node, 1)
    node.append("orders", a_batch(1))
    answer = _fetch(node, _from(0), isolation_level=READ_COMMITTED)
    assert _offsets(answer) == [0]
    assert (answer.high_watermark, answer.last_stable_offset) == (4, 1)
    assert answer.aborted_transactions == []
    assert _offsets(_fetch(node, _from(0))) == [0, 1, 3]


def test_aborted_transactions_are_told_to_committed_readers_in_order(node: OpenNode) -> None:
    _transaction(node, 1)
    _transaction(node, 2)
    _end(node, 2, is_abort=True)
    _end(node, 1, is_abort=True)
    answer = _fetch(node, _from(0), isolation_level=READ_COMMITTED)
    assert answer.aborted_transactions is not None
    told = [(one.producer_id, one.first_offset) for one in answer.aborted_transactions]
    assert told == [(1, 0), (2, 2)]
    assert _offsets(answer) == [0, 2, 4, 5]
    assert _fetch(node, _from(0)).aborted_transactions is None


def test_a_committed_reader_is_woken_by_the_marker(node: OpenNode) -> None:
    _transaction(node, 1)
    request = _request(
        _topic_of(node, "orders", _from(0)), max_wait_ms=500, isolation_level=READ_COMMITTED
    )
    answer = node.begin(request, 12)
    node.append("orders", a_batch(1))
    node.scheduler.end_turn()
    assert not answer.done
    _end(node, 1, is_abort=False)
    node.scheduler.end_turn()
    assert _offsets(_only(answer.value)) == [0, 2, 3]


def test_all_of_a_transaction_counts_when_a_committed_reader_wants_more_than_its_marker(
    node: OpenNode,
) -> None:
    _transaction(node, 1)
    request = _request(
        _topic_of(node, "orders", _from(0)),
        max_wait_ms=500,
        min_bytes=100,
        isolation_level=READ_COMMITTED,
    )
    answer = node.begin(request, 12)
    _end(node, 1, is_abort=False)
    node.scheduler.end_turn()
    assert answer.done
    assert _only(answer.value).last_stable_offset == 3


# Sessions.


def _open_session(node: OpenNode, *topics: FetchTopic, version: int = 12) -> FetchResponse:
    answer = node.ask(_request(*topics, session_id=0, session_epoch=0), version)
    assert isinstance(answer, FetchResponse)
    assert answer.session_id
    return answer


def _go_on(
    node: OpenNode, session_id: int, epoch: int, *topics: FetchTopic, version: int = 12, **more: Any
) -> FetchResponse:
    request = _request(*topics, session_id=session_id, session_epoch=epoch, **more)
    answer = node.ask(request, version)
    assert isinstance(answer, FetchResponse)
    return answer


@pytest.mark.parametrize("version", range(7, 19))
def test_a_session_tells_only_what_is_new(node: OpenNode, version: int) -> None:
    topic = _topic_of(node, "orders", _from(0, 0), _from(0, 1))
    opened = _open_session(node, topic, version=version)
    assert len(opened.responses[0].partitions) == 2
    assert _go_on(node, opened.session_id, 1, version=version).responses == []
    node.append("orders", a_batch(1), 1)
    news = _go_on(node, opened.session_id, 2, version=version)
    assert [one.partition_index for one in news.responses[0].partitions] == [1]


def test_a_session_can_move_on_and_forget(node: OpenNode) -> None:
    topic = _topic_of(node, "orders", _from(0, 0), _from(0, 1))
    session_id = _open_session(node, topic).session_id
    node.append("orders", a_batch(1), 0)
    node.append("orders", a_batch(1), 1)
    forgotten = [ForgottenTopic(topic="orders", partitions=[1])]
    moved = _topic_of(node, "orders", _from(1, 0))
    answer = _go_on(node, session_id, 1, moved, forgotten_topics_data=forgotten)
    (partition,) = answer.responses[0].partitions
    assert (partition.partition_index, partition.records) == (0, b"")


@pytest.mark.parametrize(
    ("session_id", "epoch", "version", "code"),
    [
        (None, 5, 12, ErrorCode.INVALID_FETCH_SESSION_EPOCH),
        (None, 1, 13, ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR),
        (12345, 1, 12, ErrorCode.FETCH_SESSION_ID_NOT_FOUND),
    ],
)
def test_a_broken_session_is_told_at_the_top(
    node: OpenNode, session_id: int | None, epoch: int, version: int, code: ErrorCode
) -> None:
    opened = _open_session(node, _topic_of(node, "orders", _from(0)))
    answer = _go_on(node, session_id or opened.session_id, epoch, version=version)
    assert (answer.error_code, answer.responses) == (code, [])


def test_a_session_learns_of_a_topic_that_comes_later(node: OpenNode) -> None:
    """Clients may know a new topic's id before we do."""
    opened = _open_session(node, _topic_of(node, "later", _from(0)), version=13)
    assert opened.responses[0].partitions[0].error_code == ErrorCode.UNKNOWN_TOPIC_ID
    node.node.controller.create_topics([NewTopic("later", 1, topic_id=NOBODYS_ID)])
    node.append("later", a_batch(1))
    news = _go_on(node, opened.session_id, 1, version=13)
    assert _offsets(news.responses[0].partitions[0]) == [0]


def test_an_error_is_told_again_until_it_is_over(node: OpenNode) -> None:
    opened = _open_session(node, _topic_of(node, "orders", _from(9)))
    for epoch in (1, 2):
        answer = _go_on(node, opened.session_id, epoch)
        assert _only(answer).error_code == ErrorCode.OFFSET_OUT_OF_RANGE
    answer = _go_on(node, opened.session_id, 3, _topic_of(node, "orders", _from(0)))
    assert _only(answer).error_code == ErrorCode.NONE


def test_an_answer_of_a_session_that_went_on_without_it_is_refused(node: OpenNode) -> None:
    opened = _open_session(node, _topic_of(node, "orders", _from(0)))
    request = _request(session_id=opened.session_id, session_epoch=1, max_wait_ms=500)
    waiting = node.begin(request, 12)
    _go_on(node, opened.session_id, 2)
    node.scheduler.pass_time(500)
    assert waiting.value is not None
    assert waiting.value.error_code == ErrorCode.INVALID_FETCH_SESSION_EPOCH


@pytest.mark.parametrize(("version", "mentions_partitions"), [(6, True), (12, True), (13, False)])
def test_a_refusal_reaches_clients_of_every_age(
    node: OpenNode, version: int, mentions_partitions: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*args: Any, **more: Any) -> None:
        raise KafkaStorageError

    monkeypatch.setattr(node.node.fetch_sessions, "plan", refuse)
    answer = node.ask(_request(_topic_of(node, "orders", _from(0))), version)
    assert bool(answer.responses) == mentions_partitions
    if version >= 7:
        assert answer.error_code == ErrorCode.KAFKA_STORAGE_ERROR


def test_a_bug_that_shows_while_a_fetch_waits_fails_its_answer(
    node: OpenNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = _request(_topic_of(node, "orders", _from(0)), max_wait_ms=100)
    later = handle(RequestContext(node.node, NEWEST, "me", Peer("::1", 1, "PLAINTEXT")), request)
    assert isinstance(later, Later)
    failures: list[Exception] = []
    later.then(lambda _: None, failures.append)
    monkeypatch.setattr(node.node.hosted, "find_by_id", lambda topic_id, index: 1 / 0)
    node.scheduler.pass_time(100)
    assert [type(error) for error in failures] == [ZeroDivisionError]
