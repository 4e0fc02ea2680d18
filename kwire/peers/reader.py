"""Reading a topic as a client without a group: look an offset up, then fetch from there on.

Fetches are without a session, and wait at the broker for records to come. Records of transactions
that were aborted are left out unless the reader asks for uncommitted ones too.
"""

import time
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from kwire.codec.apis import FETCH, LIST_OFFSETS
from kwire.codec.messages.fetch import (
    FetchPartition,
    FetchPartitionResponse,
    FetchRequest,
    FetchResponse,
    FetchTopic,
)
from kwire.codec.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)
from kwire.codec.records.batch import BatchHeader, crc_holds, each_batch
from kwire.codec.records.control import read_marker
from kwire.codec.records.record import Record, each_record
from kwire.errors import CorruptMessage, ErrorCode
from kwire.peers.client import PASSING, Client, TopicView
from kwire.peers.failures import Disconnected, PeerError, Refused, Unreachable, check

LATEST = -1
EARLIEST = -2

_ANSWER_BYTES = 8 * 1024 * 1024
_PARTITION_BYTES = 1024 * 1024


class Fetched(NamedTuple):
    """Records of one batch, and the partition they were in."""

    partition: int
    records: list[Record]


def offsets_at(
    client: Client, topic: TopicView, times: Mapping[int, int], *, committed: bool = True
) -> dict[int, int]:
    """For each partition the first offset at or after a time (ms, LATEST or EARLIEST).

    Past the last record that is the end of the partition.
    """
    found: dict[int, int] = {}
    for leader, partitions in topic.by_leader(times).items():
        wanted = [
            ListOffsetsPartition(partition_index=each, timestamp=times[each]) for each in partitions
        ]
        request = ListOffsetsRequest(
            replica_id=-1,
            isolation_level=int(committed),
            topics=[ListOffsetsTopic(name=topic.name, partitions=wanted)],
            timeout_ms=client.timeout_ms,
        )
        answer: ListOffsetsResponse = client.ask_node(leader, LIST_OFFSETS, request)
        for told in answer.topics[0].partitions:
            where = f"topic {topic.name}, partition {told.partition_index}"
            check(told.error_code, what=where)
            found[told.partition_index] = told.offset
    beyond = [partition for partition, offset in found.items() if offset < 0]
    if beyond:
        found |= offsets_at(client, topic, dict.fromkeys(beyond, LATEST), committed=committed)
    return found


class Reader:
    """Reads some partitions of one topic from given offsets on."""

    def __init__(
        self,
        client: Client,
        topic: TopicView,
        offsets: Mapping[int, int],
        *,
        committed: bool = True,
        wait_ms: int = 500,
    ) -> None:
        self._client = client
        self._topic = topic
        self._committed = committed
        self._wait_ms = wait_ms
        self.positions = dict(offsets)
        self._ends: dict[int, int] = {}
        self._troubled_since: dict[int, float] = {}

    def is_at_end(self) -> bool:
        """Whether everything was read that was there at the last look."""
        return all(
            partition in self._ends and position >= self._ends[partition]
            for partition, position in self.positions.items()
        )

    def poll(self) -> Iterator[Fetched]:
        """One round of fetches: what has come by now, or shortly.

        A leader that went away is looked for again; the round after this one asks the new one.
        """
        leaders = self._topic.by_leader(self.positions)
        for leader, partitions in leaders.items():
            try:
                answer = self._fetch(leader, partitions, self._wait_ms // len(leaders))
            except (Disconnected, Unreachable) as failed:
                self._find_leaders_after(failed, partitions)
                continue
            for told in (each for topic in answer.responses for each in topic.partitions):
                yield from self._take(told)

    def _fetch(self, leader: int, partitions: Iterable[int], wait_ms: int) -> FetchResponse:
        wanted = [
            FetchPartition(
                partition=each,
                fetch_offset=self.positions[each],
                partition_max_bytes=_PARTITION_BYTES,
            )
            for each in partitions
        ]
        topic = FetchTopic(topic=self._topic.name, topic_id=self._topic.topic_id, partitions=wanted)
        request = FetchRequest(
            max_wait_ms=wait_ms,
            min_bytes=1,
            max_bytes=_ANSWER_BYTES,
            isolation_level=int(self._committed),
            topics=[topic],
        )
        wait_s = wait_ms / 1000
        answer: FetchResponse = self._client.ask_node(leader, FETCH, request, wait_s=wait_s)
        check(answer.error_code, what=f"fetch from node {leader}")
        return answer

    def _take(self, told: FetchPartitionResponse) -> Iterator[Fetched]:
        partition = told.partition_index
        position = self.positions[partition]
        if told.error_code != ErrorCode.NONE:
            where = f"topic {self._topic.name}, partition {partition}, offset {position}"
            refusal = Refused(told.error_code, _hint(told.error_code), what=where)
            if told.error_code not in PASSING:
                raise refusal
            self._find_leaders_after(refusal, [partition])
            return
        self._troubled_since.pop(partition, None)
        self._ends[partition] = told.last_stable_offset if self._committed else told.high_watermark
        for header, batch in _visible_batches(told):
            if batch is not None:
                records = list(each_record(batch, header))
                if header.base_offset < position:
                    records = [record for record in records if record.offset >= position]
                yield Fetched(partition, records)
            self.positions[partition] = header.next_offset

    def _find_leaders_after(self, trouble: PeerError, partitions: Iterable[int]) -> None:
        """Look for leaders again; gives up on a partition that could not be read for too long."""
        now = time.monotonic()
        since = min(self._troubled_since.setdefault(each, now) for each in partitions)
        if now - since > self._client.timeout_s:
            raise trouble
        self._topic = self._client.topic_after_trouble(self._topic.name)


def _visible_batches(
    told: FetchPartitionResponse,
) -> Iterator[tuple[BatchHeader, memoryview | None]]:
    """The batches of an answer; None for the bytes of those that no reader is to see.

    Those are markers, and what belongs to aborted transactions: from the offset that the answer
    names up to the abort marker of the same producer.
    """
    aborted = sorted(
        (each.first_offset, each.producer_id) for each in told.aborted_transactions or ()
    )
    hidden: set[int] = set()
    buffer = memoryview(told.records or b"")
    for start, header in each_batch(buffer):
        batch = buffer[start : start + header.size_bytes]
        if not crc_holds(batch, header):
            raise CorruptMessage(f"the batch at offset {header.base_offset} is corrupt")
        while aborted and aborted[0][0] <= header.last_offset:
            hidden.add(aborted.pop(0)[1])
        is_hidden = header.is_transactional and header.producer_id in hidden
        if is_hidden and header.is_control and _is_abort(batch, header):
            hidden.discard(header.producer_id)
        yield header, None if is_hidden or header.is_control else batch


def _is_abort(batch: memoryview, header: BatchHeader) -> bool:
    # Compaction may have left nothing of a marker but its batch's header.
    return header.records_count > 0 and read_marker(batch, header).is_abort


def _hint(code: int) -> str | None:
    if code == ErrorCode.OFFSET_OUT_OF_RANGE:
        return "the partition holds no such offset"
    return None
