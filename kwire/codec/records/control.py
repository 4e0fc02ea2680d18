"""Control records: the markers that end a transaction.

Key: version i16 = 0, type i16 (0 abort, 1 commit). Value: version i16 = 0, coordinator epoch i32.
"""

import struct
from typing import NamedTuple

from kwire.codec.records.batch import BatchHeader
from kwire.codec.records.crc import Buffer
from kwire.codec.records.record import each_record
from kwire.errors import InvalidRecord

ABORT = 0
COMMIT = 1

_KEY = struct.Struct(">hh")
_VALUE = struct.Struct(">hi")


class Marker(NamedTuple):
    is_abort: bool
    coordinator_epoch: int


def marker_key(*, is_abort: bool) -> bytes:
    return _KEY.pack(0, ABORT if is_abort else COMMIT)


def marker_value(coordinator_epoch: int) -> bytes:
    return _VALUE.pack(0, coordinator_epoch)


def read_marker(batch: Buffer, header: BatchHeader) -> Marker:
    """The marker in a control batch."""
    for record in each_record(batch, header):
        if record.key is None or len(record.key) < 4 or len(record.value or b"") < 6:
            break
        assert record.value is not None
        _, kind = _KEY.unpack_from(record.key)
        _, epoch = _VALUE.unpack_from(record.value)
        if kind not in (ABORT, COMMIT):
            raise InvalidRecord(f"a control record of type {kind} ends no transaction")
        return Marker(kind == ABORT, epoch)
    raise InvalidRecord("a control batch without a marker")
