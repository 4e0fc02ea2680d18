"""Leaders elected again: which epochs rise, and that nobody's write is overwritten."""

import json

from kwire.config.layered import load
from kwire.controller.draft import Draft
from kwire.controller.elections import elect_again
from kwire.controller.image import ClusterImage, ImageChange, PartitionState, TopicImage
from kwire.controller.store import Put

MINE = PartitionState((1, 2), isr=(1,), leader=1, leader_epoch=4, partition_epoch=7)
THEIRS = PartitionState((1, 2), isr=(2,), leader=2, leader_epoch=4, partition_epoch=7)


def _draft(*topics: TopicImage) -> Draft:
    image = ClusterImage("c")
    image.apply(ImageChange(topics=topics))
    return Draft(image, load(), controller_epoch=3)


def test_only_what_the_broker_leads_is_elected_again() -> None:
    draft = _draft(
        TopicImage("a", b"1" * 16, {0: MINE, 1: THEIRS}, {"retention.ms": "1"}),
        TopicImage("b", b"2" * 16, {0: THEIRS}),
    )
    elect_again(draft, 1)
    (changed,) = draft.change().topics
    raised = PartitionState((1, 2), isr=(1,), leader=1, leader_epoch=5, partition_epoch=8)
    assert changed == TopicImage("a", b"1" * 16, {0: raised, 1: THEIRS}, {"retention.ms": "1"})


def test_a_state_is_written_only_over_the_one_that_was_read() -> None:
    draft = _draft(TopicImage("a", b"1" * 16, {0: MINE}))
    elect_again(draft, 1)
    (op,) = draft.ops
    assert isinstance(op, Put)
    assert op.path == "/brokers/topics/a/partitions/0/state"
    assert op.version == 7
    content = json.loads(op.data)
    assert (content["leader_epoch"], content["controller_epoch"]) == (5, 3)
