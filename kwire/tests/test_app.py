"""One broker as a whole, without clients: what a directory becomes when a broker starts on it."""

from pathlib import Path

from kwire.app import App
from kwire.config.layered import load
from kwire.controller.commands import NewTopic
from kwire.types import new_uuid, uuid_text


def an_app(directory: Path) -> App:
    return App(load(file={"log.dirs": str(directory), "listeners": "PLAINTEXT://localhost:0"}))


def test_topics_that_kafka_left_are_adopted_and_their_leader_epochs_go_on(tmp_path: Path) -> None:
    topic_id = new_uuid()
    for index, epoch in ((0, 3), (1, 5)):
        partition = tmp_path / f"t-{index}"
        partition.mkdir()
        (partition / "00000000000000000000.log").touch()
        (partition / "leader-epoch-checkpoint").write_text(f"0\n1\n{epoch} 0\n")
        (partition / "partition.metadata").write_text(
            f"version: 0\ntopic_id: {uuid_text(topic_id)}"
        )
    app = an_app(tmp_path)
    app.start()
    topic = app.controller.image.topics["t"]
    app.close()
    assert topic.topic_id == topic_id
    assert [state.leader_epoch for state in topic.partitions.values()] == [6, 6]


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
