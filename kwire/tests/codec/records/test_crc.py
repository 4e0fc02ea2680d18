"""The checksum is CRC-32C, and loading it is cheap."""

import subprocess
import sys

import crc32c as package
from hypothesis import given
from hypothesis import strategies as st

from kwire.codec.records.crc import crc32c


def test_the_check_value_of_the_standard_comes_out() -> None:
    assert crc32c(b"123456789") == 0xE3069283


@given(st.binary(max_size=300))
def test_every_kind_of_buffer_gives_what_the_package_gives(data: bytes) -> None:
    expected = package.crc32c(data)
    assert crc32c(data) == expected
    assert crc32c(bytearray(data)) == expected
    assert crc32c(memoryview(b"x" + data)[1:]) == expected


def test_loading_it_does_not_read_any_package_metadata() -> None:
    program = "import sys, kwire.codec.records.batch; print('importlib.metadata' in sys.modules)"
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert told.stdout.strip() == b"False"
