"""Leaders of partitions, chosen again.

A leader that stopped without bringing its log to the disk may have lost records that clients have
read; new records will take their offsets. A higher leader epoch is how clients notice: they ask
where the old epoch ended and go back there (KIP-320). So whoever leads after such a stop is elected
anew, even if it is the same broker.
"""

from dataclasses import replace

from kwire.controller.draft import Draft
from kwire.controller.image import PartitionState


def elect_again(draft: Draft, leader: int) -> None:
    """Raise the leader epoch of every partition that a broker leads."""
    raised: dict[PartitionState, PartitionState] = {}
    for topic in draft.image.topics.values():
        changed = {}
        for index, state in topic.partitions.items():
            if state.leader != leader:
                continue
            if state not in raised:
                raised[state] = _elected_again(state)
            changed[index] = raised[state]
        if changed:
            draft.change_partitions(topic, changed)


def _elected_again(state: PartitionState) -> PartitionState:
    return replace(
        state, leader_epoch=state.leader_epoch + 1, partition_epoch=state.partition_epoch + 1
    )
