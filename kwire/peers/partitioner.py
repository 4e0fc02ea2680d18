"""Which partition a key belongs to: the choice of Kafka's own producer, so that keys meet.

The hash is 32-bit Murmur2 with Kafka's seed; a record without a key goes where the caller likes.
"""

_SEED = 0x9747B28C
_FACTOR = 0x5BD1E995
_MASK = 0xFFFFFFFF


def partition_for(key: bytes, count: int) -> int:
    """The partition of `key` in a topic of `count` partitions."""
    return (murmur2(key) & 0x7FFFFFFF) % count


def murmur2(data: bytes) -> int:
    """The hash as an unsigned number."""
    length = len(data)
    whole = length & ~3
    mixed = _SEED ^ length
    for position in range(0, whole, 4):
        word = int.from_bytes(data[position : position + 4], "little") * _FACTOR & _MASK
        word = (word ^ word >> 24) * _FACTOR & _MASK
        mixed = (mixed * _FACTOR & _MASK) ^ word
    if length > whole:
        mixed = (mixed ^ int.from_bytes(data[whole:], "little")) * _FACTOR & _MASK
    mixed = (mixed ^ mixed >> 13) * _FACTOR & _MASK
    return mixed ^ mixed >> 15
