"""Every error a client can be told, and the exceptions that carry one.

A domain exception names its code in its class body; nothing else translates errors to codes.
"""

from enum import IntEnum
from typing import ClassVar


class ErrorCode(IntEnum):
    UNKNOWN_SERVER_ERROR = -1
    NONE = 0
    OFFSET_OUT_OF_RANGE = 1
    CORRUPT_MESSAGE = 2
    UNKNOWN_TOPIC_OR_PARTITION = 3
    INVALID_FETCH_SIZE = 4
    LEADER_NOT_AVAILABLE = 5
    NOT_LEADER_OR_FOLLOWER = 6
    REQUEST_TIMED_OUT = 7
    BROKER_NOT_AVAILABLE = 8
    REPLICA_NOT_AVAILABLE = 9
    MESSAGE_TOO_LARGE = 10
    STALE_CONTROLLER_EPOCH = 11
    OFFSET_METADATA_TOO_LARGE = 12
    NETWORK_EXCEPTION = 13
    COORDINATOR_LOAD_IN_PROGRESS = 14
    COORDINATOR_NOT_AVAILABLE = 15
    NOT_COORDINATOR = 16
    INVALID_TOPIC_EXCEPTION = 17
    RECORD_LIST_TOO_LARGE = 18
    NOT_ENOUGH_REPLICAS = 19
    NOT_ENOUGH_REPLICAS_AFTER_APPEND = 20
    INVALID_REQUIRED_ACKS = 21
    ILLEGAL_GENERATION = 22
    INCONSISTENT_GROUP_PROTOCOL = 23
    INVALID_GROUP_ID = 24
    UNKNOWN_MEMBER_ID = 25
    INVALID_SESSION_TIMEOUT = 26
    REBALANCE_IN_PROGRESS = 27
    INVALID_COMMIT_OFFSET_SIZE = 28
    TOPIC_AUTHORIZATION_FAILED = 29
    GROUP_AUTHORIZATION_FAILED = 30
    CLUSTER_AUTHORIZATION_FAILED = 31
    INVALID_TIMESTAMP = 32
    UNSUPPORTED_SASL_MECHANISM = 33
    ILLEGAL_SASL_STATE = 34
    UNSUPPORTED_VERSION = 35
    TOPIC_ALREADY_EXISTS = 36
    INVALID_PARTITIONS = 37
    INVALID_REPLICATION_FACTOR = 38
    INVALID_REPLICA_ASSIGNMENT = 39
    INVALID_CONFIG = 40
    NOT_CONTROLLER = 41
    INVALID_REQUEST = 42
    UNSUPPORTED_FOR_MESSAGE_FORMAT = 43
    POLICY_VIOLATION = 44
    OUT_OF_ORDER_SEQUENCE_NUMBER = 45
    DUPLICATE_SEQUENCE_NUMBER = 46
    INVALID_PRODUCER_EPOCH = 47
    INVALID_TXN_STATE = 48
    INVALID_PRODUCER_ID_MAPPING = 49
    INVALID_TRANSACTION_TIMEOUT = 50
    CONCURRENT_TRANSACTIONS = 51
    TRANSACTION_COORDINATOR_FENCED = 52
    TRANSACTIONAL_ID_AUTHORIZATION_FAILED = 53
    SECURITY_DISABLED = 54
    OPERATION_NOT_ATTEMPTED = 55
    KAFKA_STORAGE_ERROR = 56
    LOG_DIR_NOT_FOUND = 57
    SASL_AUTHENTICATION_FAILED = 58
    UNKNOWN_PRODUCER_ID = 59
    REASSIGNMENT_IN_PROGRESS = 60
    DELEGATION_TOKEN_AUTH_DISABLED = 61
    DELEGATION_TOKEN_NOT_FOUND = 62
    DELEGATION_TOKEN_OWNER_MISMATCH = 63
    DELEGATION_TOKEN_REQUEST_NOT_ALLOWED = 64
    DELEGATION_TOKEN_AUTHORIZATION_FAILED = 65
    DELEGATION_TOKEN_EXPIRED = 66
    INVALID_PRINCIPAL_TYPE = 67
    NON_EMPTY_GROUP = 68
    GROUP_ID_NOT_FOUND = 69
    FETCH_SESSION_ID_NOT_FOUND = 70
    INVALID_FETCH_SESSION_EPOCH = 71
    LISTENER_NOT_FOUND = 72
    TOPIC_DELETION_DISABLED = 73
    FENCED_LEADER_EPOCH = 74
    UNKNOWN_LEADER_EPOCH = 75
    UNSUPPORTED_COMPRESSION_TYPE = 76
    STALE_BROKER_EPOCH = 77
    OFFSET_NOT_AVAILABLE = 78
    MEMBER_ID_REQUIRED = 79
    PREFERRED_LEADER_NOT_AVAILABLE = 80
    GROUP_MAX_SIZE_REACHED = 81
    FENCED_INSTANCE_ID = 82
    ELIGIBLE_LEADERS_NOT_AVAILABLE = 83
    ELECTION_NOT_NEEDED = 84
    NO_REASSIGNMENT_IN_PROGRESS = 85
    GROUP_SUBSCRIBED_TO_TOPIC = 86
    INVALID_RECORD = 87
    UNSTABLE_OFFSET_COMMIT = 88
    THROTTLING_QUOTA_EXCEEDED = 89
    PRODUCER_FENCED = 90
    RESOURCE_NOT_FOUND = 91
    DUPLICATE_RESOURCE = 92
    UNACCEPTABLE_CREDENTIAL = 93
    INCONSISTENT_VOTER_SET = 94
    INVALID_UPDATE_VERSION = 95
    FEATURE_UPDATE_FAILED = 96
    PRINCIPAL_DESERIALIZATION_FAILURE = 97
    SNAPSHOT_NOT_FOUND = 98
    POSITION_OUT_OF_RANGE = 99
    UNKNOWN_TOPIC_ID = 100
    DUPLICATE_BROKER_REGISTRATION = 101
    BROKER_ID_NOT_REGISTERED = 102
    INCONSISTENT_TOPIC_ID = 103
    INCONSISTENT_CLUSTER_ID = 104
    TRANSACTIONAL_ID_NOT_FOUND = 105
    FETCH_SESSION_TOPIC_ID_ERROR = 106
    INELIGIBLE_REPLICA = 107
    NEW_LEADER_ELECTED = 108
    OFFSET_MOVED_TO_TIERED_STORAGE = 109
    FENCED_MEMBER_EPOCH = 110
    UNRELEASED_INSTANCE_ID = 111
    UNSUPPORTED_ASSIGNOR = 112
    STALE_MEMBER_EPOCH = 113
    MISMATCHED_ENDPOINT_TYPE = 114
    UNSUPPORTED_ENDPOINT_TYPE = 115
    UNKNOWN_CONTROLLER_ID = 116
    UNKNOWN_SUBSCRIPTION_ID = 117
    TELEMETRY_TOO_LARGE = 118
    INVALID_REGISTRATION = 119
    TRANSACTION_ABORTABLE = 120
    INVALID_RECORD_STATE = 121
    SHARE_SESSION_NOT_FOUND = 122
    INVALID_SHARE_SESSION_EPOCH = 123
    FENCED_STATE_EPOCH = 124
    INVALID_VOTER_KEY = 125
    DUPLICATE_VOTER = 126
    VOTER_NOT_FOUND = 127
    INVALID_REGULAR_EXPRESSION = 128
    REBOOTSTRAP_REQUIRED = 129


class KwireError(Exception):
    """A refusal: `code` goes to the client, the text too where the protocol has room for it."""

    code: ClassVar[ErrorCode] = ErrorCode.UNKNOWN_SERVER_ERROR

    @property
    def message(self) -> str:
        """What the client may read: the text given, or what the class says of itself."""
        return str(self) or (type(self).__doc__ or "").strip()


class OffsetOutOfRange(KwireError):
    """The reader asked for an offset this replica does not hold."""

    code = ErrorCode.OFFSET_OUT_OF_RANGE


class CorruptMessage(KwireError):
    """A batch whose length or checksum does not hold."""

    code = ErrorCode.CORRUPT_MESSAGE


class UnknownTopicOrPartition(KwireError):
    """This broker does not host the topic or partition."""

    code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


class NotLeaderOrFollower(KwireError):
    """The partition is known, but not led from here."""

    code = ErrorCode.NOT_LEADER_OR_FOLLOWER


class MessageTooLarge(KwireError):
    """A batch is larger than the topic takes."""

    code = ErrorCode.MESSAGE_TOO_LARGE


class CoordinatorLoadInProgress(KwireError):
    """The coordinator is still reading its part of the internal topic."""

    code = ErrorCode.COORDINATOR_LOAD_IN_PROGRESS


class CoordinatorNotAvailable(KwireError):
    """There is no coordinator yet; it may be there soon."""

    code = ErrorCode.COORDINATOR_NOT_AVAILABLE


class NotCoordinator(KwireError):
    """Another broker coordinates this, or none."""

    code = ErrorCode.NOT_COORDINATOR


class RecordListTooLarge(KwireError):
    """A batch is larger than a whole segment."""

    code = ErrorCode.RECORD_LIST_TOO_LARGE


class InvalidTopic(KwireError):
    """The name cannot be a topic's name."""

    code = ErrorCode.INVALID_TOPIC_EXCEPTION


class NotEnoughReplicas(KwireError):
    """Fewer replicas are in sync than the topic demands."""

    code = ErrorCode.NOT_ENOUGH_REPLICAS


class InvalidRequiredAcks(KwireError):
    """acks is none of 0, 1 and -1."""

    code = ErrorCode.INVALID_REQUIRED_ACKS


class IllegalGeneration(KwireError):
    """The member speaks of a generation that is not the group's."""

    code = ErrorCode.ILLEGAL_GENERATION


class InconsistentGroupProtocol(KwireError):
    """The member's protocols are not those of its group."""

    code = ErrorCode.INCONSISTENT_GROUP_PROTOCOL


class InvalidGroupId(KwireError):
    """The group's id cannot be."""

    code = ErrorCode.INVALID_GROUP_ID


class UnknownMemberId(KwireError):
    """The group has no such member."""

    code = ErrorCode.UNKNOWN_MEMBER_ID


class RebalanceInProgress(KwireError):
    """The group is between two generations."""

    code = ErrorCode.REBALANCE_IN_PROGRESS


class InvalidTimestamp(KwireError):
    """A record's timestamp is outside of what the topic takes."""

    code = ErrorCode.INVALID_TIMESTAMP


class UnsupportedVersion(KwireError):
    """The request needs something its version does not have."""

    code = ErrorCode.UNSUPPORTED_VERSION


class TopicAlreadyExists(KwireError):
    """A topic of that name is there already."""

    code = ErrorCode.TOPIC_ALREADY_EXISTS


class InvalidPartitions(KwireError):
    """The number of partitions cannot be."""

    code = ErrorCode.INVALID_PARTITIONS


class InvalidReplicationFactor(KwireError):
    """The replication factor cannot be met."""

    code = ErrorCode.INVALID_REPLICATION_FACTOR


class InvalidReplicaAssignment(KwireError):
    """The assignment of replicas cannot be."""

    code = ErrorCode.INVALID_REPLICA_ASSIGNMENT


class InvalidConfig(KwireError):
    """A setting is unknown, malformed or out of bounds."""

    code = ErrorCode.INVALID_CONFIG


class NotController(KwireError):
    """This node is not the controller any more."""

    code = ErrorCode.NOT_CONTROLLER


class InvalidRequest(KwireError):
    """The request contradicts itself."""

    code = ErrorCode.INVALID_REQUEST


class UnsupportedForMessageFormat(KwireError):
    """The record format cannot express what is asked."""

    code = ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT


class PolicyViolation(KwireError):
    """A rule of this broker forbids it."""

    code = ErrorCode.POLICY_VIOLATION


class OutOfOrderSequence(KwireError):
    """A producer left out a sequence number."""

    code = ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


class InvalidProducerEpoch(KwireError):
    """A newer instance of this producer exists."""

    code = ErrorCode.INVALID_PRODUCER_EPOCH


class InvalidTxnState(KwireError):
    """The transaction is not in a state for this."""

    code = ErrorCode.INVALID_TXN_STATE


class InvalidProducerIdMapping(KwireError):
    """The transactional id does not belong to this producer id, or is not known."""

    code = ErrorCode.INVALID_PRODUCER_ID_MAPPING


class InvalidTransactionTimeout(KwireError):
    """A transaction may not take so long."""

    code = ErrorCode.INVALID_TRANSACTION_TIMEOUT


class ConcurrentTransactions(KwireError):
    """The transaction before this one is still ending."""

    code = ErrorCode.CONCURRENT_TRANSACTIONS


class TransactionCoordinatorFenced(KwireError):
    """A newer coordinator has ended transactions of this producer."""

    code = ErrorCode.TRANSACTION_COORDINATOR_FENCED


class TransactionalIdAuthorizationFailed(KwireError):
    """The client may not use this transactional id, or has not named any."""

    code = ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED


class KafkaStorageError(KwireError):
    """The disk under the log failed or is full."""

    code = ErrorCode.KAFKA_STORAGE_ERROR


class LogDirNotFound(KwireError):
    """The log directory is not one of this broker's."""

    code = ErrorCode.LOG_DIR_NOT_FOUND


class UnknownProducerId(KwireError):
    """This log has no memory of that producer."""

    code = ErrorCode.UNKNOWN_PRODUCER_ID


class NonEmptyGroup(KwireError):
    """The group still has members."""

    code = ErrorCode.NON_EMPTY_GROUP


class GroupIdNotFound(KwireError):
    """There is no such group."""

    code = ErrorCode.GROUP_ID_NOT_FOUND


class FetchSessionIdNotFound(KwireError):
    """The fetch session was evicted or never was."""

    code = ErrorCode.FETCH_SESSION_ID_NOT_FOUND


class InvalidFetchSessionEpoch(KwireError):
    """The fetch session is at another epoch."""

    code = ErrorCode.INVALID_FETCH_SESSION_EPOCH


class TopicDeletionDisabled(KwireError):
    """delete.topic.enable is off."""

    code = ErrorCode.TOPIC_DELETION_DISABLED


class FencedLeaderEpoch(KwireError):
    """The client's leader epoch is older than ours."""

    code = ErrorCode.FENCED_LEADER_EPOCH


class UnknownLeaderEpoch(KwireError):
    """The client's leader epoch is newer than ours."""

    code = ErrorCode.UNKNOWN_LEADER_EPOCH


class UnsupportedCompressionType(KwireError):
    """The codec is unknown, or too new for the request's version."""

    code = ErrorCode.UNSUPPORTED_COMPRESSION_TYPE


class OffsetNotAvailable(KwireError):
    """The leader does not know its high watermark yet."""

    code = ErrorCode.OFFSET_NOT_AVAILABLE


class GroupMaxSizeReached(KwireError):
    """The group has as many members as it may have."""

    code = ErrorCode.GROUP_MAX_SIZE_REACHED


class FencedInstanceId(KwireError):
    """Another member has taken over this static member's place."""

    code = ErrorCode.FENCED_INSTANCE_ID


class InvalidRecord(KwireError):
    """A record breaks a rule of its topic or of the format."""

    code = ErrorCode.INVALID_RECORD


class ProducerFenced(KwireError):
    """A newer producer uses the same transactional id."""

    code = ErrorCode.PRODUCER_FENCED


class UnknownTopicId(KwireError):
    """No topic has that id here."""

    code = ErrorCode.UNKNOWN_TOPIC_ID


class InconsistentTopicId(KwireError):
    """The topic has another id than the session says."""

    code = ErrorCode.INCONSISTENT_TOPIC_ID


class FetchSessionTopicIdError(KwireError):
    """The session was opened by names and is used by ids, or the other way round."""

    code = ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR


class TransactionalIdNotFound(KwireError):
    """No producer uses that transactional id, or none has for long."""

    code = ErrorCode.TRANSACTIONAL_ID_NOT_FOUND


class FencedMemberEpoch(KwireError):
    """The member speaks of an epoch that is not its own; it must give up all and rejoin."""

    code = ErrorCode.FENCED_MEMBER_EPOCH


class UnreleasedInstanceId(KwireError):
    """Another member has this static member's place, and has not left."""

    code = ErrorCode.UNRELEASED_INSTANCE_ID


class UnsupportedAssignor(KwireError):
    """There is no such assignor here."""

    code = ErrorCode.UNSUPPORTED_ASSIGNOR


class StaleMemberEpoch(KwireError):
    """The member commits or reads in an epoch that is not its own."""

    code = ErrorCode.STALE_MEMBER_EPOCH


class TransactionAbortable(KwireError):
    """The transaction has to be aborted; the producer may go on after that."""

    code = ErrorCode.TRANSACTION_ABORTABLE


class InvalidRegularExpression(KwireError):
    """The expression cannot be read, or not be matched in linear time."""

    code = ErrorCode.INVALID_REGULAR_EXPRESSION
