"""How coordinators write keys and values: two bytes for the version, then a message of it.

The key's version says what kind of record it is. The value's version says which layout it has; from
a certain version on values are flexible, so that newer brokers can add to them (KIP-915).
"""

import struct
from typing import Generic, TypeVar

from kwire.codec.compile import Decoder, decoder, encoder
from kwire.codec.primitives import MalformedMessage

M = TypeVar("M")

_version = struct.Struct(">h")


class Format(Generic[M]):
    """One kind of key or value: its message, the versions that exist, and which are flexible."""

    def __init__(self, message: type[M], versions: tuple[int, int], flexible: int | None) -> None:
        self.versions = versions
        self._message = message
        self._flexible = flexible
        self._decoders: dict[int, Decoder] = {}

    def write(self, message: M, version: int) -> bytes:
        encode = encoder(self._message, version, self._is_flexible(version))
        return b"".join((_version.pack(version), *encode(message)))

    def read(self, stored: bytes) -> M:
        """The message, whichever version it is of; `MalformedMessage` if it cannot be read."""
        version = version_of(stored)
        first, last = self.versions
        if not first <= version <= last:
            name = self._message.__name__
            raise MalformedMessage(f"{name} has version {version}, not {first} to {last}")
        return self.read_as(stored, version)

    def read_as(self, stored: bytes, version: int) -> M:
        """The message read as of one version, whatever version it says it has."""
        decode = self._decoders.get(version)
        if decode is None:
            decode = decoder(self._message, version, self._is_flexible(version))
            self._decoders[version] = decode
        message: M = decode(memoryview(stored), _version.size)[0]
        return message

    def _is_flexible(self, version: int) -> bool:
        return self._flexible is not None and version >= self._flexible


def version_of(stored: bytes) -> int:
    """The version that a key or value begins with."""
    if len(stored) < _version.size:
        raise MalformedMessage("a stored key or value is shorter than its version")
    version: int = _version.unpack_from(stored)[0]
    return version
