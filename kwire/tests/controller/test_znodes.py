"""The JSON of the tree, as ZooKeeper-era Kafka wrote it, and the image that is read from it."""

import json
from typing import Any

from kwire.config.endpoints import Endpoint
from kwire.controller import znodes
from kwire.controller.image import (
    EVERY_BROKER,
    NO_LEADER,
    BrokerImage,
    PartitionState,
    TopicImage,
)
from kwire.controller.store import Stat, StoredNode
from kwire.types import uuid_from_text

AN_ID = "abcdefghijklmnopqrstuQ"
PROTOCOLS = {"IN": "SSL", "OUT": "PLAINTEXT"}


def a_node(content: str, *, version: int = 0, czxid: int = 1) -> StoredNode:
    return StoredNode(content.encode(), Stat(version, czxid, czxid))


def test_a_broker_is_registered_as_version_5() -> None:
    endpoints = (Endpoint("IN", "::1", 1), Endpoint("OUT", "host", 2))
    data = znodes.encode_broker(BrokerImage(7, 0, endpoints, "rack-a"), PROTOCOLS, 1234)
    assert json.loads(data) == {
        "version": 5,
        "host": "host",
        "port": 2,
        "jmx_port": -1,
        "timestamp": "1234",
        "endpoints": ["IN://[::1]:1", "OUT://host:2"],
        "listener_security_protocol_map": {"IN": "SSL", "OUT": "PLAINTEXT"},
        "rack": "rack-a",
        "features": {},
    }


def test_a_broker_without_a_rack_or_an_open_listener_says_so() -> None:
    data = znodes.encode_broker(BrokerImage(7, 0, (Endpoint("IN", "h", 1),)), PROTOCOLS, 0)
    content = json.loads(data)
    assert (content["host"], content["port"]) == (None, -1)
    assert "rack" not in content


def test_a_topic_is_written_as_version_3() -> None:
    states = {
        index: PartitionState((1, 2), isr=(2,), leader=2, leader_epoch=5) for index in range(2)
    }
    topic = TopicImage("t", uuid_from_text(AN_ID), states)
    assert json.loads(znodes.encode_topic(topic)) == {
        "version": 3,
        "topic_id": AN_ID,
        "partitions": {"0": [1, 2], "1": [1, 2]},
        "adding_replicas": {},
        "removing_replicas": {},
    }
    assert json.loads(znodes.encode_state(states[0], controller_epoch=9)) == {
        "controller_epoch": 9,
        "leader": 2,
        "version": 1,
        "leader_epoch": 5,
        "isr": [2],
    }


def test_small_nodes_are_written_as_kafka_wrote_them() -> None:
    def read(data: bytes) -> Any:
        return json.loads(data)

    assert read(znodes.encode_controller(3, 55)) == {
        "version": 2,
        "brokerid": 3,
        "timestamp": "55",
        "kraftControllerEpoch": -1,
    }
    assert read(znodes.encode_config({"a": "b"})) == {"version": 1, "config": {"a": "b"}}
    block = znodes.encode_producer_id_block(3, 1000, 1999)
    assert read(block) == {
        "version": 1,
        "broker": 3,
        "block_start": "1000",
        "block_end": "1999",
    }
    assert znodes.last_of_producer_id_block(block) == 1999


def test_an_empty_cluster_has_its_id_and_epoch_0() -> None:
    made = {op.path: op.data for op in znodes.empty_cluster(AN_ID)}
    assert json.loads(made["/cluster/id"]) == {"version": "1", "id": AN_ID}
    assert json.loads(made["/feature"]) == {"version": 2, "status": 1, "features": {}}
    assert made["/controller_epoch"] == b"0"
    paths = list(made)
    for path in paths:
        parent = path.rpartition("/")[0]
        assert not parent or paths.index(parent) < paths.index(path)


def test_a_tree_of_kafkas_is_read() -> None:
    """Nodes as a ZooKeeper-era Kafka leaves them, in no particular order."""
    state = '{"controller_epoch":4,"leader":2,"version":1,"leader_epoch":3,"isr":[2]}'
    nodes = {
        "/": a_node(""),
        "/brokers/topics/t/partitions/1/state": a_node(state, version=6),
        "/brokers/topics/t/partitions": a_node("null"),
        "/brokers/topics/t": a_node(
            '{"removing_replicas":{},"partitions":{"10":[2],"1":[2,1],"0":[1]},'
            f'"topic_id":"{AN_ID}","adding_replicas":{{}},"version":3}}'
        ),
        "/config/topics/t": a_node('{"version":1,"config":{"retention.ms":"5"}}'),
        "/config/brokers/<default>": a_node('{"version":1,"config":{"a":"1"}}'),
        "/config/brokers/2": a_node('{"version":1,"config":{}}'),
        "/brokers/ids/2": a_node(
            '{"features":{},"listener_security_protocol_map":{"PLAINTEXT":"PLAINTEXT"},'
            '"endpoints":["PLAINTEXT://b:9092"],"jmx_port":-1,"port":9092,"host":"b","version":5,'
            '"timestamp":"1","rack":"r"}',
            czxid=77,
        ),
        "/cluster/id": a_node('{"version":"1","id":"the-cluster"}'),
        "/controller": a_node('{"version":2,"brokerid":2,"timestamp":"1"}'),
    }
    image = znodes.read_cluster(nodes)
    assert image.cluster_id == "the-cluster"
    assert image.controller_id == 2
    endpoints = (Endpoint("PLAINTEXT", "b", 9092),)
    assert image.brokers == {2: BrokerImage(2, 77, endpoints, "r")}
    assert image.broker_configs == {EVERY_BROKER: {"a": "1"}, "2": {}}
    topic = image.topics["t"]
    assert topic.config == {"retention.ms": "5"}
    assert list(topic.partitions) == [0, 1, 10]
    assert topic.partitions[1] == PartitionState((2, 1), (2,), 2, leader_epoch=3, partition_epoch=6)
    assert topic.partitions[10].leader == NO_LEADER
    assert image.topic_by_id(uuid_from_text(AN_ID)) is topic


def test_states_that_differ_in_anything_are_told_apart() -> None:
    def state(leader_epoch: int) -> str:
        return json.dumps({"leader": 1, "leader_epoch": leader_epoch, "isr": [1], "version": 1})

    replicas = {"0": [1], "1": [1], "2": [1], "3": [1, 2]}
    topic = {"version": 3, "topic_id": AN_ID, "partitions": replicas}
    nodes = {
        "/cluster/id": a_node('{"version":"1","id":"c"}'),
        "/brokers/topics/t": a_node(json.dumps(topic)),
        "/brokers/topics/t/partitions/0/state": a_node(state(0)),
        "/brokers/topics/t/partitions/1/state": a_node(state(1)),
        "/brokers/topics/t/partitions/2/state": a_node(state(1), version=2),
        "/brokers/topics/t/partitions/3/state": a_node(state(1), version=2),
    }
    partitions = znodes.read_cluster(nodes).topics["t"].partitions
    assert [
        (state.replicas, state.leader_epoch, state.partition_epoch) for state in partitions.values()
    ] == [((1,), 0, 0), ((1,), 1, 0), ((1,), 1, 2), ((1, 2), 1, 2)]
