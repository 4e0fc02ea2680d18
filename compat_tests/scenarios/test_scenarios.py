"""Every scenario: kwire answers what Apache Kafka was recorded to answer, and Kafka still does."""

from collections.abc import Iterable
from contextlib import closing

import pytest

from compat_tests.oracle.processes import BrokerProcess
from compat_tests.scenarios.intended import INTENDED, Intended
from compat_tests.scenarios.play import Play
from compat_tests.scenarios.recordings import Difference, differences, load
from compat_tests.scenarios.table import MODULES, scenarios_of, stem_of

ROWS = [
    pytest.param(stem_of(module), name, id=f"{stem_of(module)}: {name}")
    for module in MODULES
    for name in scenarios_of(module)
]
SCENARIOS = {stem_of(module): scenarios_of(module) for module in MODULES}


@pytest.mark.parametrize(("stem", "name"), ROWS)
def test_kwire_answers_as_kafka_did(stem: str, name: str, kwire_stage: BrokerProcess) -> None:
    found = [
        one
        for one in _compare(stem, name, kwire_stage)
        if not any(intended.covers(stem, name, one) for intended in INTENDED)
    ]
    assert not found, _report(found)


@pytest.mark.parametrize("intended", INTENDED, ids=lambda intended: intended.why)
def test_what_differs_on_purpose_still_does(intended: Intended, kwire_stage: BrokerProcess) -> None:
    found = _compare(*intended.seen_in, kwire_stage)
    assert any(intended.covers(*intended.seen_in, one) for one in found), _report(found)


@pytest.mark.jvm
@pytest.mark.parametrize("stem", SCENARIOS)
def test_kafka_answers_as_it_did(stem: str, kafka_stage: BrokerProcess) -> None:
    assert set(load(stem)) == set(SCENARIOS[stem]), "record anew: the scenarios changed"
    found = [
        f"{name}: {one}" for name in SCENARIOS[stem] for one in _compare(stem, name, kafka_stage)
    ]
    assert not found, _report(found)


def _compare(stem: str, name: str, broker: BrokerProcess) -> list[Difference]:
    expected = load(stem)[name]
    with closing(Play(broker.bootstrap)) as play:
        try:
            SCENARIOS[stem][name](play)
        except Exception:
            # An answer that differs may leave the rest of a scenario without what it needs.
            if not list(differences(expected[: len(play.steps)], play.steps)):
                raise
    return list(differences(expected, play.steps))


def _report(found: Iterable[object]) -> str:
    return "\n".join(["", *map(str, found)])
