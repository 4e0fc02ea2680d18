"""Reading single values."""

import pytest

from kwire.config.keys import Key, boolean, double_in, int_in, key, keys_of, settings, split_list
from kwire.errors import InvalidConfig


@settings
class Sample:
    """Two keys."""

    a_b: int = key("a.b", int_in(0), default=3, doc="A  number\n of things.")
    on: bool = key("on", boolean(), default=False, doc="A switch.")


def test_a_declaration_is_a_typed_attribute_and_a_key() -> None:
    assert (Sample().a_b, Sample(on=True).on) == (3, True)
    assert list(keys_of(Sample)) == ["a.b", "on"]
    assert keys_of(Sample)["a.b"].doc == "A number of things."


def test_settings_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        Sample().a_b = 4  # type: ignore[misc]  # that it is refused is what is tested


@pytest.mark.parametrize(("text", "value"), [(" 7 ", 7), ("+7", 7), ("-0", 0), ("007", 7)])
def test_whole_numbers_are_read_as_java_reads_them(text: str, value: int) -> None:
    assert Key("n", int_in(), 0, "").parse(text) == value


@pytest.mark.parametrize("text", ["", "-", "7.0", "0x10", "1_0", "٣", "9" * 5000])
def test_what_java_does_not_read_is_refused(text: str) -> None:
    with pytest.raises(InvalidConfig, match="Not a number of type INT"):
        Key("n", int_in(), 0, "").parse(text)


def test_a_number_out_of_bounds_is_shown_as_read() -> None:
    with pytest.raises(InvalidConfig) as refused:
        Key("n", int_in(0, 5), 0, "").parse("007")
    assert refused.value.message == (
        "Invalid value 7 for configuration n: Value must be no more than 5"
    )


def test_doubles() -> None:
    parser = double_in()
    assert parser.read("1e3") == 1000.0
    assert parser.show(1e22) == "1E22"
    with pytest.raises(ValueError, match="DOUBLE"):
        parser.read("1_0")


def test_lists_lose_the_space_around_their_items() -> None:
    assert split_list(" a , b,, ") == ["a", "b", "", ""]
    assert split_list("  ") == []
