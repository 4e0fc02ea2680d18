"""Keys must land where Kafka's own producer puts them."""

import pytest

from kwire.peers.partitioner import murmur2, partition_for


# The values that Kafka's own tests of its hash expect, as signed numbers.
@pytest.mark.parametrize(
    ("key", "expected"),
    [
        (b"21", -973932308),
        (b"foobar", -790332482),
        (b"a-little-bit-long-string", -985981536),
        (b"a-little-bit-longer-string", -1486304829),
        (b"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58897971),
        (b"abc", 479470107),
    ],
)
def test_the_hash_is_kafkas(key: bytes, expected: int) -> None:
    assert murmur2(key) == expected & 0xFFFFFFFF


def test_a_negative_hash_still_gives_a_partition() -> None:
    assert partition_for(b"21", 7) == (-973932308 & 0x7FFFFFFF) % 7


def test_every_key_has_a_place_among_few_partitions() -> None:
    places = {partition_for(b"key-%d" % number, 3) for number in range(100)}
    assert places == {0, 1, 2}
