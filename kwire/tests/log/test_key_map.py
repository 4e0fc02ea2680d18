"""The newest offset of each key, in bounded memory."""

from kwire.log.key_map import ENTRY_BYTES, KeyMap


def test_the_newest_offset_of_a_key_is_told() -> None:
    keys = KeyMap(limit_bytes=10 * ENTRY_BYTES)
    keys.put(b"a", 1)
    keys.put(b"b", 2)
    keys.put(b"a", 3)
    assert [keys.last_offset_of(key) for key in (b"a", b"b", b"c")] == [3, 2, -1]
    assert len(keys) == 2


def test_long_keys_are_told_apart_and_from_what_stands_for_them() -> None:
    keys = KeyMap(limit_bytes=10 * ENTRY_BYTES)
    long = [b"x" * 1000 + bytes([number]) for number in range(3)]
    for offset, key in enumerate(long):
        keys.put(key, offset)
    assert [keys.last_offset_of(key) for key in long] == [0, 1, 2]
    assert keys.last_offset_of(b"x" * 1000) == -1


def test_the_map_is_full_when_its_memory_is_used_up() -> None:
    keys = KeyMap(limit_bytes=2 * ENTRY_BYTES)
    keys.put(b"a", 1)
    before = keys.is_full
    keys.put(b"b", 2)
    assert (before, keys.is_full) == (False, True)
    assert not KeyMap(limit_bytes=0).is_full
