"""Where things are in the metadata tree, and their JSON: the layout of ZooKeeper-era Kafka.

Tools that read the tree of such a Kafka (zkCli, exporters, backups) read ours.

    /cluster/id                             {"version":"1","id":22 characters}
    /brokers/ids/N                          ephemeral, version 5; its czxid is the broker epoch
    /brokers/topics/T                       version 3: topic id, replicas of each partition
    /brokers/topics/T/partitions/P/state    version 1: leader, leader epoch, in-sync replicas; the
                                            znode's own version is the partition epoch
    /controller                             ephemeral, version 2: who is controller
    /controller_epoch                       a number; its znode's version fences former controllers
    /config/topics/T, /config/brokers/N     version 1; `<default>` stands for all brokers
    /latest_producer_id_block               version 1: the block of ids that was given out last
    /feature                                version 2: finalized features, none yet
    /kwire/adopted                          ours: the topics found on disk were taken over
"""

import json
from collections.abc import Mapping
from typing import Any

from kwire.config.endpoints import endpoints
from kwire.controller.image import (
    EVERY_BROKER,
    NO_LEADER,
    BrokerImage,
    ClusterImage,
    ImageChange,
    PartitionState,
    TopicImage,
)
from kwire.controller.store import Create, StoredNode
from kwire.types import uuid_from_text, uuid_text

CLUSTER_ID = "/cluster/id"
BROKERS = "/brokers/ids"
TOPICS = "/brokers/topics"
CONTROLLER = "/controller"
CONTROLLER_EPOCH = "/controller_epoch"
TOPIC_CONFIGS = "/config/topics"
BROKER_CONFIGS = "/config/brokers"
PRODUCER_ID_BLOCK = "/latest_producer_id_block"
FEATURE = "/feature"
ADOPTED = "/kwire/adopted"

_BELOW_TOPICS = f"{TOPICS}/"
_DEFAULT_ENTITY = "<default>"
_PARENTS = (
    "/cluster",
    "/brokers",
    BROKERS,
    TOPICS,
    "/brokers/seqid",
    "/config",
    TOPIC_CONFIGS,
    BROKER_CONFIGS,
    "/config/clients",
    "/config/users",
    "/config/ips",
    "/config/changes",
    "/admin",
    "/admin/delete_topics",
    "/isr_change_notification",
    "/log_dir_event_notification",
    "/kwire",
)


def empty_cluster(cluster_id: str) -> list[Create]:
    """What the tree holds before the first broker comes."""
    return [
        *(Create(path) for path in _PARENTS),
        Create(CLUSTER_ID, _dump({"version": "1", "id": cluster_id})),
        Create(FEATURE, _dump({"version": 2, "status": 1, "features": {}})),
        Create(CONTROLLER_EPOCH, b"0"),
    ]


def broker_path(node_id: int) -> str:
    return f"{BROKERS}/{node_id}"


def topic_path(name: str) -> str:
    return f"{TOPICS}/{name}"


def partitions_path(name: str) -> str:
    return f"{TOPICS}/{name}/partitions"


def partition_path(name: str, index: int) -> str:
    return f"{TOPICS}/{name}/partitions/{index}"


def state_path(name: str, index: int) -> str:
    return f"{TOPICS}/{name}/partitions/{index}/state"


def topic_config_path(name: str) -> str:
    return f"{TOPIC_CONFIGS}/{name}"


def broker_config_path(name: str) -> str:
    return f"{BROKER_CONFIGS}/{_DEFAULT_ENTITY if name == EVERY_BROKER else name}"


def encode_broker(broker: BrokerImage, protocols: Mapping[str, str], now_ms: int) -> bytes:
    # Host and port are those of the first listener that needs no encryption, for oldest readers.
    host, port = None, -1
    for endpoint in broker.endpoints:
        if protocols[endpoint.name] == "PLAINTEXT":
            host, port = endpoint.host, endpoint.port
            break
    content: dict[str, object] = {
        "version": 5,
        "host": host,
        "port": port,
        "jmx_port": -1,
        "timestamp": str(now_ms),
        "endpoints": [str(endpoint) for endpoint in broker.endpoints],
        "listener_security_protocol_map": {
            endpoint.name: protocols[endpoint.name] for endpoint in broker.endpoints
        },
        "features": {},
    }
    if broker.rack is not None:
        content["rack"] = broker.rack
    return _dump(content)


def encode_topic(topic: TopicImage) -> bytes:
    replicas = {str(index): state.replicas for index, state in topic.partitions.items()}
    return _dump(
        {
            "version": 3,
            "topic_id": uuid_text(topic.topic_id),
            "partitions": replicas,
            "adding_replicas": {},
            "removing_replicas": {},
        }
    )


def encode_state(state: PartitionState, controller_epoch: int) -> bytes:
    return _dump(
        {
            "controller_epoch": controller_epoch,
            "leader": state.leader,
            "version": 1,
            "leader_epoch": state.leader_epoch,
            "isr": state.isr,
        }
    )


def encode_controller(node_id: int, now_ms: int) -> bytes:
    return _dump(
        {
            "version": 2,
            "brokerid": node_id,
            "timestamp": str(now_ms),
            "kraftControllerEpoch": -1,
        }
    )


def encode_config(config: Mapping[str, str]) -> bytes:
    return _dump({"version": 1, "config": dict(config)})


def encode_producer_id_block(node_id: int, first: int, last: int) -> bytes:
    return _dump(
        {"version": 1, "broker": node_id, "block_start": str(first), "block_end": str(last)}
    )


def last_of_producer_id_block(data: bytes) -> int:
    return int(json.loads(data)["block_end"])


def read_cluster(nodes: Mapping[str, StoredNode]) -> ClusterImage:
    """The image of everything in the tree."""
    image = ClusterImage(json.loads(nodes[CLUSTER_ID].data)["id"])
    controller = nodes.get(CONTROLLER)
    if controller is not None:
        image.controller_id = json.loads(controller.data)["brokerid"]
    topics = []
    states = _States(nodes)
    for path, node in nodes.items():
        if path.startswith(_BELOW_TOPICS):
            name = path[len(_BELOW_TOPICS) :]
            if "/" not in name:
                topics.append(_read_topic(name, node, states, nodes))
        elif path.startswith(f"{BROKERS}/"):
            broker = _read_broker(int(path.removeprefix(f"{BROKERS}/")), node)
            image.brokers[broker.node_id] = broker
        elif path.startswith(f"{BROKER_CONFIGS}/"):
            name = path.removeprefix(f"{BROKER_CONFIGS}/")
            image.broker_configs[EVERY_BROKER if name == _DEFAULT_ENTITY else name] = _read_config(
                node
            )
    image.apply(ImageChange(topics=tuple(topics)))
    return image


def _read_broker(node_id: int, node: StoredNode) -> BrokerImage:
    content = json.loads(node.data)
    where = endpoints().read(",".join(content["endpoints"]))
    return BrokerImage(node_id, node.stat.czxid, where, content.get("rack"))


def _read_topic(
    name: str, node: StoredNode, states: "_States", nodes: Mapping[str, StoredNode]
) -> TopicImage:
    content = json.loads(node.data)
    partitions = {
        int(index): states.read(name, index, tuple(replicas))
        for index, replicas in content["partitions"].items()
    }
    config = nodes.get(topic_config_path(name))
    return TopicImage(
        name,
        uuid_from_text(content["topic_id"]),
        dict(sorted(partitions.items())),
        {} if config is None else _read_config(config),
    )


def _read_config(node: StoredNode) -> Mapping[str, str]:
    config: Mapping[str, str] = json.loads(node.data)["config"]
    return config


class _States:
    """Partition states, read once for all that are alike: on one node nearly all are."""

    def __init__(self, nodes: Mapping[str, StoredNode]) -> None:
        self._nodes = nodes
        self._known: dict[tuple[tuple[int, ...], bytes, int], PartitionState] = {}

    def read(self, topic: str, index: str, replicas: tuple[int, ...]) -> PartitionState:
        node = self._nodes.get(f"{TOPICS}/{topic}/partitions/{index}/state")
        if node is None:
            return PartitionState(replicas, isr=(), leader=NO_LEADER)
        key = (replicas, node.data, node.stat.version)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self._decode(*key)
        return known

    def _decode(self, replicas: tuple[int, ...], data: bytes, version: int) -> PartitionState:
        content: dict[str, Any] = json.loads(data)
        return PartitionState(
            replicas, tuple(content["isr"]), content["leader"], content["leader_epoch"], version
        )


def _dump(content: Mapping[str, object]) -> bytes:
    return json.dumps(content, separators=(",", ":")).encode()
