"""What a declared message class can do before anything of it is read or written."""

from typing import Any

import pytest

from kwire.codec.schema import (
    Field,
    array,
    bytes_,
    default_struct,
    default_value,
    fields_of,
    int16,
    int32,
    message,
    string,
    struct,
    uuid,
)


@message
class Place:
    """Where something is."""

    partition: int = int32(default=-1)
    name: str = string()


@message
class Thing:
    number: int = int32()
    note: str | None = string(since=2, nullable=True, default=None)
    data: bytes = bytes_()
    id: bytes = uuid(since=1, until=3)
    places: list[Place] = array(struct(Place))
    others: list[int] | None = array(int32(), nullable_since=2, default=None)
    at: Place = struct(Place, since=1, tag=0)
    maybe: Place | None = struct(Place, nullable=True, default=None)


@message
class Nothing:
    """A message without fields."""


def _field(name: str) -> Field:
    return next(field for field in fields_of(Thing) if field.name == name)


def test_every_field_has_a_default() -> None:
    thing = Thing()
    assert (thing.number, thing.note, thing.data, thing.id) == (0, None, b"", bytes(16))
    assert (thing.places, thing.others, thing.maybe) == ([], None, None)
    assert thing.at == Place(partition=-1, name="")


def test_fields_are_given_by_keyword_and_kept() -> None:
    thing = Thing(number=7, places=[Place(partition=1)], maybe=Place(name="x"), others=[1, 2])
    assert (thing.number, thing.places[0].partition, thing.others) == (7, 1, [1, 2])
    assert thing.maybe is not None
    assert thing.maybe.name == "x"


def test_a_word_that_is_no_field_is_refused() -> None:
    surprising: Any = Thing
    with pytest.raises(TypeError, match="surprise"):
        surprising(surprise=1)
    with pytest.raises(TypeError):
        surprising(1)
    with pytest.raises(AttributeError):
        surprising().surprise = 1


def test_lists_are_not_shared_between_messages() -> None:
    one, two = Thing(), Thing()
    one.places.append(Place())
    assert two.places == []


def test_a_struct_that_was_not_given_is_shared_and_cannot_be_changed() -> None:
    one, two = Thing(), Thing()
    assert one.at is two.at is default_struct(Place)
    with pytest.raises(AttributeError, match="make one to set 'partition'"):
        one.at.partition = 3
    one.at = Place(partition=3)
    assert two.at.partition == -1


def test_the_shared_struct_is_equal_to_one_of_its_own() -> None:
    assert default_struct(Place) == Place()
    assert Place() == default_struct(Place)
    assert isinstance(default_struct(Place), Place)


def test_messages_are_equal_if_their_fields_are() -> None:
    assert Thing(number=1) == Thing(number=1)
    assert Thing(number=1) != Thing(number=2)
    for other in (Place(), 0, None):
        thing: Any = Thing()
        assert thing != other
    assert Nothing() == Nothing()


def test_messages_change_and_so_have_no_hash() -> None:
    with pytest.raises(TypeError, match="unhashable"):
        hash(Thing())


def test_only_what_differs_from_the_defaults_is_shown() -> None:
    assert repr(Thing()) == "Thing()"
    assert repr(Thing(number=3, maybe=Place())) == "Thing(number=3, maybe=Place())"


def test_a_message_has_slots_and_keeps_its_docstring() -> None:
    assert not hasattr(Thing(), "__dict__")
    assert Place.__doc__ == "Where something is."
    assert Place.__module__ == __name__


def test_fields_are_in_the_order_of_their_declaration() -> None:
    assert [field.name for field in fields_of(Place)] == ["partition", "name"]
    assert fields_of(Nothing) == ()


@pytest.mark.parametrize(
    ("name", "versions"),
    [("number", [0, 1, 2, 3, 4]), ("note", [2, 3, 4]), ("id", [1, 2, 3])],
)
def test_a_field_exists_from_since_to_until(name: str, versions: list[int]) -> None:
    assert [version for version in range(5) if _field(name).exists_in(version)] == versions


def test_a_field_is_nullable_from_the_version_it_says() -> None:
    assert not _field("number").is_nullable_in(9)
    assert _field("note").is_nullable_in(0)
    assert [_field("others").is_nullable_in(version) for version in (1, 2, 3)] == [0, 1, 1]


def test_a_field_may_become_tagged_after_it_was_an_ordinary_one() -> None:
    later: Any = int16(since=1, tag=4, tagged_since=3)
    assert [later.is_tagged_in(version) for version in (1, 2, 3)] == [False, False, True]
    assert [_field("at").is_tagged_in(version) for version in (0, 1)] == [False, True]
    assert not _field("number").is_tagged_in(9)


def test_the_default_of_an_array_is_a_new_list_each_time() -> None:
    first = default_value(_field("places"))
    assert first == []
    assert default_value(_field("places")) is not first
    assert default_value(_field("others")) is None
    assert default_value(_field("at")) is default_struct(Place)
