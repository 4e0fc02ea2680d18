"""Every row of the tables: the code or the end that is expected, and nobody else harmed."""

import pytest

from compat_tests.bad_input import administration, batches, frames, groups, transactions
from compat_tests.bad_input.rows import CLOSED, Expected, Ground, Row
from compat_tests.bad_input.talk import exchange
from compat_tests.bad_input.watch import Watch
from compat_tests.bad_input.wire import Reader

TABLE = {
    **frames.TABLE,
    **batches.TABLE,
    **administration.TABLE,
    **groups.TABLE,
    **transactions.TABLE,
}
OF_KAFKA = {name: row for name, row in TABLE.items() if row.kafka is not None}
MB = 1 << 20
UNPACKING_BYTES = 300 * MB
"""A batch may unpack to 100 MB before it is refused, and is held in pieces and as a whole."""


def _try(row: Row, ground: Ground, sent: bytes, expected: Expected) -> int:
    """Send one row, compare what came back, and return the port it came from."""
    outcome = exchange(ground.address, sent)
    if expected == CLOSED:
        assert outcome.closed, str(outcome)
    else:
        assert outcome.answer is not None, str(outcome)
        assert row.read_code is not None
        assert row.read_code(Reader(outcome.answer)) == expected, str(outcome)
    return outcome.port


@pytest.mark.parametrize("name", TABLE)
def test_kwire_withstands(name: str, kwire_ground: Ground, watch: Watch) -> None:
    row = TABLE[name]
    sent = row.bytes_for(kwire_ground)
    port = _try(row, kwire_ground, sent, row.expect)
    bomb = UNPACKING_BYTES if name.startswith("a bomb") else 0
    watch.check(port, 4 * len(sent) + 8 * MB + bomb)


@pytest.mark.jvm
@pytest.mark.parametrize("name", OF_KAFKA)
def test_kafka_answers_the_same(name: str, kafka_ground: Ground) -> None:
    row = OF_KAFKA[name]
    assert row.kafka is not None
    _try(row, kafka_ground, row.bytes_for(kafka_ground), row.kafka)
