"""ApiVersions: what this broker serves, in exactly the versions that it serves.

With the features that are in force clients decide how they run transactions (KIP-890).
"""

import re

from kwire.codec import apis
from kwire.codec.messages.api_versions import (
    ApiVersion,
    ApiVersionsRequest,
    ApiVersionsResponse,
    FinalizedFeature,
    SupportedFeature,
)
from kwire.errors import ErrorCode
from kwire.handlers.context import RequestContext

FIRST_VERSION_WITH_FEATURES_FROM_0 = 4
FEATURES = {"group.version": 1, "transaction.version": 2}
"""The levels that are in force: groups of the new protocol (KIP-848), transactions (KIP-890)."""

_SOFTWARE = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?")


def handle(ctx: RequestContext, request: ApiVersionsRequest) -> ApiVersionsResponse:
    if ctx.version >= 3 and not _is_named(request):
        return refuse(ctx, request, ErrorCode.INVALID_REQUEST)
    return ApiVersionsResponse(
        api_keys=_served(),
        supported_features=_supported_features(ctx),
        finalized_features_epoch=0,
        finalized_features=[
            FinalizedFeature(name=name, max_version_level=level, min_version_level=level)
            for name, level in FEATURES.items()
        ],
    )


def refuse(
    ctx: RequestContext, request: ApiVersionsRequest, code: ErrorCode
) -> ApiVersionsResponse:
    return ApiVersionsResponse(error_code=code)


def unsupported_version() -> ApiVersionsResponse:
    """For a version we do not know: only our range of this API, so that the client can retry."""
    return ApiVersionsResponse(
        error_code=ErrorCode.UNSUPPORTED_VERSION, api_keys=[_range_of(apis.API_VERSIONS)]
    )


def _is_named(request: ApiVersionsRequest) -> bool:
    """Clients must say who they are in a form that is safe to log and to use as a metric label."""
    name, version = request.client_software_name, request.client_software_version
    return bool(_SOFTWARE.fullmatch(name) and _SOFTWARE.fullmatch(version))


def _supported_features(ctx: RequestContext) -> list[SupportedFeature]:
    """Older clients cannot read a feature that starts at level 0 (KAFKA-17011)."""
    if ctx.version < FIRST_VERSION_WITH_FEATURES_FROM_0:
        return []
    return [
        SupportedFeature(name=name, min_version=0, max_version=level)
        for name, level in FEATURES.items()
    ]


def _served() -> list[ApiVersion]:
    from kwire.handlers.table import ROUTES

    return [_range_of(route.api) for _, route in sorted(ROUTES.items())]


def _range_of(api: apis.Api) -> ApiVersion:
    return ApiVersion(api_key=api.key, min_version=api.versions[0], max_version=api.versions[1])
