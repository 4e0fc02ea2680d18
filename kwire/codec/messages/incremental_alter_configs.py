"""IncrementalAlterConfigs, key 44: single settings of a resource are changed (KIP-339).

v0 the first form
v1 flexible
"""

from kwire.codec.schema import array, boolean, int8, int16, int32, message, string, struct


@message
class IncrementalAlterableConfig:
    name: str = string()
    # 0 set, 1 delete, 2 append, 3 subtract.
    config_operation: int = int8()
    value: str | None = string(nullable=True)


@message
class IncrementalAlterConfigsResource:
    resource_type: int = int8()
    resource_name: str = string()
    configs: list[IncrementalAlterableConfig] = array(struct(IncrementalAlterableConfig))


@message
class IncrementalAlterConfigsRequest:
    resources: list[IncrementalAlterConfigsResource] = array(
        struct(IncrementalAlterConfigsResource)
    )
    validate_only: bool = boolean()


@message
class IncrementalAlterConfigsResourceResponse:
    error_code: int = int16()
    error_message: str | None = string(nullable=True)
    resource_type: int = int8()
    resource_name: str = string()


@message
class IncrementalAlterConfigsResponse:
    throttle_time_ms: int = int32()
    responses: list[IncrementalAlterConfigsResourceResponse] = array(
        struct(IncrementalAlterConfigsResourceResponse)
    )
