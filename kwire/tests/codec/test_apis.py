"""The table of APIs: Kafka 4.3's keys and ranges, and messages that load when they are needed."""

import subprocess
import sys
import warnings
from pathlib import Path

import pytest

import kwire.codec.messages
from kwire.codec.apis import API_VERSIONS, BY_KEY, METADATA, OFFSET_DELETE, PRODUCE, Api
from kwire.codec.compile import decoder
from kwire.codec.messages.metadata import MetadataRequest, MetadataResponse, MetadataTopic
from kwire.codec.primitives import MalformedMessage

with warnings.catch_warnings():
    # Importing kafka-python calls what newer Pythons deprecate.
    warnings.simplefilter("ignore")
    from kafka.protocol.broker_version_data import BROKER_API_VERSIONS

# What can be read and written today. An API that goes missing from the table is noticed here.
STEMS = {
    "add_offsets_to_txn",
    "add_partitions_to_txn",
    "alter_configs",
    "api_versions",
    "consumer_group_describe",
    "consumer_group_heartbeat",
    "create_partitions",
    "create_topics",
    "delete_groups",
    "delete_records",
    "delete_topics",
    "describe_cluster",
    "describe_configs",
    "describe_groups",
    "describe_log_dirs",
    "describe_producers",
    "describe_topic_partitions",
    "describe_transactions",
    "end_txn",
    "fetch",
    "find_coordinator",
    "heartbeat",
    "incremental_alter_configs",
    "init_producer_id",
    "join_group",
    "leave_group",
    "list_groups",
    "list_offsets",
    "list_transactions",
    "metadata",
    "offset_commit",
    "offset_delete",
    "offset_fetch",
    "offset_for_leader_epoch",
    "produce",
    "sync_group",
    "txn_offset_commit",
    "write_txn_markers",
}

# Message modules that hold parts of several APIs.
SHARED = {"leaders"}

APIS = [pytest.param(api, id=api.stem) for api in BY_KEY.values()]


def test_no_api_is_lost() -> None:
    assert {api.stem for api in BY_KEY.values()} >= STEMS


def test_every_message_module_is_an_api_of_the_table() -> None:
    (folder,) = kwire.codec.messages.__path__
    modules = {path.stem for path in Path(folder).glob("*.py")} - {"__init__"}
    assert modules - SHARED == {api.stem for api in BY_KEY.values()}


@pytest.mark.parametrize("api", APIS)
def test_versions_are_those_that_kafka_advertises(api: Api) -> None:
    assert api.versions == BROKER_API_VERSIONS[(4, 3)][api.key]


@pytest.mark.parametrize("api", APIS)
def test_name_and_messages_follow_from_the_stem(api: Api) -> None:
    assert api.name.lower() == api.stem.replace("_", "")
    assert api.request.__name__ == f"{api.name}Request"
    assert api.response.__name__ == f"{api.name}Response"
    assert api.request.__module__ == f"kwire.codec.messages.{api.stem}"


def test_every_api_is_found_by_its_own_key() -> None:
    assert all(BY_KEY[key].key == key for key in BY_KEY)
    assert BY_KEY[3] is METADATA


def test_produce_is_advertised_from_0_and_read_from_3() -> None:
    assert PRODUCE.versions == (0, 13)
    assert [version for version in range(-1, 15) if PRODUCE.reads(version)] == list(range(3, 14))


def test_versions_out_of_range_are_not_read() -> None:
    assert not API_VERSIONS.reads(-1)
    assert API_VERSIONS.reads(0)
    assert API_VERSIONS.reads(4)
    assert not API_VERSIONS.reads(5)


def test_an_api_may_never_become_flexible() -> None:
    assert not OFFSET_DELETE.is_flexible(0)
    assert [METADATA.is_flexible(version) for version in (8, 9)] == [False, True]


def test_messages_and_codecs_are_made_once() -> None:
    assert METADATA.request is MetadataRequest
    assert METADATA.response is MetadataResponse
    assert METADATA.decode_request(9) is METADATA.decode_request(9)
    assert METADATA.encode_response(9) is METADATA.encode_response(9)
    assert METADATA.encode_request(9) is METADATA.encode_request(9)
    assert METADATA.decode_response(9) is METADATA.decode_response(9)


def test_answers_may_unfold_further_than_requests() -> None:
    many = MetadataResponse(topics=[MetadataTopic(name="t")] * 40_000)
    frame = memoryview(b"".join(METADATA.encode_response(9)(many)))
    assert METADATA.decode_response(9)(frame, 0)[1] == len(frame)
    with pytest.raises(MalformedMessage, match="too many topics"):
        decoder(MetadataResponse, 9, True)(frame, 0)


def test_importing_the_table_loads_no_message_and_nothing_heavy() -> None:
    program = (
        "import sys, kwire.codec.apis;"
        "print([name for name in sys.modules if name.startswith('kwire.codec.messages')"
        " or name in ('dataclasses', 'inspect', 'asyncio', 'logging', 'uuid')])"
    )
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert told.stdout.strip() == b"[]"
