"""Which segments are too old, too many, or below the log's start, and how they leave.

Segments go from the oldest on, whole ones only, and never one that reaches past the high watermark.
The active segment goes too when all of it has expired; a new and empty one takes its place. As in
Kafka, a segment is as old as its newest record, or as its file if no record has a time.
"""

import logging
import os
from collections.abc import Callable

from kwire.errors import KafkaStorageError
from kwire.log.partition_log import PartitionLog
from kwire.log.segment import Segment
from kwire.log.trash import DELETED, Trash

_log = logging.getLogger(__name__)


def delete_expired(
    log: PartitionLog, *, high_watermark: int, now_ms: int, trash: Trash
) -> list[Segment]:
    """Take every expired segment out of the log; their files go after file.delete.delay.ms."""
    if log.is_failed:
        return []
    expired = expired_segments(log, high_watermark=high_watermark, now_ms=now_ms)
    if not expired:
        return []
    if expired[-1] is log.active:
        _roll_or_spare(log, expired)
    log.remove_segments(expired)
    try:
        doomed = [path for segment in expired for path in segment.rename(DELETED)]
    except OSError as error:
        raise log.files.refusal(f"remove segments of {log.topic_partition}", error) from error
    trash.take(doomed, log.config.file_delete_delay_ms)
    _log.info(
        "segments expired topic_partition=%s segments=%d bytes=%d log_start_offset=%d",
        log.topic_partition,
        len(expired),
        sum(segment.size_bytes for segment in expired),
        log.log_start_offset,
    )
    return expired


def _roll_or_spare(log: PartitionLog, expired: list[Segment]) -> None:
    """A full disk may have no room for a new segment; then the closed ones must make some first."""
    try:
        log.roll()
    except KafkaStorageError:
        if log.is_failed:
            raise
        expired.pop()


def expired_segments(log: PartitionLog, *, high_watermark: int, now_ms: int) -> list[Segment]:
    """The segments from the oldest on that nothing keeps any longer."""
    config = log.config
    expired = _oldest_while(log, high_watermark, _is_below_start(log))
    if "delete" not in config.cleanup_policy:
        return expired
    if config.retention_bytes >= 0:
        by_size = _oldest_while(log, high_watermark, _is_surplus(log, expired))
        expired = max(expired, by_size, key=len)
    if config.retention_ms >= 0:
        by_time = _oldest_while(
            log, high_watermark, lambda segment: now_ms - newest_ms(segment) > config.retention_ms
        )
        expired = max(expired, by_time, key=len)
    return expired


def newest_ms(segment: Segment) -> int:
    """The time that the age of a segment is counted from."""
    if segment.max_timestamp >= 0:
        return segment.max_timestamp
    return os.stat(segment.file.path).st_mtime_ns // 1_000_000


def _oldest_while(
    log: PartitionLog, high_watermark: int, is_expired: Callable[[Segment], bool]
) -> list[Segment]:
    found: list[Segment] = []
    for segment in log.segments:
        is_active = segment is log.active
        if is_active and segment.size_bytes == 0:
            break
        end = log.next_offset if is_active else log.segments[len(found) + 1].base_offset
        if end > high_watermark or not is_expired(segment):
            break
        found.append(segment)
    return found


def _is_below_start(log: PartitionLog) -> Callable[[Segment], bool]:
    following = {id(a): b.base_offset for a, b in zip(log.segments, log.segments[1:], strict=False)}

    def is_expired(segment: Segment) -> bool:
        end = following.get(id(segment))
        return end is not None and end <= log.log_start_offset

    return is_expired


def _is_surplus(log: PartitionLog, gone: list[Segment]) -> Callable[[Segment], bool]:
    """Whether the log without a segment would still be as large as it may be."""
    already = set(map(id, gone))
    surplus = log.size_bytes - log.config.retention_bytes
    surplus -= sum(segment.size_bytes for segment in gone)

    def is_expired(segment: Segment) -> bool:
        nonlocal surplus
        if id(segment) in already:
            return True
        surplus -= segment.size_bytes
        return surplus >= 0

    return is_expired
