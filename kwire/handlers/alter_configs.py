"""AlterConfigs: all settings of a resource are replaced; what is not named gets its default."""

from functools import partial

from kwire.codec.messages.alter_configs import (
    AlterConfigsRequest,
    AlterConfigsResource,
    AlterConfigsResourceResponse,
    AlterConfigsResponse,
)
from kwire.controller.commands import Operation, Setting
from kwire.errors import ErrorCode, KwireError
from kwire.handlers.context import RequestContext
from kwire.handlers.resources import alter
from kwire.tasks import Later


def handle(ctx: RequestContext, request: AlterConfigsRequest) -> Later[AlterConfigsResponse]:
    altered = alter(
        ctx,
        request.resources,
        _settings,
        replaces_all=True,
        validate_only=request.validate_only,
    )
    return altered.map(partial(_answer, request))


def refuse(
    ctx: RequestContext, request: AlterConfigsRequest, code: ErrorCode
) -> AlterConfigsResponse:
    return AlterConfigsResponse(
        responses=[
            AlterConfigsResourceResponse(
                error_code=code,
                error_message=None,
                resource_type=resource.resource_type,
                resource_name=resource.resource_name,
            )
            for resource in request.resources
        ]
    )


def _settings(resource: AlterConfigsResource) -> list[Setting]:
    return [Setting(Operation.SET, config.name, config.value) for config in resource.configs]


def _answer(
    request: AlterConfigsRequest, outcomes: list[KwireError | None]
) -> AlterConfigsResponse:
    return AlterConfigsResponse(
        responses=[
            AlterConfigsResourceResponse(
                error_code=ErrorCode.NONE if error is None else error.code,
                error_message=None if error is None else error.message,
                resource_type=resource.resource_type,
                resource_name=resource.resource_name,
            )
            for resource, error in zip(request.resources, outcomes, strict=True)
        ]
    )
