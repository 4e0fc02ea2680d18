"""DescribeConfigs, key 32: the settings of topics, brokers and groups, and where each comes from.

v1 source and synonyms of each setting (KIP-226)
v2 the broker answers first and throttles after (KIP-219)
v3 type and documentation (KIP-569)
v4 flexible
"""

from kwire.codec.schema import array, boolean, int8, int16, int32, message, string, struct


@message
class DescribeConfigsResource:
    resource_type: int = int8()
    resource_name: str = string()
    # Null asks for all of them.
    configuration_keys: list[str] | None = array(string(), nullable=True)


@message
class DescribeConfigsRequest:
    resources: list[DescribeConfigsResource] = array(struct(DescribeConfigsResource))
    include_synonyms: bool = boolean()
    include_documentation: bool = boolean(since=3)


@message
class DescribeConfigsSynonym:
    """One place where the setting could come from, in order of precedence."""

    name: str = string()
    value: str | None = string(nullable=True)
    source: int = int8()


@message
class DescribeConfigsEntry:
    name: str = string()
    value: str | None = string(nullable=True)
    read_only: bool = boolean()
    config_source: int = int8(default=-1)
    is_sensitive: bool = boolean()
    synonyms: list[DescribeConfigsSynonym] = array(struct(DescribeConfigsSynonym))
    config_type: int = int8(since=3)
    documentation: str | None = string(since=3, nullable=True)


@message
class DescribeConfigsResult:
    error_code: int = int16()
    error_message: str | None = string(nullable=True)
    resource_type: int = int8()
    resource_name: str = string()
    configs: list[DescribeConfigsEntry] = array(struct(DescribeConfigsEntry))


@message
class DescribeConfigsResponse:
    throttle_time_ms: int = int32()
    results: list[DescribeConfigsResult] = array(struct(DescribeConfigsResult))
