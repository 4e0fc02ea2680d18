"""Every message in every version, byte for byte against two oracles, in both directions."""

import pytest
from hypothesis import given, settings

from kwire.codec.apis import BY_KEY, Api
from kwire.tests.codec.oracles.corners import corners
from kwire.tests.codec.oracles.kafka_json import KafkaPython
from kwire.tests.codec.oracles.kio_entities import Kio
from kwire.tests.codec.oracles.plain import Oracle, Plain, from_plain, to_plain

KIO = Kio()
ORACLES: dict[str, Oracle] = {"kio": KIO, "kafka-python": KafkaPython()}
EXAMPLES = 6
SIDES = ("request", "response")

# The versions we speak and an oracle does not know, as (oracle, stem, version): all the rest is
# judged by both. A newer version of ours would be listed here, and nowhere else.
UNKNOWN_TO: frozenset[tuple[str, str, int]] = frozenset(
    {
        ("kafka-python", "consumer_group_heartbeat", 0),
        ("kafka-python", "consumer_group_heartbeat", 1),
        ("kafka-python", "consumer_group_describe", 0),
        ("kafka-python", "consumer_group_describe", 1),
    }
)

# Advertised, but never read (KAFKA-18659).
UNREADABLE = {("produce", 0), ("produce", 1), ("produce", 2)}

SPOKEN = [
    (api, version)
    for api in BY_KEY.values()
    for version in range(api.first_readable, api.versions[1] + 1)
]


def _judges(api: Api, version: int) -> list[Oracle]:
    return [ORACLES[name] for name in ORACLES if (name, api.stem, version) not in UNKNOWN_TO]


@pytest.mark.parametrize(
    ("api", "version"),
    [pytest.param(api, version, id=f"{api.stem}-v{version}") for api, version in SPOKEN],
)
@pytest.mark.parametrize("side", SIDES)
def test_bytes_and_values_are_those_of_the_oracles(api: Api, side: str, version: int) -> None:
    # Made anew for each case: a function that is given many cases grows slower with each of them.
    @settings(max_examples=EXAMPLES, derandomize=True, database=None, deadline=None)
    @given(KIO.values(api, side, version))
    def agree(plain: Plain) -> None:
        for oracle in _judges(api, version):
            _expect_agreement(oracle, api, side, version, plain)

    agree()


@pytest.mark.parametrize("api", [pytest.param(api, id=api.stem) for api in BY_KEY.values()])
@pytest.mark.parametrize("side", SIDES)
def test_every_null_and_every_tagged_field_is_that_of_the_oracles(api: Api, side: str) -> None:
    for version in range(api.first_readable, api.versions[1] + 1):
        for plain in corners(getattr(api, side), version):
            for oracle in _judges(api, version):
                _expect_agreement(oracle, api, side, version, plain)


def _expect_agreement(oracle: Oracle, api: Api, side: str, version: int, plain: Plain) -> None:
    ours = from_plain(getattr(api, side), plain)
    encode = getattr(api, f"encode_{side}")(version)
    decode = getattr(api, f"decode_{side}")(version)

    written = b"".join(encode(ours))
    assert written == oracle.encode(api, side, version, plain)
    assert oracle.decode(api, side, version, written) == plain

    read, end = decode(memoryview(written), 0)
    assert end == len(written)
    assert to_plain(read, version) == plain
    assert read == ours, "a field that this version lacks was not left at its default"


def test_each_oracle_knows_every_version_but_those_listed() -> None:
    unknown = {
        (name, api.stem, version)
        for name, oracle in ORACLES.items()
        for api, version in SPOKEN
        if version not in oracle.versions(api)
    }
    assert unknown == UNKNOWN_TO


def test_no_version_is_unknown_to_both_oracles() -> None:
    for api, version in SPOKEN:
        assert any((name, api.stem, version) not in UNKNOWN_TO for name in ORACLES)


def test_every_advertised_version_is_read_but_those_listed() -> None:
    unread = {
        (api.stem, version)
        for api in BY_KEY.values()
        for version in range(api.versions[0], api.versions[1] + 1)
        if not api.reads(version)
    }
    assert unread == UNREADABLE
