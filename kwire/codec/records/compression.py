"""The four codecs of record batches, each with a bound on what it may unpack.

Whoever wrote the bytes is not trusted: `decompress` never makes much more than `limit` bytes, stops
as soon as it would have to, and takes no length that the data claims for itself at its word. What
does not unpack is an `InvalidRecord`: its checksum held, so sending it again would not help.

The `lz4` package is used for lz4 because it stops in the middle of a frame; `cramjam` for zstd and
snappy because it fills a buffer of ours and no more. All of them are imported on first use.
"""

import struct
from collections.abc import Iterator
from enum import IntEnum

from kwire.codec.records.crc import Buffer
from kwire.errors import InvalidRecord, UnsupportedCompressionType


class Codec(IntEnum):
    """The numbers that bits 0-2 of a batch's attributes hold."""

    NONE = 0
    GZIP = 1
    SNAPPY = 2
    LZ4 = 3
    ZSTD = 4


DEFAULT_ZSTD_LEVEL = 3
DEFAULT_LZ4_LEVEL = 9

# snappy-java's stream: this head, then blocks with their compressed length in front.
_XERIAL_MAGIC = b"\x82SNAPPY\x00"
_XERIAL_HEAD = _XERIAL_MAGIC + struct.pack(">ii", 1, 1)
_XERIAL_BLOCK_BYTES = 32 * 1024

_GZIP_STEP_BYTES = 128 * 1024
_GZIP_MAX_MEMBERS = 1024
_FIRST_GUESS_BYTES = 64 * 1024

_read_length = struct.Struct(">i").unpack_from


def codec_of(number: int) -> Codec:
    """The codec of that number, which may come from outside."""
    try:
        return Codec(number)
    except ValueError:
        raise UnsupportedCompressionType(f"there is no compression type {number}") from None


def compress(codec: int, data: Buffer, level: int | None = None) -> bytes:
    """Pack a block as Kafka's own clients would; a level of None is Kafka's default."""
    match codec_of(codec):
        case Codec.GZIP:
            return _compress_gzip(data, level)
        case Codec.SNAPPY:
            return _compress_snappy(data)
        case Codec.LZ4:
            return _compress_lz4(data, level)
        case Codec.ZSTD:
            return _compress_zstd(data, level)
    return bytes(data)


def decompress(codec: int, data: Buffer, *, limit: int) -> bytes:
    """Unpack a block of at most `limit` bytes; `InvalidRecord` if it is larger or broken."""
    match codec_of(codec):
        case Codec.GZIP:
            return _decompress_gzip(memoryview(data), limit)
        case Codec.SNAPPY:
            return _decompress_snappy(memoryview(data), limit)
        case Codec.LZ4:
            return _decompress_lz4(memoryview(data), limit)
        case Codec.ZSTD:
            return _decompress_zstd(memoryview(data), limit)
    if len(data) > limit:
        raise _too_large(limit)
    return bytes(data)


def _too_large(limit: int) -> InvalidRecord:
    return InvalidRecord(f"a batch unpacks to more than {limit} bytes")


def _broken(codec: str, why: object) -> InvalidRecord:
    return InvalidRecord(f"a batch does not unpack as {codec}: {why}")


def _compress_gzip(data: Buffer, level: int | None) -> bytes:
    import zlib

    packer = zlib.compressobj(-1 if level is None else level, zlib.DEFLATED, 31)
    return packer.compress(data) + packer.flush()


def _decompress_gzip(data: memoryview, limit: int) -> bytes:
    """Gzip members one after the other, read in steps.

    The steps are small and the members few because zlib copies what lies behind a member's end.
    """
    import zlib

    parts: list[bytes] = []
    position, room = 0, limit
    for _ in range(_GZIP_MAX_MEMBERS):
        unpacker = zlib.decompressobj(31)
        while not unpacker.eof:
            step = data[position : position + _GZIP_STEP_BYTES]
            try:
                part = unpacker.decompress(step, room + 1)
            except zlib.error as error:
                raise _broken("gzip", error) from None
            room -= len(part)
            if room < 0:
                raise _too_large(limit)
            if not step and not part:
                raise _broken("gzip", "it is cut short")
            parts.append(part)
            position += len(step) - len(unpacker.unused_data) - len(unpacker.unconsumed_tail)
        if position == len(data):
            return b"".join(parts)
    raise _broken("gzip", f"it has more than {_GZIP_MAX_MEMBERS} members")


def _compress_snappy(data: Buffer) -> bytes:
    from cramjam import snappy

    view = memoryview(data)
    parts = [_XERIAL_HEAD]
    for start in range(0, len(view), _XERIAL_BLOCK_BYTES):
        block = bytes(snappy.compress_raw(view[start : start + _XERIAL_BLOCK_BYTES]))
        parts += (struct.pack(">i", len(block)), block)
    return b"".join(parts)


def _decompress_snappy(data: memoryview, limit: int) -> bytes:
    """One raw block, as librdkafka writes it, or snappy-java's stream of blocks.

    Each block claims a size; the claims are summed before anything is unpacked or allocated.
    """
    from cramjam import DecompressionError, snappy

    try:
        total = 0
        for block in _snappy_blocks(data):
            total += snappy.decompress_raw_len(block)
            if total > limit:
                raise _too_large(limit)
        unpacked = bytearray(total)
        view = memoryview(unpacked)
        for block in _snappy_blocks(data):
            size = snappy.decompress_raw_len(block)
            snappy.decompress_raw_into(block, view[:size])
            view = view[size:]
    except DecompressionError as error:
        raise _broken("snappy", error) from None
    return bytes(unpacked)


def _snappy_blocks(data: memoryview) -> Iterator[memoryview]:
    if data[:8] != _XERIAL_MAGIC:
        yield data
        return
    position, end = 0, len(data)
    while position < end:
        if data[position : position + 8] == _XERIAL_MAGIC:
            position += len(_XERIAL_HEAD)  # Streams may be joined: another head is no block.
            if position > end:
                raise _broken("snappy", "its head is cut short")
            continue
        length = _read_length(data, position)[0] if position + 4 <= end else -1
        position += 4
        if not 0 < length <= end - position:
            raise _broken("snappy", f"a block claims {length} bytes of {end - position}")
        yield data[position : position + length]
        position += length


def _compress_lz4(data: Buffer, level: int | None) -> bytes:
    """A frame as Java reads it: blocks must not refer to each other.

    Kafka's default, level 9, stands for lz4's fast compressor and the others for its thorough one.
    """
    import lz4.frame

    packed: bytes = lz4.frame.compress(
        data,
        compression_level=0 if level is None or level == DEFAULT_LZ4_LEVEL else level,
        block_size=lz4.frame.BLOCKSIZE_MAX64KB,
        block_linked=False,
        store_size=False,
    )
    return packed


def _decompress_lz4(data: memoryview, limit: int) -> bytes:
    import lz4.frame

    context = lz4.frame.create_decompression_context()
    parts: list[bytes] = []
    position, room, ended = 0, limit, False
    while not ended:
        # A call allocates as much as it may return, so it is not asked for all the room at once.
        wanted = min(room + 1, max(_FIRST_GUESS_BYTES, 4 * len(data)))
        try:
            part, taken, ended = lz4.frame.decompress_chunk(
                context, data[position:], max_length=wanted
            )
        except RuntimeError as error:
            raise _broken("lz4", error) from None
        room -= len(part)
        position += taken
        if room < 0:
            raise _too_large(limit)
        if not (part or taken or ended):
            raise _broken("lz4", "it is cut short")
        parts.append(part)
    if position != len(data):
        raise _broken("lz4", "bytes follow its end")
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _compress_zstd(data: Buffer, level: int | None) -> bytes:
    from cramjam import zstd

    return bytes(zstd.compress(data, level=DEFAULT_ZSTD_LEVEL if level is None else level))


def _decompress_zstd(data: memoryview, limit: int) -> bytes:
    """Frames unpacked into a buffer that grows from a guess to the limit.

    zstd itself refuses a window above 128 MB, which is also what Kafka's readers take; of a window
    only what was written to costs memory.
    """
    from cramjam import DecompressionError, zstd

    size = min(limit, max(_FIRST_GUESS_BYTES, 4 * len(data)))
    while True:
        unpacked = bytearray(size)
        try:
            taken = zstd.decompress_into(data, unpacked)
        except DecompressionError as error:
            if "whole buffer" not in str(error):
                raise _broken("zstd", error) from None
        else:
            return bytes(memoryview(unpacked)[:taken])
        if size == limit:
            raise _too_large(limit)
        size = min(limit, 4 * size)
