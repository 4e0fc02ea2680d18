"""Where the leader is now: what Produce and Fetch add to NOT_LEADER_OR_FOLLOWER (KIP-951).

A client that asked the wrong broker can go straight to the right one, without a Metadata request.
"""

from kwire.codec.schema import int32, message, string


@message
class LeaderIdAndEpoch:
    leader_id: int = int32(default=-1)
    leader_epoch: int = int32(default=-1)


@message
class NodeEndpoint:
    node_id: int = int32()
    host: str = string()
    port: int = int32()
    rack: str | None = string(nullable=True, default=None)
