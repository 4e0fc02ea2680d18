"""An answer as it is recorded: the fields of its version, without what no two runs share.

What has its default is left out, save for error codes: whoever reads `{}` knows what it stands for.
Ids become numbered names in the order in which they are first seen, so that which member leads, or
which producer wrote, is still compared. Times, hosts and the words of errors are reduced to
whether there are any. Throttle times are left out. Kafka promises no order of groups, members,
topics and partitions, so those are sorted.
"""

import json
import re
from collections.abc import Iterable
from typing import Any

from kwire.codec.apis import LIST_GROUPS, LIST_TRANSACTIONS, Api
from kwire.codec.records.batch import BatchHeader, each_batch
from kwire.codec.records.control import read_marker
from kwire.codec.schema import Field, default_value, fields_of
from kwire.errors import ErrorCode
from kwire.types import ZERO_UUID

LEFT_OUT = {"throttle_time_ms"}
TIMES = {"timestamp", "last_timestamp", "transaction_start_time_ms", "log_append_time_ms"}
PLACES = {"host", "port", "node_id"}
IN_ORDER = {"aborted_transactions", "records"}
SHARED_LISTS = {LIST_GROUPS, LIST_TRANSACTIONS}
"""Their answers tell of everybody's: only what belongs to the run is kept."""

JAVA_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
KAFKA_ID = re.compile(r"[A-Za-z0-9_-]{22}")


class Masks:
    """What one run has seen so far, by the names it goes by in the recording."""

    def __init__(self, suffix: str) -> None:
        self._suffix = suffix
        self._names: dict[tuple[str, object], str] = {}

    def know_topic(self, topic_id: bytes, noun: str) -> None:
        self._names["topic id", topic_id] = f"<id of {noun}>"

    def show(self, answer: Any, api: Api, version: int) -> Any:
        shown = self._struct(answer, version)
        if api in SHARED_LISTS:
            key = "groups" if api is LIST_GROUPS else "transaction_states"
            own = [item for item in getattr(answer, key) if self._is_own(item)]
            shown[key] = self._list(key, own, version)
        return shown

    def _is_own(self, item: Any) -> bool:
        return any(
            str(getattr(item, field.name)).endswith(self._suffix) for field in fields_of(type(item))
        )

    def _struct(self, value: Any, version: int) -> dict[str, Any]:
        return {
            field.name: self._field(field.name, getattr(value, field.name), version)
            for field in fields_of(type(value))
            if field.exists_in(version) and _says_something(field, getattr(value, field.name))
        }

    def _field(self, name: str, value: Any, version: int) -> Any:
        if name == "records":
            return None if value is None else [self._batch(*one) for one in _batches(value)]
        if isinstance(value, list):
            return self._list(name, value, version)
        if hasattr(type(value), "__fields__"):
            return self._struct(value, version)
        return self._plain(name, value)

    def _list(self, name: str, values: Iterable[Any], version: int) -> list[Any]:
        shown = [self._field("", value, version) for value in values]
        return shown if name in IN_ORDER else sorted(shown, key=json.dumps)

    def _plain(self, name: str, value: Any) -> Any:
        if name.endswith("error_code"):
            return ErrorCode(value).name
        if name in TIMES and value >= 0:
            return "<time>"
        if name in PLACES and value not in ("", -1):
            return f"<{name}>"
        if name.endswith("error_message") and value is not None:
            return "<words>"
        if name == "producer_id" and value >= 0:
            return self._named("producer", value)
        if isinstance(value, bytes):
            return self._bytes(name, value)
        if isinstance(value, str):
            return self._text(name, value)
        return value

    def _bytes(self, name: str, value: bytes) -> str:
        if name != "topic_id":
            return value.decode("latin-1").replace(self._suffix, "")
        return "<none>" if value == ZERO_UUID else self._named("topic id", value)

    def _text(self, name: str, value: str) -> str:
        value = value.replace(self._suffix, "")
        if name == "member_id" and KAFKA_ID.fullmatch(value):
            return self._named("id", value)
        return JAVA_ID.sub(lambda found: self._named("id", found[0]), value)

    def _named(self, kind: str, value: object) -> str:
        return self._names.setdefault((kind, value), f"<{kind} {self._count(kind) + 1}>")

    def _count(self, kind: str) -> int:
        return sum(1 for seen, _ in self._names if seen == kind)

    def _batch(self, header: BatchHeader, marker: str | None) -> dict[str, Any]:
        producer = header.producer_id
        shown: dict[str, Any] = {
            "offsets": [header.base_offset, header.last_offset],
            "producer_id": self._named("producer", producer) if producer >= 0 else producer,
            "producer_epoch": header.producer_epoch,
            "base_sequence": header.base_sequence,
            "transactional": header.is_transactional,
        }
        return shown if marker is None else {**shown, "marker": marker}


def _says_something(field: Field, value: object) -> bool:
    if field.name in LEFT_OUT:
        return False
    return field.name.endswith("error_code") or value != default_value(field)


def _batches(value: bytes | memoryview) -> Iterable[tuple[BatchHeader, str | None]]:
    for position, header in each_batch(value):
        marker = None
        if header.is_control:
            marker = "abort" if read_marker(value[position:], header).is_abort else "commit"
        yield header, marker
