"""One broker as a whole, without clients: what a directory becomes when a broker starts on it."""

from pathlib import Path

import pytest

from kwire.app import App
from kwire.config.broker import BrokerConfig
from kwire.config.layered import load
from kwire.controller.commands import ConfigChange, NewTopic, Operation, Scope, Setting
from kwire.controller.producer_ids import BLOCK_SIZE
from kwire.log.directory import ForeignDirectory
from kwire.replication.duties import Duties
from kwire.replication.fetch_sessions import NO_SESSION, Wanted
from kwire.server.listener import Listeners
from kwire.tests.builders import a_batch
from kwire.types import new_uuid, uuid_text


def an_app(directory: Path, *, node_id: int = 1, **settings: str) -> App:
    file = {
        "node.id": str(node_id),
        "log.dirs": str(directory),
        "listeners": "PLAINTEXT://localhost:0",
        **{name.replace("_", "."): value for name, value in settings.items()},
    }
    return App(load(file=file))


def _leave_partition(directory: Path, name: str, topic_id: bytes, leader_epoch: int) -> None:
    """A partition as Kafka leaves it."""
    (directory / name).mkdir(parents=True)
    (directory / name / "00000000000000000000.log").touch()
    (directory / name / "leader-epoch-checkpoint").write_text(f"0\n1\n{leader_epoch} 0\n")
    metadata = f"version: 0\ntopic_id: {uuid_text(topic_id)}"
    (directory / name / "partition.metadata").write_text(metadata)


def test_topics_that_kafka_left_are_adopted_and_their_leader_epochs_go_on(tmp_path: Path) -> None:
    topic_id = new_uuid()
    _leave_partition(tmp_path, "t-0", topic_id, leader_epoch=3)
    _leave_partition(tmp_path, "t-1", topic_id, leader_epoch=5)
    app = an_app(tmp_path)
    app.start()
    topic = app.controller.image.topics["t"]
    app.close()
    assert topic.topic_id == topic_id
    assert [state.leader_epoch for state in topic.partitions.values()] == [6, 6]


def test_ids_of_producers_that_the_logs_know_are_not_given_again(tmp_path: Path) -> None:
    _leave_partition(tmp_path, "t-0", new_uuid(), leader_epoch=0)
    batch = a_batch(1, producer_id=4321, producer_epoch=0, base_sequence=0)
    (tmp_path / "t-0" / "00000000000000000000.log").write_bytes(batch)
    app = an_app(tmp_path)
    app.start()
    given = app.node.producer_ids.next()
    app.close()
    assert given.value == 4321 + BLOCK_SIZE + 1


@pytest.mark.parametrize("name", ["__consumer_offsets", "__transaction_state"])
def test_internal_topics_that_kafka_left_stay_compacted(tmp_path: Path, name: str) -> None:
    _leave_partition(tmp_path, f"{name}-0", new_uuid(), leader_epoch=0)
    app = an_app(tmp_path)
    app.start()
    config = app.hosted.find(name, 0).log.config
    app.close()
    assert config.cleanup_policy == {"compact"}


def test_a_first_start_that_fails_does_not_cost_the_topics(tmp_path: Path) -> None:
    _leave_partition(tmp_path, "t-0", new_uuid(), leader_epoch=0)
    (tmp_path / "meta.properties").write_text("version=0\nbroker.id=7\ncluster.id=kafkas\n")
    app = an_app(tmp_path)
    with pytest.raises(ForeignDirectory, match=r"broker.id=7"):
        app.start()
    app.close()
    app = an_app(tmp_path, node_id=7)
    app.start()
    assert list(app.controller.image.topics) == ["t"]
    assert app.controller.image.cluster_id == "kafkas"
    app.close()


def test_what_a_deletion_left_behind_is_not_served_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    app = an_app(tmp_path)
    app.start()
    app.close()
    _leave_partition(tmp_path, "gone-0", new_uuid(), leader_epoch=0)
    app = an_app(tmp_path)
    app.start()
    assert app.controller.image.topics == {}
    app.close()
    assert "left alone: gone" in caplog.text
    assert (tmp_path / "gone-0").exists()


def test_leader_epochs_stay_after_a_clean_stop_and_rise_after_any_other(tmp_path: Path) -> None:
    epochs = []
    for is_clean in (True, False, True):
        app = an_app(tmp_path)
        app.start([NewTopic("t")])
        epochs.append(app.controller.image.topics["t"].partitions[0].leader_epoch)
        app.close()
        if not is_clean:
            (tmp_path / ".kafka_cleanshutdown").unlink()
    assert epochs == [0, 0, 1]


def test_settings_that_a_client_changes_are_in_force_at_once_and_after_a_restart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[tuple[str, int]] = []
    for room in (Duties, Listeners):

        def reconfigure(room: object, config: BrokerConfig) -> None:
            told.append((type(room).__name__, config.max_connections))

        monkeypatch.setattr(room, "reconfigure", reconfigure)
    app = an_app(tmp_path)
    app.start()
    setting = Setting(Operation.SET, "max.connections", "77")
    app.controller.alter_configs([ConfigChange(Scope.BROKER, "1", [setting])])
    assert told == [("Duties", 77), ("Listeners", 77)]
    app.close()
    app = an_app(tmp_path)
    app.start()
    app.close()
    assert told == 2 * [("Duties", 77), ("Listeners", 77)]


def test_as_many_fetch_sessions_are_remembered_as_the_settings_say(tmp_path: Path) -> None:
    app = an_app(tmp_path, max_incremental_fetch_session_cache_slots="1")
    sessions = app.node.fetch_sessions
    wanted = [Wanted("t", b"", 0, 0, 100)]
    plans = [sessions.plan(0, 0, wanted, (), uses_topic_ids=False) for _ in range(2)]
    app.close()
    assert [plan.session_id == NO_SESSION for plan in plans] == [False, True]


def test_clients_are_told_the_advertised_address(tmp_path: Path) -> None:
    app = an_app(tmp_path, advertised_listeners="PLAINTEXT://example.org:1234")
    app.start()
    (me,) = app.controller.image.brokers.values()
    app.close()
    assert [(one.host, one.port) for one in me.endpoints] == [("example.org", 1234)]
