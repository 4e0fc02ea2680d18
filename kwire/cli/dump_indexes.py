"""What lies beside the segments: indexes, producer snapshots, checkpoints and small properties.

The formats are told in `kwire/log`, each beside the code that writes it.
"""

import struct
from contextlib import ExitStack
from pathlib import Path

from kwire.cli.dump_items import Damage, Entry, Found
from kwire.cli.dump_segment import header_at
from kwire.codec.records.crc import crc32c

_OFFSET_ENTRY = struct.Struct(">ii")
_TIME_ENTRY = struct.Struct(">qi")
_TRANSACTION_ENTRY = struct.Struct(">hqqqq")

# Kafka takes room for the indexes of an active segment in advance. No batch is indexed at position
# 0, so zeros are always such room.
_UNUSED = (0, 0)

_SNAPSHOT_HEAD = struct.Struct(">hIi")
_CRC_START = 2
_CRC_END = 6
_PRODUCER = struct.Struct(">qhiqiqiq")


def dump_offset_index(path: Path) -> Found:
    """Entries, each compared with the batch it points to if the segment is there."""
    base_offset, data = int(path.name.partition(".")[0]), path.read_bytes()
    last = (-1, -1)
    with ExitStack() as stack:
        log = path.with_name(path.name.replace(".index", ".log"))
        segment = stack.enter_context(log.open("rb")) if log.exists() else None
        for number, entry in enumerate(_OFFSET_ENTRY.iter_unpack(_whole(data, _OFFSET_ENTRY))):
            if entry == _UNUSED:
                return
            offset, position = base_offset + entry[0], entry[1]
            at = number * _OFFSET_ENTRY.size
            yield Entry("index", {"offset": offset, "position": position})
            if not (last[0] < entry[0] and last[1] < position):
                yield Damage(at, offset, "entries do not rise")
            last = entry
            if segment is not None:
                header = header_at(segment, position)
                if header is None or not base_offset <= header.base_offset <= offset:
                    yield Damage(at, offset, f"no batch with that offset begins at {position}")
    yield from _torn(data, _OFFSET_ENTRY)


def dump_time_index(path: Path) -> Found:
    base_offset, data = int(path.name.partition(".")[0]), path.read_bytes()
    last = (-1, -1)
    for number, entry in enumerate(_TIME_ENTRY.iter_unpack(_whole(data, _TIME_ENTRY))):
        if entry == _UNUSED:
            return
        offset = base_offset + entry[1]
        yield Entry("timeindex", {"timestamp": entry[0], "offset": offset})
        if not (last[0] < entry[0] and last[1] <= entry[1]):
            yield Damage(number * _TIME_ENTRY.size, offset, "entries do not rise")
        last = entry
    yield from _torn(data, _TIME_ENTRY)


def dump_transaction_index(path: Path) -> Found:
    data = path.read_bytes()
    entries = _TRANSACTION_ENTRY.iter_unpack(_whole(data, _TRANSACTION_ENTRY))
    for number, (version, producer_id, first, last, stable) in enumerate(entries):
        fields = {
            "version": version,
            "producerId": producer_id,
            "firstOffset": first,
            "lastOffset": last,
            "lastStableOffset": stable,
        }
        yield Entry("txnindex", dict(fields))
        if version != 0 or first > last:
            yield Damage(number * _TRANSACTION_ENTRY.size, first, "this is no aborted transaction")
    yield from _torn(data, _TRANSACTION_ENTRY)


def dump_snapshot(path: Path) -> Found:
    data = path.read_bytes()
    if len(data) < _SNAPSHOT_HEAD.size:
        yield Damage(0, None, "the snapshot ends within its header")
        return
    version, crc, count = _SNAPSHOT_HEAD.unpack_from(data)
    entries = data[_SNAPSHOT_HEAD.size :]
    if version != 1:
        yield Damage(0, None, f"a snapshot of version {version}")
    elif crc32c(data[_CRC_END:]) != crc:
        yield Damage(_CRC_START, None, "the checksum of the snapshot does not hold")
    elif len(entries) != count * _PRODUCER.size:
        yield Damage(_CRC_END, None, f"{count} producers do not take {len(entries)} bytes")
    else:
        for entry in _PRODUCER.iter_unpack(entries):
            yield _producer(*entry)


def _producer(
    producer_id: int,
    epoch: int,
    last_sequence: int,
    last_offset: int,
    offset_delta: int,
    timestamp: int,
    coordinator_epoch: int,
    open_since: int,
) -> Entry:
    is_written = last_sequence >= 0
    first_sequence = (last_sequence - offset_delta) % 2**31 if is_written else -1
    return Entry(
        "snapshot",
        {
            "producerId": producer_id,
            "producerEpoch": epoch,
            "coordinatorEpoch": coordinator_epoch,
            "currentTxnFirstOffset": None if open_since < 0 else open_since,
            "lastTimestamp": timestamp,
            "firstSequence": first_sequence,
            "lastSequence": last_sequence,
            "lastOffset": last_offset,
            "offsetDelta": offset_delta,
        },
    )


def dump_epochs(path: Path) -> Found:
    yield from _checkpoint(path, ("epoch", "startOffset"))


def dump_offsets(path: Path) -> Found:
    yield from _checkpoint(path, ("topic", "partition", "offset"))


def dump_properties(path: Path) -> Found:
    """`name: value` or `name=value`, a line each; lines that begin with # are comments."""
    separator = ":" if path.name == "partition.metadata" else "="
    position = 0
    for line in path.read_bytes().splitlines(keepends=True):
        text = line.decode(errors="backslashreplace").strip()
        name, found, value = text.partition(separator)
        if text and not text.startswith("#"):
            if found:
                yield Entry("property", {name.strip(): value.strip()})
            else:
                yield Damage(position, None, f"{text!r} has no value")
        position += len(line)


def _checkpoint(path: Path, names: tuple[str, ...]) -> Found:
    lines = path.read_bytes().decode(errors="backslashreplace").splitlines()
    if not lines:
        return  # Kafka makes the file before it has anything to write.
    if len(lines) < 2 or lines[0] != "0" or not lines[1].isdecimal():
        yield Damage(0, None, "a checkpoint begins with its version, 0, and a number of entries")
        return
    position = len(lines[0]) + len(lines[1]) + 2
    for line in lines[2:]:
        words = line.split(" ")
        if len(words) == len(names):
            yield Entry("checkpoint", dict(zip(names, map(_number, words), strict=True)))
        else:
            yield Damage(position, None, f"{line!r} is no entry")
        position += len(line) + 1
    if len(lines) - 2 != int(lines[1]):
        yield Damage(0, None, f"{lines[1]} entries are announced, {len(lines) - 2} are here")


def _number(word: str) -> str | int:
    return int(word) if word.lstrip("-").isdecimal() else word


def _whole(data: bytes, entry: struct.Struct) -> bytes:
    return data[: len(data) - len(data) % entry.size]


def _torn(data: bytes, entry: struct.Struct) -> Found:
    rest = len(data) % entry.size
    if rest:
        yield Damage(len(data) - rest, None, f"{rest} bytes are less than an entry")
