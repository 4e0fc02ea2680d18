"""ApiVersions: what is advertised, to whom, and in which form."""

import pytest

from kwire.codec.messages.api_versions import ApiVersion, ApiVersionsRequest
from kwire.errors import ErrorCode
from kwire.handlers.api_versions import unsupported_version
from kwire.handlers.table import ROUTES
from kwire.tests.handlers.nodes import OpenNode


def _asked(name: str = "librdkafka", version: str = "2.16.0") -> ApiVersionsRequest:
    return ApiVersionsRequest(client_software_name=name, client_software_version=version)


@pytest.mark.parametrize("version", range(5))
def test_exactly_the_served_apis_are_advertised(node: OpenNode, version: int) -> None:
    answer = node.ask(_asked(), version)
    assert answer.error_code == ErrorCode.NONE
    assert {one.api_key: (one.min_version, one.max_version) for one in answer.api_keys} == {
        key: route.api.versions for key, route in ROUTES.items()
    }


def test_produce_is_advertised_from_zero_for_the_sake_of_old_clients(node: OpenNode) -> None:
    """librdkafka before 2.11.1 compresses nothing otherwise (KAFKA-18659)."""
    (produce,) = [one for one in node.ask(_asked(), 3).api_keys if one.api_key == 0]
    assert (produce.min_version, produce.max_version) == (0, 13)


@pytest.mark.parametrize(("version", "is_told_supported"), [(3, False), (4, True)])
def test_the_features_in_force_are_told(
    node: OpenNode, version: int, is_told_supported: bool
) -> None:
    """Before version 4 clients cannot read a range that starts at 0 (KAFKA-17011)."""
    answer = node.ask(_asked(), version)
    in_force = {"group.version": 1, "transaction.version": 2}
    assert answer.finalized_features_epoch == 0
    assert {one.name: one.max_version_level for one in answer.finalized_features} == in_force
    supported = {one.name: one.max_version for one in answer.supported_features}
    assert supported == (in_force if is_told_supported else {})


def test_telemetry_is_not_offered(node: OpenNode) -> None:
    assert not {71, 72} & {one.api_key for one in node.ask(_asked(), 3).api_keys}


@pytest.mark.parametrize(
    ("name", "version"),
    [("", "1"), ("-client", "1"), ("client", "1.0-"), ("cli ent", "1"), ("client", "1\n")],
)
def test_a_client_must_name_itself_properly(node: OpenNode, name: str, version: str) -> None:
    answer = node.ask(_asked(name, version), 3)
    assert (answer.error_code, answer.api_keys) == (ErrorCode.INVALID_REQUEST, [])
    assert node.ask(_asked(name, version), 2).error_code == ErrorCode.NONE


@pytest.mark.parametrize("name", ["a", "kafka-python", "apache.kafka-java", "9"])
def test_proper_names_are_taken(node: OpenNode, name: str) -> None:
    assert node.ask(_asked(name), 3).error_code == ErrorCode.NONE


def test_an_unknown_version_is_told_the_range_of_this_api_alone() -> None:
    answer = unsupported_version()
    assert answer.error_code == ErrorCode.UNSUPPORTED_VERSION
    assert answer.api_keys == [ApiVersion(api_key=18, min_version=0, max_version=4)]
