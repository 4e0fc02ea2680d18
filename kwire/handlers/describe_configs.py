"""DescribeConfigs: the settings of topics and brokers, and where each value comes from."""

from kwire.codec.messages.describe_configs import (
    DescribeConfigsEntry,
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResponse,
    DescribeConfigsResult,
    DescribeConfigsSynonym,
)
from kwire.config.describe import (
    ConfigEntry,
    describe_broker,
    describe_broker_defaults,
    describe_topic,
)
from kwire.controller.commands import Scope
from kwire.controller.image import EVERY_BROKER
from kwire.controller.topics import check_name
from kwire.errors import ErrorCode, KwireError, UnknownTopicOrPartition
from kwire.handlers.context import RequestContext
from kwire.handlers.resources import target_of


def handle(ctx: RequestContext, request: DescribeConfigsRequest) -> DescribeConfigsResponse:
    return DescribeConfigsResponse(
        results=[_describe(ctx, request, resource) for resource in request.resources]
    )


def refuse(
    ctx: RequestContext, request: DescribeConfigsRequest, code: ErrorCode
) -> DescribeConfigsResponse:
    return DescribeConfigsResponse(
        results=[
            DescribeConfigsResult(
                error_code=code,
                error_message=None,
                resource_type=resource.resource_type,
                resource_name=resource.resource_name,
            )
            for resource in request.resources
        ]
    )


def _describe(
    ctx: RequestContext, request: DescribeConfigsRequest, resource: DescribeConfigsResource
) -> DescribeConfigsResult:
    result = DescribeConfigsResult(
        resource_type=resource.resource_type, resource_name=resource.resource_name
    )
    try:
        result.configs = [_entry(found, request) for found in _entries(ctx, resource)]
    except KwireError as error:
        result.error_code = error.code
        result.error_message = error.message
    return result


def _entries(ctx: RequestContext, resource: DescribeConfigsResource) -> list[ConfigEntry]:
    """Every setting, or those asked for; no name at all asks for everything, as null does."""
    layers, names = ctx.node.controller.layers, resource.configuration_keys
    scope, name = target_of(ctx, resource)
    if scope is Scope.TOPIC:
        check_name(name)
        topic = ctx.node.controller.image.topics.get(name)
        if topic is None:
            raise UnknownTopicOrPartition("This server does not host this topic-partition.")
        return describe_topic(layers, topic.config, names)
    if name == EVERY_BROKER:
        return describe_broker_defaults(layers, names)
    return describe_broker(layers, names)


def _entry(found: ConfigEntry, request: DescribeConfigsRequest) -> DescribeConfigsEntry:
    synonyms = found.synonyms if request.include_synonyms else ()
    return DescribeConfigsEntry(
        name=found.name,
        value=found.value,
        read_only=found.read_only,
        config_source=found.source,
        is_sensitive=found.is_sensitive,
        synonyms=[
            DescribeConfigsSynonym(name=synonym.name, value=synonym.value, source=synonym.source)
            for synonym in synonyms
        ],
        config_type=found.type,
        documentation=found.documentation if request.include_documentation else None,
    )
