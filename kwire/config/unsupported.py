"""Kafka's keys that kwire knows of and does not have, each with the reason.

Every key that is accepted is enforced. So these are refused where a client sets them, and named in
one warning where they stand in a file or in the environment: an existing file still starts. Only a
key that would leave the broker less guarded than its file says stops the start.
"""

UNSUPPORTED_TOPIC_KEYS = {
    "follower.replication.throttled.replicas": "replication is not throttled",
    "leader.replication.throttled.replicas": "replication is not throttled",
    "local.retention.bytes": "there is no tiered storage",
    "local.retention.ms": "there is no tiered storage",
    "remote.log.copy.disable": "there is no tiered storage",
    "remote.log.delete.on.disable": "there is no tiered storage",
}

_NEW_GROUPS = "only groups of consumers are there yet"
_ONE_NODE = "one node does not replicate"
_SECURITY = "only PLAINTEXT listeners are there yet"
_NO_PLUGINS = "kwire loads no Java classes"
_NO_TIERS = "there is no tiered storage"
_NO_QUOTAS = "there are no quotas yet"
_NO_KRAFT = "kwire keeps its metadata itself, without a Raft quorum"
_NO_ZOOKEEPER = "one node needs no ZooKeeper"
_AT_ONCE = "has no effect in kwire: groups are assigned at once, with the next heartbeat"
_NO_THREADS = "has no effect in kwire: there is one event loop"
_NO_JVM = "has no effect in kwire: there is no JVM"
_NO_PURGATORY = "has no effect in kwire: who waits is dropped at once"

UNSUPPORTED_BROKER_KEYS = {
    "add.partitions.to.txn.retry.backoff.ms": "has no effect in kwire: who waits is told at once",
    "alter.config.policy.class.name": _NO_PLUGINS,
    "auto.leader.rebalance.enable": _ONE_NODE,
    "background.threads": _NO_THREADS,
    "broker.id.generation.enable": "the node's id is given, not generated",
    "client.quota.callback.class": _NO_PLUGINS,
    "cordoned.log.dirs": "there is one log directory",
    "compression.type.default": "Kafka has no such key; use compression.type",
    "create.topic.policy.class.name": _NO_PLUGINS,
    "early.start.listeners": "every listener starts at once",
    "eligible.leader.replicas.enable": _ONE_NODE,
    "follower.fetch.last.tiered.offset.enable": _NO_TIERS,
    "follower.replication.throttled.rate": _ONE_NODE,
    "group.consumer.assignment.interval.ms": _AT_ONCE,
    "group.consumer.assignor.offload.enable": _AT_ONCE,
    "group.consumer.max.assignment.interval.ms": _AT_ONCE,
    "group.consumer.min.assignment.interval.ms": _AT_ONCE,
    "group.consumer.regex.refresh.interval.ms": _AT_ONCE,
    "initial.broker.registration.timeout.ms": _NO_KRAFT,
    "inter.broker.listener.name": _ONE_NODE,
    "inter.broker.protocol.version": _ONE_NODE,
    "kafka.metrics.polling.interval.secs": _NO_JVM,
    "kafka.metrics.reporters": _NO_PLUGINS,
    "leader.imbalance.check.interval.seconds": _ONE_NODE,
    "leader.imbalance.per.broker.percentage": _ONE_NODE,
    "leader.replication.throttled.rate": _ONE_NODE,
    "log.cleaner.io.buffer.load.factor": "the map of keys grows as it needs",
    "log.cleaner.io.buffer.size": "compaction sizes its buffers itself",
    "log.cleaner.threads": _NO_THREADS,
    "log.dir.failure.timeout.ms": "there is one log directory",
    "log.message.downconversion.enable": "only record format 2 is served",
    "log.message.format.version": "only record format 2 is stored",
    "log.message.timestamp.difference.max.ms": "use log.message.timestamp.before/after.max.ms",
    "max.connection.creation.rate": "connections are limited in number, not in rate",
    "metric.reporters": _NO_PLUGINS,
    "node.rack": "use broker.rack",
    "num.io.threads": _NO_THREADS,
    "num.network.threads": _NO_THREADS,
    "num.recovery.threads.per.data.dir": _NO_THREADS,
    "num.replica.alter.log.dirs.threads": _NO_THREADS,
    "num.replica.fetchers": _ONE_NODE,
    "port": "use listeners",
    "host.name": "use listeners",
    "advertised.host.name": "use advertised.listeners",
    "advertised.port": "use advertised.listeners",
    "principal.builder.class": _NO_PLUGINS,
    "process.roles": _NO_KRAFT,
    "queued.max.requests": "bounded in bytes by queued.max.request.bytes",
    "request.timeout.ms": _ONE_NODE,
    "reserved.broker.max.id": "the node's id is given, not generated",
    "server.max.startup.time.ms": _NO_KRAFT,
    "socket.listen.backlog.size": "the operating system's largest backlog is used",
    "transaction.two.phase.commit.enable": "two-phase commit is not stable in Kafka yet",
    "unclean.leader.election.interval.ms": _ONE_NODE,
    "unstable.api.versions.enable": "only stable versions are served",
    "unstable.feature.versions.enable": "only stable versions are served",
}

_UNSUPPORTED_PREFIXES = (
    ("alter.log.dirs.replication.quota.", _NO_QUOTAS),
    ("broker.heartbeat.", _NO_KRAFT),
    ("broker.session.", _NO_KRAFT),
    ("config.providers", _NO_PLUGINS),
    ("confluent.", "a key of Confluent's own server"),
    ("connection.failed.authentication.", _SECURITY),
    ("connections.max.reauth.", _SECURITY),
    ("controlled.shutdown.", _ONE_NODE),
    ("controller.quorum.", _NO_KRAFT),
    ("controller.quota.", _NO_QUOTAS),
    ("controller.", _NO_KRAFT),
    ("delegation.token.", _SECURITY),
    ("group.coordinator.", "has no effect in kwire: coordinators write at once, in the loop"),
    ("group.share.", _NEW_GROUPS),
    ("group.streams.", _NEW_GROUPS),
    ("internal.", "internal to Kafka"),
    ("listener.name.", _SECURITY),
    ("log.local.retention.", _NO_TIERS),
    ("metadata.", _NO_KRAFT),
    ("metrics.", _NO_JVM),
    ("offsets.commit.", _ONE_NODE),
    ("password.encoder.", _SECURITY),
    ("quota.", _NO_QUOTAS),
    ("remote.", _NO_TIERS),
    ("replica.", _ONE_NODE),
    ("replication.quota.", _NO_QUOTAS),
    ("sasl.", _SECURITY),
    ("security.", _SECURITY),
    ("share.", _NEW_GROUPS),
    ("socket.connection.setup.", _ONE_NODE),
    ("ssl.", _SECURITY),
    ("telemetry.", "clients' telemetry is not collected"),
    ("zookeeper.", _NO_ZOOKEEPER),
)

# Whoever wrote these relies on them: to start without would open what was meant to be closed.
REFUSED_AT_START = {
    "authorizer.class.name": "there is no authorization yet, so the broker would be open to all",
    "super.users": "there is no authorization yet, so the broker would be open to all",
}


def why_unsupported(name: str) -> str | None:
    """The reason why a broker key of Kafka's is not there, or None if Kafka has no such key."""
    if name in UNSUPPORTED_BROKER_KEYS:
        return UNSUPPORTED_BROKER_KEYS[name]
    if name in REFUSED_AT_START:
        return REFUSED_AT_START[name]
    if name.endswith(".purgatory.purge.interval.requests"):
        return _NO_PURGATORY
    for prefix, why in _UNSUPPORTED_PREFIXES:
        if name.startswith(prefix):
            return why
    return None
