"""The comparison itself: it must find what differs, or no scenario could ever fail."""

from pathlib import Path

import pytest

from compat_tests.scenarios import recordings
from compat_tests.scenarios.play import Step
from compat_tests.scenarios.recordings import Difference, differences

ASKED = "1. Heartbeat v4"


def _compare(kafka: object, here: object) -> list[Difference]:
    return list(differences([Step(ASKED, kafka)], [Step(ASKED, here)]))


def test_equal_answers_do_not_differ() -> None:
    assert not _compare(
        {"error_code": "NONE", "members": [1]}, {"error_code": "NONE", "members": [1]}
    )


def test_a_difference_names_its_step_and_its_field() -> None:
    kafka = {"groups": [{"error_code": "NONE"}, {"error_code": "NONE"}]}
    here = {"groups": [{"error_code": "NONE"}, {"error_code": "NOT_COORDINATOR"}]}
    (found,) = _compare(kafka, here)
    assert str(found) == (
        '1. Heartbeat v4.groups[1].error_code: Kafka "NONE", here "NOT_COORDINATOR"'
    )


@pytest.mark.parametrize(
    ("kafka", "here"),
    [
        ({"members": [1, 2]}, {"members": [1]}),
        ({"epoch": 1}, {}),
        ({}, {"epoch": 1}),
        ("silence", {"error_code": "NONE"}),
        ({"leader": ""}, {"leader": None}),
        ({"stable": False}, {"stable": None}),
    ],
)
def test_what_is_missing_differs(kafka: object, here: object) -> None:
    assert len(_compare(kafka, here)) == 1


def test_steps_that_were_not_taken_differ() -> None:
    step = Step(ASKED, {"error_code": "NONE"})
    assert list(differences([step, step], [step]))
    assert list(differences([step], [step, step]))


def test_a_recording_is_read_as_it_was_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recordings, "GOLDEN", tmp_path)
    recording = {
        "one story": [Step(ASKED, {"assignment": "\x00\xff"}), Step("2. SyncGroup v5", "silence")],
        "another": [Step(ASKED, None)],
    }
    recordings.save("groups.some", recording)
    assert recordings.load("groups.some") == recording
    assert (tmp_path / "groups.some.json").read_text().count(ASKED) == 2
