"""What can go wrong with the other side.

Cheap to import: the command line must know these before it knows whether it talks to anybody.
"""

from kwire.errors import ErrorCode


class PeerError(Exception):
    """The other side cannot be reached, went away, refused, or does not speak what we need."""


class Unreachable(PeerError):
    """Nobody answers at that address."""


class Disconnected(PeerError):
    """The connection ended in the middle of a conversation."""


class TookTooLong(PeerError):
    """The answer did not come in time; it may still come, so the connection is of no use now."""


class NotSpoken(PeerError):
    """The broker does not serve an API, or no version of it that we know."""


class Refused(PeerError):
    """The broker answered with an error code."""

    def __init__(self, code: int, message: str | None = None, *, what: str) -> None:
        self.code = code
        name = ErrorCode(code).name if code in _KNOWN_CODES else f"error {code}"
        told = (message or "").rstrip(". ")
        super().__init__(f"{what}: {told} ({name})" if told else f"{what}: {name}")


def check(code: int, message: str | None = None, *, what: str) -> None:
    """Raise `Refused` unless the code says that all is well."""
    if code != ErrorCode.NONE:
        raise Refused(code, message, what=what)


_KNOWN_CODES = frozenset(map(int, ErrorCode))
