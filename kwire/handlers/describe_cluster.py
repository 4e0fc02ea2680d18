"""DescribeCluster: cluster id, controller and brokers, without any topic."""

from kwire.codec.messages.describe_cluster import (
    DescribeClusterBroker,
    DescribeClusterRequest,
    DescribeClusterResponse,
)
from kwire.errors import ErrorCode
from kwire.handlers.context import RequestContext
from kwire.handlers.selection import CLUSTER_OPERATIONS, NOT_ASKED, ClusterView

BROKERS = 1
CONTROLLERS = 2


def handle(ctx: RequestContext, request: DescribeClusterRequest) -> DescribeClusterResponse:
    if request.endpoint_type == CONTROLLERS:
        return _refusal(
            ErrorCode.MISMATCHED_ENDPOINT_TYPE,
            "The request was sent to an endpoint of type BROKER, but we wanted an endpoint of"
            " type CONTROLLER",
        )
    if request.endpoint_type != BROKERS:
        return _refusal(
            ErrorCode.UNSUPPORTED_ENDPOINT_TYPE,
            f"Unsupported endpoint type {request.endpoint_type}",
        )
    image = ctx.node.controller.image
    asks_for_operations = request.include_cluster_authorized_operations
    return DescribeClusterResponse(
        cluster_id=image.cluster_id,
        controller_id=image.controller_id,
        # A broker that is away is not in the image, so none of these is fenced.
        brokers=[
            DescribeClusterBroker(
                broker_id=broker.node_id,
                host=endpoint.host,
                port=endpoint.port,
                rack=broker.rack,
            )
            for broker, endpoint in ClusterView(ctx).brokers
        ],
        cluster_authorized_operations=CLUSTER_OPERATIONS if asks_for_operations else NOT_ASKED,
    )


def refuse(
    ctx: RequestContext, request: DescribeClusterRequest, code: ErrorCode
) -> DescribeClusterResponse:
    return DescribeClusterResponse(error_code=code)


def _refusal(code: ErrorCode, message: str) -> DescribeClusterResponse:
    return DescribeClusterResponse(error_code=code, error_message=message)
