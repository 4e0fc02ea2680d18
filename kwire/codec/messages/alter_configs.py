"""AlterConfigs, key 33: all settings of a resource are replaced at once.

v0 the first form
v1 the broker answers first and throttles after (KIP-219)
v2 flexible
"""

from kwire.codec.schema import array, boolean, int8, int16, int32, message, string, struct


@message
class AlterableConfig:
    name: str = string()
    value: str | None = string(nullable=True)


@message
class AlterConfigsResource:
    resource_type: int = int8()
    resource_name: str = string()
    configs: list[AlterableConfig] = array(struct(AlterableConfig))


@message
class AlterConfigsRequest:
    resources: list[AlterConfigsResource] = array(struct(AlterConfigsResource))
    validate_only: bool = boolean()


@message
class AlterConfigsResourceResponse:
    error_code: int = int16()
    error_message: str | None = string(nullable=True)
    resource_type: int = int8()
    resource_name: str = string()


@message
class AlterConfigsResponse:
    throttle_time_ms: int = int32()
    responses: list[AlterConfigsResourceResponse] = array(struct(AlterConfigsResourceResponse))
