"""The record code of kafka-python and aiokafka: the judges that these tests ask."""

import warnings
from typing import Any

with warnings.catch_warnings():
    # Importing kafka-python calls what newer Pythons deprecate.
    warnings.simplefilter("ignore")
    from aiokafka.record.default_records import DefaultRecordBatch as AiokafkaBatch
    from aiokafka.record.default_records import DefaultRecordBatchBuilder as AiokafkaBuilder
    from aiokafka.record.legacy_records import LegacyRecordBatchBuilder as AiokafkaLegacyBuilder
    from kafka.record.default_records import DefaultRecordBatch as KafkaPythonBatch
    from kafka.record.default_records import DefaultRecordBatchBuilder as KafkaPythonBuilder
    from kafka.record.legacy_records import LegacyRecordBatchBuilder as KafkaPythonLegacyBuilder

from kwire.codec.records.record import Record

__all__ = [
    "AiokafkaBatch",
    "AiokafkaBuilder",
    "AiokafkaLegacyBuilder",
    "KafkaPythonBatch",
    "KafkaPythonBuilder",
    "KafkaPythonLegacyBuilder",
    "records_of",
]


def records_of(read: Any) -> list[Record]:
    """What another library's reader sees, in our words."""
    return [
        Record(each.offset, each.timestamp, each.key, each.value, tuple(each.headers))
        for each in read
    ]
