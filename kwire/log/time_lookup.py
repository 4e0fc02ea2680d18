"""Finding records by time: the indexes say where to begin, the records themselves decide."""

from collections.abc import Iterator
from typing import NamedTuple

from kwire.codec.records.batch import BatchHeader
from kwire.codec.records.record import each_record
from kwire.log.segment import Segment


class TimedOffset(NamedTuple):
    timestamp: int
    offset: int
    leader_epoch: int = -1


def seek_time(
    segments: list[Segment], timestamp: int, start_offset: int, end_offset: int
) -> TimedOffset | None:
    """The first record in the range whose timestamp is at least `timestamp`."""
    for segment in segments:
        if segment.next_offset <= start_offset or segment.max_timestamp < timestamp:
            continue
        for position, header in segment.walk(_beginning(segment, timestamp, start_offset)):
            if header.base_offset >= end_offset:
                return None
            if header.max_timestamp < timestamp:
                continue
            found = _first_at(segment, position, header, timestamp, start_offset)
            if found is not None:
                return found if found.offset < end_offset else None
    return None


def _beginning(segment: Segment, timestamp: int, start_offset: int) -> int:
    """The position of a batch before which no record of the range is as young as `timestamp`."""
    entry = segment.time_index.lookup(timestamp)
    if entry is not None and entry[1] > start_offset:
        position = segment.position_of(entry[1])
        for _, header in segment.walk(position):
            if header.max_timestamp == entry[0] and header.base_offset <= entry[1]:
                return position
            break
        segment.time_index.distrust()
    return segment.position_of(start_offset)


def newest_record(
    segments: list[Segment], start_offset: int, end_offset: int
) -> TimedOffset | None:
    """The first record that has the largest timestamp in the range."""
    newest = max((s.max_timestamp for s in segments if s.next_offset > start_offset), default=-1)
    if newest < 0:
        return None
    found = seek_time(segments, newest, start_offset, end_offset)
    if found is not None:
        return found
    # The newest batch is not readable, or below the log's start by then: look through all that is.
    newest = max(_timestamps(segments, start_offset, end_offset), default=-1)
    return seek_time(segments, newest, start_offset, end_offset) if newest >= 0 else None


def _timestamps(segments: list[Segment], start_offset: int, end_offset: int) -> Iterator[int]:
    for segment in segments:
        if segment.base_offset >= end_offset or segment.next_offset <= start_offset:
            continue
        for position, header in segment.walk(segment.position_of(start_offset)):
            if header.base_offset >= end_offset:
                return
            for record in each_record(segment.read(position, header.size_bytes), header):
                if start_offset <= record.offset < end_offset:
                    yield record.timestamp


def _first_at(
    segment: Segment, position: int, header: BatchHeader, timestamp: int, start_offset: int
) -> TimedOffset | None:
    data = segment.read(position, header.size_bytes)
    for record in each_record(data, header):
        if record.timestamp >= timestamp and record.offset >= start_offset:
            return TimedOffset(record.timestamp, record.offset)
    return None
