"""Turn declarations into readers and writers, one pair for each message and version.

A codec is Python source made for exactly one class, version and flexibility, and executed on first
use. Neighbouring fields of fixed size become one `struct` call; lengths of one byte are handled in
line; records stay views. `read_source.py` and `write_source.py` make the two halves.
"""

import struct
from collections.abc import Callable
from typing import Any

from kwire.codec.primitives import Buffer, MalformedMessage
from kwire.codec.read_source import ReadSource
from kwire.codec.write_source import WriteSource

Decoder = Callable[[memoryview, int], tuple[Any, int]]
Encoder = Callable[[Any], list[Buffer]]

MEMORY_RATIO = 4
"""How many bytes of objects a byte of a request may become, beyond `FREE_MEMORY_BYTES`."""
FREE_MEMORY_BYTES = 1024 * 1024


def decoder(
    cls: type[Any], version: int, flexible: bool, memory_ratio: int = MEMORY_RATIO
) -> Decoder:
    """Give the function that reads `cls` of this version at a position of a frame."""
    read = ReadSource(version, flexible).compile(cls)

    def decode(buffer: memoryview, position: int) -> tuple[Any, int]:
        size = len(buffer)
        try:
            return read(buffer, position, size, [FREE_MEMORY_BYTES + memory_ratio * size])
        except (IndexError, struct.error):
            raise MalformedMessage("the message ends too early") from None
        except UnicodeDecodeError:
            raise MalformedMessage("a string is not UTF-8") from None

    return decode


def encoder(cls: type[Any], version: int, flexible: bool) -> Encoder:
    """Give the function that writes `cls` of this version as a list of buffers."""
    write = WriteSource(version, flexible).compile(cls)

    def encode(message: Any) -> list[Buffer]:
        done: list[Buffer] = []
        parts: list[bytes] = []
        write(message, parts.append, parts, done)
        if parts:
            done.append(b"".join(parts))
        return done

    return encode
