"""Fetch: records from many partitions, now or when enough of them are there.

An answer waits while it would hold less than `min_bytes` and nothing went wrong; the append that
brings the missing bytes completes it. Limits follow KIP-74: the request's and the partitions' sizes
bound the answer, but the first batch found is always whole, so that no reader gets stuck on it.
"""

from functools import partial

from kwire.codec.messages.fetch import (
    AbortedTransaction,
    DivergingEpoch,
    FetchPartitionResponse,
    FetchRequest,
    FetchResponse,
    FetchTopicResponse,
)
from kwire.errors import ErrorCode, KwireError
from kwire.handlers.context import RequestContext
from kwire.log.files import FileSlice
from kwire.replication.fetch_sessions import FetchPlan, PartitionKey, Wanted
from kwire.replication.partition import Partition
from kwire.replication.waiters import WaitingFetch
from kwire.tasks import Later
from kwire.types import ZERO_UUID

FIRST_VERSION_WITH_TOPIC_IDS = 13
READ_COMMITTED = 1


def handle(ctx: RequestContext, request: FetchRequest) -> FetchResponse | Later[FetchResponse]:
    uses_topic_ids = ctx.version >= FIRST_VERSION_WITH_TOPIC_IDS
    plan = ctx.node.fetch_sessions.plan(
        request.session_id,
        request.session_epoch,
        _wanted(ctx, request),
        _forgotten(request, uses_topic_ids),
        uses_topic_ids=uses_topic_ids,
    )
    return _Fetch(ctx, request, plan).run()


def refuse(ctx: RequestContext, request: FetchRequest, code: ErrorCode) -> FetchResponse:
    if ctx.version >= 7:
        return FetchResponse(error_code=code)
    return FetchResponse(
        responses=[
            FetchTopicResponse(
                topic=topic.topic,
                partitions=[
                    _failed(wanted.partition, code, is_committed_only=False)
                    for wanted in topic.partitions
                ],
            )
            for topic in request.topics
        ]
    )


def _wanted(ctx: RequestContext, request: FetchRequest) -> list[Wanted]:
    hosted = ctx.node.hosted
    wanted = []
    for topic in request.topics:
        name = topic.topic
        if topic.topic_id != ZERO_UUID:
            name = hosted.name_of(topic.topic_id) or ""
        for entry in topic.partitions:
            wanted.append(
                Wanted(
                    name,
                    topic.topic_id,
                    entry.partition,
                    entry.fetch_offset,
                    entry.partition_max_bytes,
                    entry.current_leader_epoch,
                    entry.last_fetched_epoch,
                )
            )
    return wanted


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
        "_plan",
        "_request",
        "_waiting",
    )

    def __init__(self, ctx: RequestContext, request: FetchRequest, plan: FetchPlan) -> None:
        self._ctx = ctx
        self._request = request
        self._plan = plan
        self._is_committed_only = request.isolation_level == READ_COMMITTED
        self._max_bytes = min(request.max_bytes, ctx.node.config.fetch_max_bytes)
        self._deadline = ctx.node.clock.monotonic() + request.max_wait_ms / 1000
        self._later: Later[FetchResponse] | None = None
        self._waiting: WaitingFetch | None = None

    def run(self) -> FetchResponse | Later[FetchResponse]:
        found = _Found()
        self._collect(found)
        if self._must_wait(found):
            return self._wait(found)
        if not found.load_cached():
            return self._load_in_pool(found)
        return self._finish(found)

    def _collect(self, found: "_Found") -> None:
        """Find what every partition has, within the limits; nothing is read from disk yet."""
        left = self._max_bytes
        for wanted in self._plan.partitions:
            answer, slice_ = self._look(wanted, found, left)
            found.add(wanted, answer, slice_)
            left -= slice_.size if slice_ is not None else 0

    def _look(
        self, wanted: Wanted, found: "_Found", left: int
    ) -> tuple[FetchPartitionResponse, FileSlice | None]:
        try:
            partition = self._find(wanted)
            partition.check_leader_epoch(wanted.current_leader_epoch)
            answer = self._state_of(partition, wanted)
            if answer.diverging_epoch.epoch >= 0:
                found.is_urgent = True
                return answer, None
            found.partitions.append(partition)
            end_offset = partition.readable_end(read_committed=self._is_committed_only)
            slice_ = partition.log.read(
                wanted.fetch_offset,
                max(0, min(wanted.max_bytes, left)),
                end_offset=end_offset,
                whole_first_batch=found.size_bytes == 0,
            )
        except KwireError as error:
            found.is_urgent = True
            return _failed(wanted.index, error.code, self._is_committed_only), None
        if slice_ is not None and self._is_committed_only:
            answer.aborted_transactions = _aborted(partition, wanted.fetch_offset, slice_)
        return answer, slice_

    def _find(self, wanted: Wanted) -> Partition:
        if wanted.topic_id != ZERO_UUID:
            return self._ctx.node.hosted.find_by_id(wanted.topic_id, wanted.index)
        return self._ctx.node.hosted.find(wanted.topic, wanted.index)

    def _state_of(self, partition: Partition, wanted: Wanted) -> FetchPartitionResponse:
        answer = FetchPartitionResponse(
            partition_index=wanted.index,
            high_watermark=partition.high_watermark,
            last_stable_offset=partition.last_stable_offset,
            log_start_offset=partition.log.log_start_offset,
            aborted_transactions=[] if self._is_committed_only else None,
            records=b"",
        )
        if wanted.last_fetched_epoch >= 0:
            epoch, end_offset = partition.log.leader_epochs.end_offset_for(
                wanted.last_fetched_epoch, partition.log.next_offset
            )
            if epoch < wanted.last_fetched_epoch or end_offset < wanted.fetch_offset:
                answer.diverging_epoch = DivergingEpoch(epoch=epoch, end_offset=end_offset)
        return answer

    def _must_wait(self, found: "_Found") -> bool:
        return (
            not found.is_urgent
            and found.size_bytes < self._request.min_bytes
            and bool(found.partitions)
            and self._ctx.node.clock.monotonic() < self._deadline
        )

    def _wait(self, found: "_Found") -> Later[FetchResponse]:
        later = self._promise()
        self._waiting = WaitingFetch(
            found.partitions,
            missing_bytes=self._request.min_bytes - found.size_bytes,
            wait_s=self._deadline - self._ctx.node.clock.monotonic(),
            scheduler=self._ctx.node.scheduler,
            ready=self._look_again,
        )
        later.on_abandon(self._waiting.cancel)
        return later

    def _look_again(self) -> None:
        """Bytes came or time is over: answer with what there is, or go on waiting."""
        if self._later is not None and not self._later.done:
            outcome = self.run()
            if isinstance(outcome, FetchResponse):
                self._later.complete(outcome)

    def _load_in_pool(self, found: "_Found") -> Later[FetchResponse]:
        """Data that is not in the page cache is read by a thread, while the loop serves others."""
        later = self._promise()
        self._ctx.node.scheduler.in_pool(found.load, partial(self._loaded, found))
        return later

    def _loaded(self, found: "_Found", outcome: None | Exception) -> None:
        if self._later is None or self._later.done:
            return
        if isinstance(outcome, Exception):
            code = ErrorCode.KAFKA_STORAGE_ERROR
            self._later.complete(refuse(self._ctx, self._request, code))
        else:
            self._later.complete(self._finish(found))

    def _promise(self) -> Later[FetchResponse]:
        if self._later is None:
            self._later = Later()
        return self._later

    def _finish(self, found: "_Found") -> FetchResponse:
        plan = self._plan
        topics: dict[str | bytes, FetchTopicResponse] = {}
        for wanted, answer, slice_ in found.entries:
            has_data = slice_ is not None
            told = (answer.high_watermark, answer.last_stable_offset, answer.log_start_offset)
            is_news = plan.session is None or wanted.is_news(
                ErrorCode(answer.error_code), told, has_data
            )
            if plan.is_incremental and not is_news and answer.diverging_epoch.epoch < 0:
                continue
            if has_data:
                plan.served(wanted)
            _topic_in(topics, wanted).partitions.append(answer)
        return FetchResponse(session_id=plan.session_id, responses=list(topics.values()))


class _Found:
    """What a look at the partitions yielded: answers, and slices of files still to be read."""

    __slots__ = ("entries", "is_urgent", "partitions", "size_bytes")

    def __init__(self) -> None:
        self.entries: list[tuple[Wanted, FetchPartitionResponse, FileSlice | None]] = []
        self.partitions: list[Partition] = []
        self.size_bytes = 0
        self.is_urgent = False

    def add(
        self, wanted: Wanted, answer: FetchPartitionResponse, slice_: FileSlice | None
    ) -> None:
        self.entries.append((wanted, answer, slice_))
        if slice_ is not None:
            self.size_bytes += slice_.size

    def load_cached(self) -> bool:
        """Read what the page cache holds; false when some of it must come from the disk."""
        for _, answer, slice_ in self.entries:
            if slice_ is not None:
                data = slice_.load_cached()
                if data is None:
                    return False
                answer.records = data
        return True

    def load(self) -> None:
        for _, answer, slice_ in self.entries:
            if slice_ is not None:
                answer.records = slice_.load()


def _topic_in(topics: dict[str | bytes, FetchTopicResponse], wanted: Wanted) -> FetchTopicResponse:
    key = wanted.topic_id if wanted.topic_id != ZERO_UUID else wanted.topic
    if key not in topics:
        topics[key] = FetchTopicResponse(topic=wanted.topic, topic_id=wanted.topic_id)
    return topics[key]


def _aborted(partition: Partition, start: int, slice_: FileSlice) -> list[AbortedTransaction]:
    """The aborted transactions that overlap what is returned, sorted by their first offset."""
    end = slice_.end_offset
    return [
        AbortedTransaction(producer_id=aborted.producer_id, first_offset=aborted.first_offset)
        for aborted in partition.log.aborted_transactions(start, end)
    ]


def _failed(index: int, code: ErrorCode, is_committed_only: bool) -> FetchPartitionResponse:
    return FetchPartitionResponse(
        partition_index=index,
        error_code=code,
        high_watermark=-1,
        aborted_transactions=[] if is_committed_only else None,
        records=b"",
    )
