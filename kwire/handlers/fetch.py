"""Fetch: records from many partitions, now or when enough of them are there.

An answer waits while it would hold less than `min_bytes` and nothing went wrong; the append that
brings the missing bytes completes it. Limits follow KIP-74: the request's and the partitions' sizes
bound the answer, but the first batch found is always whole, so that no reader gets stuck on it.

Only a few records are read here; of more, an answer names the slice of their file, and the
connection reads it as it sends.
"""

from typing import cast

from kwire.codec.messages.fetch import (
    AbortedTransaction,
    DivergingEpoch,
    FetchPartitionResponse,
    FetchRequest,
    FetchResponse,
    FetchTopicResponse,
)
from kwire.codec.primitives import Buffer
from kwire.codec.write_source import COPY_BELOW_BYTES
from kwire.errors import (
    ErrorCode,
    InvalidFetchSessionEpoch,
    KwireError,
    NotLeaderOrFollower,
    OffsetOutOfRange,
)
from kwire.handlers.context import RequestContext
from kwire.log.file_slice import FileSlice
from kwire.replication.fetch_sessions import FetchPlan, PartitionKey, Wanted
from kwire.replication.partition import Partition
from kwire.replication.waiters import WaitingFetch
from kwire.tasks import Later

FIRST_VERSION_WITH_STORAGE_ERROR = 6
FIRST_VERSION_WITH_SESSIONS = 7
FIRST_VERSION_WITH_TOPIC_IDS = 13
FIRST_VERSION_WITH_REPLICA_STATE = 15
READ_COMMITTED = 1

_SESSION_ERRORS = (
    ErrorCode.FETCH_SESSION_ID_NOT_FOUND,
    ErrorCode.INVALID_FETCH_SESSION_EPOCH,
    ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR,
)


def handle(ctx: RequestContext, request: FetchRequest) -> FetchResponse | Later[FetchResponse]:
    uses_topic_ids = ctx.version >= FIRST_VERSION_WITH_TOPIC_IDS
    plan = ctx.node.fetch_sessions.plan(
        request.session_id,
        request.session_epoch,
        _wanted(request),
        _forgotten(request, uses_topic_ids) if request.forgotten_topics_data else (),
        uses_topic_ids=uses_topic_ids,
    )
    return _Fetch(ctx, request, plan).run()


def refuse(ctx: RequestContext, request: FetchRequest, code: ErrorCode) -> FetchResponse:
    """Clients that fetch by id read the error at the top; older ones need it everywhere."""
    response = FetchResponse(error_code=code)
    if ctx.version < FIRST_VERSION_WITH_TOPIC_IDS and code not in _SESSION_ERRORS:
        response.responses = [
            FetchTopicResponse(
                topic=topic.topic,
                partitions=[
                    _failed(ctx.version, wanted.partition, code) for wanted in topic.partitions
                ],
            )
            for topic in request.topics
        ]
    return response


def _wanted(request: FetchRequest) -> list[Wanted]:
    return [
        Wanted(
            topic.topic,
            topic.topic_id,
            entry.partition,
            entry.fetch_offset,
            entry.partition_max_bytes,
            entry.current_leader_epoch,
            entry.last_fetched_epoch,
        )
        for topic in request.topics
        for entry in topic.partitions
    ]


def _forgotten(request: FetchRequest, uses_topic_ids: bool) -> list[PartitionKey]:
    return [
        (topic.topic_id if uses_topic_ids else topic.topic, index)
        for topic in request.forgotten_topics_data
        for index in topic.partitions
    ]


class _Fetch:
    """One Fetch request on its way to an answer."""

    __slots__ = (
        "_ctx",
        "_deadline",
        "_is_committed_only",
        "_later",
        "_max_bytes",
        "_min_bytes",
        "_plan",
        "_request",
        "_uses_topic_ids",
    )

    def __init__(self, ctx: RequestContext, request: FetchRequest, plan: FetchPlan) -> None:
        self._ctx = ctx
        self._request = request
        self._plan = plan
        self._uses_topic_ids = ctx.version >= FIRST_VERSION_WITH_TOPIC_IDS
        self._is_committed_only = request.isolation_level == READ_COMMITTED
        self._max_bytes = min(request.max_bytes, ctx.node.config.fetch_max_bytes)
        self._min_bytes = min(request.min_bytes, self._max_bytes)
        self._deadline: float | None = None
        self._later: Later[FetchResponse] | None = None

    def run(self) -> FetchResponse | Later[FetchResponse]:
        found = _Found()
        for wanted in self._plan.partitions:
            found.entries.append((wanted, self._look(wanted, found)))
        if found.size_bytes < self._min_bytes and not found.is_urgent and found.partitions:
            left_s = self._time_left()
            if left_s > 0:
                return self._wait(found, left_s)
        return self._finish(found)

    def _look(self, wanted: Wanted, found: "_Found") -> FetchPartitionResponse:
        """Find what a partition has, within the limits."""
        try:
            partition = self._find(wanted)
            answer = self._state_of(partition, wanted)
            found.partitions.append(partition)
            if wanted.last_fetched_epoch >= 0 and _diverges(partition, wanted, answer):
                found.is_urgent = True
                return answer
            end_offset = partition.high_watermark
            if self._is_committed_only:
                end_offset = answer.last_stable_offset
                answer.aborted_transactions = []
            slice_ = partition.log.read(
                wanted.fetch_offset,
                max(0, min(wanted.max_bytes, self._max_bytes - found.size_bytes)),
                end_offset=end_offset,
                whole_first_batch=not found.size_bytes,
            )
            if slice_ is not None:
                answer.records = _records(slice_)
                found.size_bytes += slice_.size
                if self._is_committed_only:
                    answer.aborted_transactions = _aborted(partition, wanted.fetch_offset, slice_)
        except KwireError as error:
            found.is_urgent = True
            return _failed(self._ctx.version, wanted.index, error.code)
        return answer

    def _find(self, wanted: Wanted) -> Partition:
        hosted = self._ctx.node.hosted
        if self._uses_topic_ids:
            partition = hosted.find_by_id(wanted.topic_id, wanted.index)
        else:
            partition = hosted.find(wanted.topic, wanted.index)
        partition.check_leader_epoch(wanted.current_leader_epoch)
        replica_id = self._request.replica_id
        if self._ctx.version >= FIRST_VERSION_WITH_REPLICA_STATE:
            replica_id = self._request.replica_state.replica_id
        if replica_id >= 0:
            raise NotLeaderOrFollower(f"broker {replica_id} has no replica of this partition")
        return partition

    def _state_of(self, partition: Partition, wanted: Wanted) -> FetchPartitionResponse:
        return FetchPartitionResponse(
            partition_index=wanted.index,
            high_watermark=partition.high_watermark,
            last_stable_offset=partition.last_stable_offset,
            log_start_offset=partition.log.log_start_offset,
            aborted_transactions=None,
            records=b"",
        )

    def _time_left(self) -> float:
        now = self._ctx.node.clock.monotonic()
        if self._deadline is None:
            self._deadline = now + self._request.max_wait_ms / 1000
        return self._deadline - now

    def _wait(self, found: "_Found", left_s: float) -> Later[FetchResponse]:
        if self._later is None:
            self._later = Later()
        waiting = WaitingFetch(
            found.partitions,
            missing_bytes=self._min_bytes - found.size_bytes,
            wait_s=left_s,
            scheduler=self._ctx.node.scheduler,
            ready=self._look_again,
        )
        self._later.on_abandon(waiting.cancel)
        return self._later

    def _look_again(self) -> None:
        """Bytes came or time is over: answer with what there is, or go on waiting."""
        if self._later is None or self._later.done:
            return
        try:
            outcome = self.run()
        except KwireError as error:
            outcome = refuse(self._ctx, self._request, error.code)
        except Exception as error:
            self._later.fail(error)
            return
        if outcome is not self._later:
            assert isinstance(outcome, FetchResponse)
            self._later.complete(outcome)

    def _finish(self, found: "_Found") -> FetchResponse:
        plan = self._plan
        if plan.is_overtaken:
            raise InvalidFetchSessionEpoch()
        answers: list[FetchTopicResponse] = []
        topics: dict[str | bytes, FetchTopicResponse] = {}
        for wanted, answer in found.entries:
            if plan.session is not None and not _is_news(plan, wanted, answer):
                continue
            key = wanted.topic_id if self._uses_topic_ids else wanted.topic
            topic = topics.get(key)
            if topic is None:
                topic = FetchTopicResponse(
                    topic=wanted.topic, topic_id=wanted.topic_id, partitions=[]
                )
                topics[key] = topic
                answers.append(topic)
            topic.partitions.append(answer)
        return FetchResponse(session_id=plan.session_id, responses=answers)


class _Found:
    """What a look at the partitions yielded."""

    __slots__ = ("entries", "is_urgent", "partitions", "size_bytes")

    def __init__(self) -> None:
        self.entries: list[tuple[Wanted, FetchPartitionResponse]] = []
        self.partitions: list[Partition] = []
        self.size_bytes = 0
        self.is_urgent = False
        """Whether something must be told at once, however few bytes there are."""


def _is_news(plan: FetchPlan, wanted: Wanted, answer: FetchPartitionResponse) -> bool:
    """Whether a session's answer mentions this partition; a full one mentions all."""
    has_data = bool(answer.records)
    told = (answer.high_watermark, answer.last_stable_offset, answer.log_start_offset)
    is_news = wanted.is_news(ErrorCode(answer.error_code), told, has_data)
    if has_data:
        plan.served(wanted)
    return is_news or not plan.is_incremental or answer.diverging_epoch.epoch >= 0


def _records(slice_: FileSlice) -> Buffer:
    """The bytes themselves if they are few, as at the end of a log; else a slice for later."""
    if slice_.size < COPY_BELOW_BYTES and (data := slice_.load_cached()) is not None:
        return data
    # The codec asks for its length only; the connection knows how to read it.
    return cast(Buffer, slice_)


def _diverges(partition: Partition, wanted: Wanted, answer: FetchPartitionResponse) -> bool:
    """Whether the reader's log parted from ours, and where to (KIP-595)."""
    epoch, end_offset = partition.end_of_epoch(wanted.last_fetched_epoch)
    if epoch < 0 or end_offset < 0:
        raise OffsetOutOfRange("the end of the last fetched epoch is not known")
    if wanted.fetch_offset < partition.log.log_start_offset:
        raise OffsetOutOfRange()
    if epoch < wanted.last_fetched_epoch or end_offset < wanted.fetch_offset:
        answer.diverging_epoch = DivergingEpoch(epoch=epoch, end_offset=end_offset)
        return True
    return False


def _aborted(partition: Partition, start: int, slice_: FileSlice) -> list[AbortedTransaction]:
    """The aborted transactions that overlap what is returned, sorted by their first offset."""
    return [
        AbortedTransaction(producer_id=aborted.producer_id, first_offset=aborted.first_offset)
        for aborted in partition.log.aborted_transactions(start, slice_.end_offset)
    ]


def _failed(version: int, index: int, code: ErrorCode) -> FetchPartitionResponse:
    if code == ErrorCode.KAFKA_STORAGE_ERROR and version < FIRST_VERSION_WITH_STORAGE_ERROR:
        # Clients of that age know no such error; this one makes them ask for the leader again.
        code = ErrorCode.NOT_LEADER_OR_FOLLOWER
    return FetchPartitionResponse(
        partition_index=index,
        error_code=code,
        high_watermark=-1,
        aborted_transactions=None,
        records=b"",
    )
