"""Every codec round trips, and no input makes one unpack more than it may."""

import gzip
import struct
import subprocess
import sys
import zlib
from contextlib import suppress

import cramjam
import lz4.frame
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kwire.codec.records.compression import Codec, compress, decompress
from kwire.errors import InvalidRecord, UnsupportedCompressionType

PACKING = [Codec.GZIP, Codec.SNAPPY, Codec.LZ4, Codec.ZSTD]
XERIAL_HEAD = b"\x82SNAPPY\x00" + struct.pack(">ii", 1, 1)


@pytest.mark.parametrize("codec", Codec)
@given(data=st.binary(max_size=500), times=st.sampled_from([1, 300]))
def test_what_is_packed_is_unpacked(codec: Codec, data: bytes, times: int) -> None:
    whole = data * times
    packed = compress(codec, memoryview(whole))
    assert decompress(codec, packed, limit=len(whole)) == whole
    assert decompress(codec, memoryview(bytearray(packed)), limit=10**6) == whole


@pytest.mark.parametrize("codec", PACKING)
def test_growth_far_beyond_the_first_guess_is_allowed_up_to_the_limit(codec: Codec) -> None:
    whole = bytes(3_000_000)
    assert decompress(codec, compress(codec, whole), limit=3_000_000) == whole


@pytest.mark.parametrize("codec", Codec)
def test_one_byte_above_the_limit_is_refused(codec: Codec) -> None:
    with pytest.raises(InvalidRecord, match="more than 99999 bytes"):
        decompress(codec, compress(codec, bytes(100_000)), limit=99_999)


@pytest.mark.parametrize(
    ("codec", "level"),
    [
        (Codec.GZIP, 1),
        (Codec.GZIP, 9),
        (Codec.LZ4, 1),
        (Codec.LZ4, 17),
        (Codec.ZSTD, -131072),
        (Codec.ZSTD, 22),
    ],
)
def test_the_outermost_levels_can_be_asked_for(codec: Codec, level: int) -> None:
    data = b"some words and some words again " * 50
    assert decompress(codec, compress(codec, data, level), limit=len(data)) == data


@pytest.mark.parametrize("codec", PACKING)
def test_data_cut_short_anywhere_is_refused(codec: Codec) -> None:
    packed = compress(codec, bytes(range(256)) * 200)
    for kept in {0, 1, 5, 11, 17, 19, 21, len(packed) // 2, len(packed) - 1}:
        with pytest.raises(InvalidRecord):
            decompress(codec, packed[:kept], limit=10**6)


@pytest.mark.parametrize("codec", PACKING)
@given(data=st.binary(max_size=200), kept=st.integers(0, 60))
def test_garbage_is_refused_and_nothing_worse(codec: Codec, data: bytes, kept: int) -> None:
    forged = compress(codec, b"the beginning of something sound" * 9)[:kept] + data
    with suppress(InvalidRecord):
        assert len(decompress(codec, forged, limit=5000)) <= 5000


@pytest.mark.parametrize("number", [-1, 5, 7])
def test_a_codec_that_does_not_exist_is_named_as_such(number: int) -> None:
    with pytest.raises(UnsupportedCompressionType):
        decompress(number, b"", limit=1)
    with pytest.raises(UnsupportedCompressionType):
        compress(number, b"")


def test_gzip_members_are_joined_but_not_without_end() -> None:
    member = gzip.compress(b"ab")
    assert decompress(Codec.GZIP, member * 3, limit=6) == b"ababab"
    with pytest.raises(InvalidRecord, match="members"):
        decompress(Codec.GZIP, member * 2000, limit=10**6)
    with pytest.raises(InvalidRecord):
        decompress(Codec.GZIP, member + b"garbage", limit=10**6)


def test_a_zlib_stream_is_not_gzip() -> None:
    with pytest.raises(InvalidRecord):
        decompress(Codec.GZIP, zlib.compress(b"ab"), limit=10)


def test_raw_snappy_is_read_too() -> None:
    raw = bytes(cramjam.snappy.compress_raw(b"librdkafka " * 20))
    assert decompress(Codec.SNAPPY, raw, limit=1000) == b"librdkafka " * 20


def test_snappy_streams_may_be_joined() -> None:
    packed = compress(Codec.SNAPPY, b"one") + compress(Codec.SNAPPY, b"two")
    assert decompress(Codec.SNAPPY, packed, limit=10) == b"onetwo"


@pytest.mark.parametrize("length", [-(2**31), -1, 0, 9, 2**31 - 1])
def test_a_snappy_block_cannot_be_longer_than_what_is_there(length: int) -> None:
    with pytest.raises(InvalidRecord):
        decompress(Codec.SNAPPY, XERIAL_HEAD + struct.pack(">i", length) + b"\x01\x00x", limit=100)


def test_snappy_blocks_that_claim_too_much_together_are_refused_unopened() -> None:
    claims_40 = b"\x28" + b"\x00x"
    block = struct.pack(">i", len(claims_40)) + claims_40
    with pytest.raises(InvalidRecord, match="more than 100 bytes"):
        decompress(Codec.SNAPPY, XERIAL_HEAD + block * 3, limit=100)


def test_lz4_frames_are_of_the_kind_that_java_reads() -> None:
    info = lz4.frame.get_frame_info(compress(Codec.LZ4, bytes(200_000)))
    assert not info["block_linked"]
    assert info["block_size"] == 64 * 1024
    assert info["content_size"] == 0


def test_bytes_behind_an_lz4_frame_are_refused() -> None:
    with pytest.raises(InvalidRecord):
        decompress(Codec.LZ4, compress(Codec.LZ4, b"one") * 2, limit=100)


@pytest.mark.parametrize(("window_log", "taken"), [(20, True), (27, True), (28, False)])
def test_a_zstd_window_is_bounded(window_log: int, taken: bool) -> None:
    last_raw_block = (1 | 3 << 3).to_bytes(3, "little") + b"abc"
    frame = b"\x28\xb5\x2f\xfd\x00" + bytes([(window_log - 10) << 3]) + last_raw_block
    if taken:
        assert decompress(Codec.ZSTD, frame, limit=3) == b"abc"
    else:
        with pytest.raises(InvalidRecord):
            decompress(Codec.ZSTD, frame, limit=3)


@pytest.mark.parametrize("codec", PACKING)
def test_a_bomb_costs_no_more_memory_than_the_limit_allows(codec: Codec) -> None:
    program = f"""
import gzip, resource, sys
import cramjam, lz4.frame, zlib
from kwire.codec.records.compression import compress, decompress
from kwire.errors import InvalidRecord
bomb = sys.stdin.buffer.read()
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    decompress({int(codec)}, bomb, limit=1_000_000)
except InvalidRecord:
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""
    told = subprocess.run(
        [sys.executable, "-c", program],
        input=_a_bomb(codec),
        capture_output=True,
        check=True,
    )
    assert int(told.stdout) < 12 * 1024  # kilobytes


def _a_bomb(codec: Codec) -> bytes:
    """100 MB or more of zeros, packed; raw snappy just claims 4 GB."""
    if codec == Codec.SNAPPY:
        return b"\xff\xff\xff\xff\x0f" + bytes(1000)
    return compress(codec, bytes(100_000_000))
