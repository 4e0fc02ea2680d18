"""Every scenario: kwire answers what Apache Kafka was recorded to answer, and Kafka still does."""

from types import ModuleType

import pytest

from compat_tests.oracle.processes import BrokerProcess
from compat_tests.scenarios.intended import INTENDED
from compat_tests.scenarios.play import Play
from compat_tests.scenarios.recordings import differences, load
from compat_tests.scenarios.table import MODULES, Scenario, scenarios_of, stem_of

ROWS = [
    pytest.param(stem_of(module), name, id=f"{stem_of(module)}: {name}")
    for module in MODULES
    for name in scenarios_of(module)
]
SCENARIOS = {stem_of(module): scenarios_of(module) for module in MODULES}


@pytest.mark.parametrize(("stem", "name"), ROWS)
def test_kwire_answers_as_kafka_did(stem: str, name: str, kwire_stage: BrokerProcess) -> None:
    found = _compare(stem, name, SCENARIOS[stem][name], kwire_stage.bootstrap)
    why = INTENDED.get((stem, name))
    if why is None:
        assert not found, _report(found)
    else:
        assert found, f"kwire answers as Kafka now, so it is not true any more that {why}"


def test_every_intended_difference_is_one_of_a_scenario() -> None:
    assert all(name in SCENARIOS[stem] for stem, name in INTENDED)


@pytest.mark.jvm
@pytest.mark.parametrize("module", MODULES, ids=stem_of)
def test_kafka_answers_as_it_did(module: ModuleType, kafka_stage: BrokerProcess) -> None:
    stem = stem_of(module)
    assert set(load(stem)) == set(SCENARIOS[stem]), "record anew: the scenarios changed"
    found = {
        f"{name}: {one}": None
        for name, scenario in SCENARIOS[stem].items()
        for one in _compare(stem, name, scenario, kafka_stage.bootstrap)
    }
    assert not found, _report(list(found))


def _compare(stem: str, name: str, scenario: Scenario, address: str) -> list[str]:
    play = Play(address)
    expected = load(stem)[name]
    try:
        scenario(play)
    except Exception:
        # An answer that differs may leave the rest of a scenario without what it needs.
        if not list(differences(expected[: len(play.steps)], play.steps)):
            raise
    finally:
        play.close()
    return list(differences(expected, play.steps))


def _report(found: list[str]) -> str:
    return "\n" + "\n".join(found)
