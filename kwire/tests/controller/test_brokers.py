"""A broker joins: the cluster is made once, and each life of the broker has its own epoch."""

from pathlib import Path

import pytest

from kwire.controller.brokers import join
from kwire.controller.election import Mandate
from kwire.controller.local_store import LocalStore
from kwire.controller.store import Create, NodeExists, Stat, StoredNode
from kwire.tests.controller.clusters import DawdlingStore, a_broker, value_of

PROTOCOLS = {"PLAINTEXT": "PLAINTEXT"}


def _join(store: LocalStore | DawdlingStore, cluster_id: str = "c") -> Mandate:
    joined = join(store, a_broker(), PROTOCOLS, cluster_id=cluster_id, now_ms=5)
    if isinstance(store, DawdlingStore):
        store.answer_all()
    return value_of(joined)


def _epoch(store: LocalStore) -> int:
    stat = value_of(store.exists("/brokers/ids/1"))
    assert isinstance(stat, Stat)
    return stat.czxid


def test_the_first_broker_makes_the_cluster_and_later_lives_find_it(tmp_path: Path) -> None:
    broker_epochs = []
    for life in (1, 2, 3):
        store = LocalStore(tmp_path)
        assert _join(store, f"cluster-{life}").epoch == life
        node = value_of(store.get("/cluster/id"))
        assert isinstance(node, StoredNode)
        assert b"cluster-1" in node.data
        broker_epochs.append(_epoch(store))
        store.close()
    assert broker_epochs == sorted(set(broker_epochs))


def test_joining_waits_for_each_answer_of_a_slow_store(tmp_path: Path) -> None:
    store = LocalStore(tmp_path)
    assert _join(DawdlingStore(store)).epoch == 1
    store.close()


def test_a_broker_does_not_stand_for_controller_under_a_name_that_is_taken(tmp_path: Path) -> None:
    store = LocalStore(tmp_path)
    value_of(store.multi([Create("/brokers"), Create("/brokers/ids"), Create("/brokers/ids/1")]))
    value_of(store.multi([Create("/controller_epoch", b"0")]))
    with pytest.raises(NodeExists):
        _join(store)
    assert value_of(store.exists("/controller")) is None
    store.close()
