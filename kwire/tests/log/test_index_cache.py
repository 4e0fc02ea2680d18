"""A bounded memory for the entries of closed indexes."""

from array import array

from kwire.log.index_cache import IndexCache


def columns(entries: int) -> tuple["array[int]", "array[int]"]:
    return array("i", range(entries)), array("i", range(entries))


def test_the_entries_not_used_for_longest_make_way() -> None:
    cache = IndexCache(limit_bytes=100)
    cache.put("a", columns(5))
    cache.put("b", columns(5))
    assert cache.get("a") is not None
    cache.put("c", columns(5))
    assert [cache.get(key) is not None for key in "abc"] == [True, False, True]
    assert cache.size_bytes == 80


def test_one_index_is_kept_however_large() -> None:
    cache = IndexCache(limit_bytes=10)
    cache.put("a", columns(100))
    assert cache.get("a") is not None


def test_what_is_put_again_or_dropped_is_counted_once() -> None:
    cache = IndexCache(limit_bytes=100)
    cache.put("a", columns(5))
    cache.put("a", columns(3))
    assert cache.size_bytes == 24
    cache.drop("a")
    cache.drop("a")
    assert (cache.size_bytes, cache.get("a")) == (0, None)
