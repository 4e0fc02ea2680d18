"""Codecs are made on demand, once, and share nothing but their declarations."""

import pytest

from kwire.codec.compile import decoder, encoder
from kwire.codec.primitives import MalformedMessage
from kwire.codec.schema import int32, message, string


@message
class Greeting:
    words: str = string()
    times: int = int32(since=1)


def test_a_codec_is_made_once_for_each_version() -> None:
    assert decoder(Greeting, 0, False) is decoder(Greeting, 0, False)
    assert decoder(Greeting, 0, False) is not decoder(Greeting, 1, False)
    assert decoder(Greeting, 1, False) is not decoder(Greeting, 1, True)
    assert encoder(Greeting, 1, True) is encoder(Greeting, 1, True)
    assert encoder(Greeting, 1, True) is not encoder(Greeting, 1, False)


def test_each_version_has_its_own_bytes() -> None:
    hello = Greeting(words="hi", times=3)
    assert b"".join(encoder(Greeting, 0, False)(hello)).hex() == "0002" + b"hi".hex()
    assert b"".join(encoder(Greeting, 1, False)(hello)).hex() == "0002" + b"hi".hex() + "00000003"
    assert b"".join(encoder(Greeting, 1, True)(hello)).hex() == "03" + b"hi".hex() + "0000000300"


def test_reading_starts_where_it_is_told_to_and_leaves_what_follows() -> None:
    frame = memoryview(b"head" + b"\x00\x02hi" + b"tail")
    assert decoder(Greeting, 0, False)(frame, 4) == (Greeting(words="hi"), 8)


def test_a_message_may_not_be_finished_from_bytes_behind_its_frame() -> None:
    frame = memoryview(b"\x00\x02hi")[:3]
    with pytest.raises(MalformedMessage, match="Greeting v0 ends too early"):
        decoder(Greeting, 0, False)(frame, 0)


def test_a_traceback_names_the_message_and_its_version() -> None:
    code = decoder(Greeting, 1, True).__code__
    assert code.co_filename == "<decode Greeting v1>"
