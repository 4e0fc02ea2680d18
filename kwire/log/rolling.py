"""When the active segment is full or old enough to be closed."""

import random

from kwire.clock import Clock
from kwire.codec.records.batch import BatchHeader
from kwire.config.topic import TopicConfig
from kwire.log.segment import Segment

MAX_RELATIVE_OFFSET = 2**31 - 1
TIME_ENTRY_BYTES = 12


class RollRule:
    __slots__ = ("_clock", "_config", "_max_age_ms")

    def __init__(self, config: TopicConfig, clock: Clock) -> None:
        self._clock = clock
        self.start(config)

    def start(self, config: TopicConfig) -> None:
        """A new segment, or other settings. Jitter keeps partitions from rolling all at once."""
        self._config = config
        age_ms = config.segment_ms
        if "compact" in config.cleanup_policy:
            # Only closed segments are compacted, so this one must be closed before it is overdue.
            age_ms = min(age_ms, config.max_compaction_lag_ms)
        jitter_ms = min(config.segment_jitter_ms, age_ms)
        self._max_age_ms = age_ms - (random.randrange(jitter_ms + 1) if jitter_ms else 0)

    def is_due(self, segment: Segment, next_offset: int, header: BatchHeader) -> bool:
        """Whether a batch that would land at `next_offset` belongs in the next segment."""
        config = self._config
        if segment.size_bytes + header.batch_length + 12 > config.segment_bytes:
            return True
        if next_offset + header.last_offset_delta - segment.base_offset > MAX_RELATIVE_OFFSET:
            return True
        # The time index may get as many entries as the offset index, and one more in the end.
        if (segment.entries + 2) * TIME_ENTRY_BYTES > config.segment_index_bytes:
            return True
        first = segment.first_timestamp
        if first is not None and first >= 0 and header.max_timestamp >= 0:
            return header.max_timestamp - first > self._max_age_ms
        return self.is_old(segment)

    def is_old(self, segment: Segment) -> bool:
        """Whether the segment has been open for longer than `segment.ms`."""
        first = segment.first_timestamp
        since = first if first is not None and first >= 0 else segment.created_ms
        return self._clock.now_ms() - since > self._max_age_ms
