"""ApiVersions, key 18: which APIs the broker serves, in which versions.

v0 the first form
v1 throttle time
v2 the broker answers first and throttles after (KIP-219)
v3 flexible, but the answer keeps its old header; name of the client (KIP-511), features (KIP-584)
v4 a feature may start at version 0 (KAFKA-17011)
"""

from kwire.codec.schema import array, boolean, int16, int32, int64, message, string, struct


@message
class ApiVersionsRequest:
    client_software_name: str = string(since=3)
    client_software_version: str = string(since=3)


@message
class ApiVersion:
    api_key: int = int16()
    min_version: int = int16()
    max_version: int = int16()


@message
class SupportedFeature:
    """The levels of a feature that this broker could work with."""

    name: str = string()
    min_version: int = int16()
    max_version: int = int16()


@message
class FinalizedFeature:
    """A feature level that the whole cluster has agreed on."""

    name: str = string()
    max_version_level: int = int16()
    min_version_level: int = int16()


@message
class ApiVersionsResponse:
    error_code: int = int16()
    # With UNSUPPORTED_VERSION it holds ApiVersions alone, in the v0 form (KIP-511).
    api_keys: list[ApiVersion] = array(struct(ApiVersion))
    throttle_time_ms: int = int32(since=1)
    supported_features: list[SupportedFeature] = array(struct(SupportedFeature), since=3, tag=0)
    finalized_features_epoch: int = int64(since=3, default=-1, tag=1)
    finalized_features: list[FinalizedFeature] = array(struct(FinalizedFeature), since=3, tag=2)
    zk_migration_ready: bool = boolean(since=3, tag=3)
