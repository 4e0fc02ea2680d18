"""CRC-32C, the checksum of record batches and of producer snapshots.

The arithmetic is the `crc32c` package's, which uses the processor's own instruction. Importing
that package the usual way costs 25 ms, because it reads its version from its metadata; so its
extension module is loaded directly, and the usual import is only what we fall back to.
"""

from collections.abc import Callable
from importlib.machinery import PathFinder
from types import ModuleType
from typing import TypeAlias

Buffer: TypeAlias = bytes | bytearray | memoryview


def _load_extension() -> ModuleType | None:
    package = PathFinder.find_spec("crc32c")
    if package is None or package.submodule_search_locations is None:
        return None
    spec = PathFinder.find_spec("crc32c._crc32c", package.submodule_search_locations)
    if spec is None or spec.loader is None:
        return None
    module = spec.loader.create_module(spec)
    if module is not None:
        spec.loader.exec_module(module)
    return module


def _find_function() -> Callable[[Buffer], int]:
    try:
        found: Callable[[Buffer], int] | None = getattr(_load_extension(), "crc32c", None)
    except ImportError:
        found = None
    if found is None:
        import crc32c as package

        found = package.crc32c
    return found


crc32c: Callable[[Buffer], int] = _find_function()
"""The checksum of the bytes given, as an unsigned 32-bit number."""
