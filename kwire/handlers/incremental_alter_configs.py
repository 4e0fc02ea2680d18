"""IncrementalAlterConfigs: single settings of a resource are set, deleted, appended, subtracted."""

from functools import partial

from kwire.codec.messages.incremental_alter_configs import (
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResource,
    IncrementalAlterConfigsResourceResponse,
    IncrementalAlterConfigsResponse,
)
from kwire.controller.commands import Operation, Setting
from kwire.errors import ErrorCode, InvalidRequest, KwireError
from kwire.handlers.context import RequestContext
from kwire.handlers.resources import alter
from kwire.tasks import Later


def handle(
    ctx: RequestContext, request: IncrementalAlterConfigsRequest
) -> Later[IncrementalAlterConfigsResponse]:
    altered = alter(
        ctx,
        request.resources,
        _settings,
        replaces_all=False,
        validate_only=request.validate_only,
    )
    return altered.map(partial(_answer, request))


def refuse(
    ctx: RequestContext, request: IncrementalAlterConfigsRequest, code: ErrorCode
) -> IncrementalAlterConfigsResponse:
    return IncrementalAlterConfigsResponse(
        responses=[
            IncrementalAlterConfigsResourceResponse(
                error_code=code,
                error_message=None,
                resource_type=resource.resource_type,
                resource_name=resource.resource_name,
            )
            for resource in request.resources
        ]
    )


def _settings(resource: IncrementalAlterConfigsResource) -> list[Setting]:
    return [
        Setting(_operation(config.config_operation), config.name, config.value)
        for config in resource.configs
    ]


def _operation(number: int) -> Operation:
    try:
        return Operation(number)
    except ValueError:
        raise InvalidRequest(f"Unknown operations type {number}") from None


def _answer(
    request: IncrementalAlterConfigsRequest, outcomes: list[KwireError | None]
) -> IncrementalAlterConfigsResponse:
    return IncrementalAlterConfigsResponse(
        responses=[
            IncrementalAlterConfigsResourceResponse(
                error_code=ErrorCode.NONE if error is None else error.code,
                error_message=None if error is None else error.message,
                resource_type=resource.resource_type,
                resource_name=resource.resource_name,
            )
            for resource, error in zip(request.resources, outcomes, strict=True)
        ]
    )
