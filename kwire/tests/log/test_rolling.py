"""When the active segment is closed."""

from dataclasses import replace

from kwire.clock import ManualClock
from kwire.codec.records.batch import BatchHeader
from kwire.config.topic import TopicConfig
from kwire.log.files import OpenFiles
from kwire.log.rolling import RollRule
from kwire.log.segment import Segment
from kwire.tests.builders import A_TIMESTAMP, a_batch_and_header

CLOCK = ManualClock(A_TIMESTAMP)
HEADER = a_batch_and_header(3, size_bytes=300)[1]


def a_segment(**known: int) -> Segment:
    segment = Segment("nowhere", 100, OpenFiles(limit=1), A_TIMESTAMP)
    segment.size_bytes, segment.first_timestamp = 500, A_TIMESTAMP
    for name, value in known.items():
        setattr(segment, name, value)
    return segment


def is_due(
    segment: Segment, config: TopicConfig, *, next_offset: int = 110, header: BatchHeader = HEADER
) -> bool:
    return RollRule(config, CLOCK).is_due(segment, next_offset, header)


def test_a_segment_is_full_before_it_outgrows_segment_bytes() -> None:
    assert not is_due(a_segment(), TopicConfig(segment_bytes=800))
    assert is_due(a_segment(), TopicConfig(segment_bytes=799))


def test_a_segment_is_full_when_an_offset_would_not_fit_into_its_index() -> None:
    last = 100 + 2**31 - 1
    assert not is_due(a_segment(), TopicConfig(), next_offset=last - 2)
    assert is_due(a_segment(), TopicConfig(), next_offset=last - 1)


def test_a_segment_is_full_when_its_time_index_would_be() -> None:
    assert not is_due(a_segment(entries=8), TopicConfig(segment_index_bytes=120))
    assert is_due(a_segment(entries=9), TopicConfig(segment_index_bytes=120))


def test_a_segment_is_old_by_the_times_of_its_records() -> None:
    config = TopicConfig(segment_ms=1000)
    assert not is_due(a_segment(), config, header=HEADER._replace(max_timestamp=A_TIMESTAMP + 1000))
    assert is_due(a_segment(), config, header=HEADER._replace(max_timestamp=A_TIMESTAMP + 1001))


def test_a_segment_of_a_compacted_topic_is_closed_before_it_must_have_been_compacted() -> None:
    late = HEADER._replace(max_timestamp=A_TIMESTAMP + 1001)
    config = TopicConfig(max_compaction_lag_ms=1000)
    assert not is_due(a_segment(), config, header=late)
    compacted = replace(config, cleanup_policy=frozenset({"compact"}))
    assert is_due(a_segment(), compacted, header=late)
    assert not is_due(a_segment(), compacted, header=late._replace(max_timestamp=A_TIMESTAMP + 999))


def test_without_times_a_segment_is_old_by_the_clock() -> None:
    clock = ManualClock(A_TIMESTAMP + 1000)
    rule = RollRule(TopicConfig(segment_ms=1000), clock)
    segment = a_segment(first_timestamp=-1)
    before = rule.is_due(segment, 110, HEADER._replace(max_timestamp=-1))
    clock.advance(1)
    assert (before, rule.is_due(segment, 110, HEADER._replace(max_timestamp=-1))) == (False, True)


def test_jitter_makes_segments_younger_by_up_to_as_much() -> None:
    config = TopicConfig(segment_ms=1000, segment_jitter_ms=300)
    late, early = (HEADER._replace(max_timestamp=A_TIMESTAMP + age) for age in (1001, 699))
    rules = [RollRule(config, CLOCK) for _ in range(100)]
    middle = HEADER._replace(max_timestamp=A_TIMESTAMP + 850)
    assert all(rule.is_due(a_segment(), 110, late) for rule in rules)
    assert not any(rule.is_due(a_segment(), 110, early) for rule in rules)
    assert len({rule.is_due(a_segment(), 110, middle) for rule in rules}) == 2
