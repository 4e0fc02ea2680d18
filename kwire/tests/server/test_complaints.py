"""Log lines about peers: one for each offence, never a flood, and never in their own words."""

import logging

import pytest

from kwire.clock import ManualClock
from kwire.server.complaints import LINES_PER_SECOND, Complaints

_log = logging.getLogger("kwire.tests.complaints")


def test_a_flood_is_cut_off_and_counted(caplog: pytest.LogCaptureFixture) -> None:
    clock = ManualClock()
    complaints = Complaints(_log, clock)
    for number in range(LINES_PER_SECOND + 5):
        complaints.say(f"offence {number}")
    assert len(caplog.messages) == LINES_PER_SECOND
    clock.advance(1000)
    complaints.say("another second")
    assert caplog.messages[-2:] == ["more of the same left_out=5", "another second"]


def test_a_peer_cannot_write_lines_of_its_own(caplog: pytest.LogCaptureFixture) -> None:
    Complaints(_log, ManualClock()).say("client\nERROR all is lost\x1b[2J" + "x" * 1000)
    assert "\n" not in caplog.messages[0]
    assert "\x1b" not in caplog.messages[0]
    assert len(caplog.messages[0]) < 600
