"""Turn declarations into readers and writers, one of each for a message and version.

A codec is written as Python source and compiled when it is first asked for (about a third of a
millisecond), then kept. What the source looks like is told in read_source.py and write_source.py.

A decoder takes a view that ends with the frame, and the position where the message begins. It
gives the message and the position after it, or raises `MalformedMessage`. Bytes after the message
are nobody's business here, as in Kafka. An encoder takes a message and gives a list of buffers:
one, and two more for each value of records that is not short.
"""

from collections.abc import Callable
from typing import Any

from kwire.codec.bounds import MEMORY_RATIO
from kwire.codec.primitives import Buffer
from kwire.codec.read_source import ReadSource
from kwire.codec.write_source import WriteSource

Decoder = Callable[[memoryview, int], tuple[Any, int]]
Encoder = Callable[[Any], list[Buffer]]


_codecs: dict[tuple[object, ...], Any] = {}


def decoder(
    cls: type[Any], version: int, flexible: bool, memory_ratio: int = MEMORY_RATIO
) -> Decoder:
    """Give the function that reads `cls` of this version at a position of a frame."""
    known = ("decode", cls, version, flexible, memory_ratio)
    if known not in _codecs:
        source = ReadSource(cls, version, flexible, memory_ratio)
        exec(compile(source.text, f"<decode {cls.__name__} v{version}>", "exec"), source.scope)
        _codecs[known] = source.scope["decode"]
    decode: Decoder = _codecs[known]
    return decode


def encoder(cls: type[Any], version: int, flexible: bool) -> Encoder:
    """Give the function that writes `cls` of this version as a list of buffers."""
    known = ("encode", cls, version, flexible)
    if known not in _codecs:
        source = WriteSource(cls, version, flexible)
        exec(compile(source.text, f"<encode {cls.__name__} v{version}>", "exec"), source.scope)
        _codecs[known] = source.scope["encode"]
    encode: Encoder = _codecs[known]
    return encode
