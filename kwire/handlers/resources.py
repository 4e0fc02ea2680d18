"""Whose settings: the topics and brokers that DescribeConfigs and both AlterConfigs speak of.

Kafka has more kinds of resources. Those that kwire has not are refused one by one, and a number
that nobody knows too; the other resources of the same request are served.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol, TypeVar

from kwire.controller.commands import ConfigChange, Operation, Scope, Setting
from kwire.controller.image import EVERY_BROKER
from kwire.errors import InvalidRequest, KwireError
from kwire.handlers.context import RequestContext
from kwire.tasks import Later

_MOST_DIGITS = len(str(2**31))
_ONLY_IN_KAFKA = {8: "BROKER_LOGGER", 16: "CLIENT_METRICS", 32: "GROUP"}


class Resource(Protocol):
    """What every message's resource has."""

    resource_type: int
    resource_name: str


R = TypeVar("R", bound=Resource)


class Target(NamedTuple):
    """A resource that is there to have settings; a broker's name is its id or empty."""

    scope: Scope
    name: str


def target_of(ctx: RequestContext, resource: Resource) -> Target:
    number, name = resource.resource_type, resource.resource_name
    if number in _ONLY_IN_KAFKA:
        raise InvalidRequest(f"Unsupported resource type: {_ONLY_IN_KAFKA[number]}")
    if number == Scope.TOPIC:
        return Target(Scope.TOPIC, name)
    if number == Scope.BROKER:
        return Target(Scope.BROKER, _broker_name(ctx, name))
    raise InvalidRequest(f"Unknown resource type {number}")


def _broker_name(ctx: RequestContext, name: str) -> str:
    """The settings of a broker are its own business: only this one's are known here."""
    if name == EVERY_BROKER:
        return name
    if not (name.isascii() and name.isdigit() and len(name) <= _MOST_DIGITS):
        raise InvalidRequest(f"Broker id must be an integer, but it is: {name}")
    node_id, expected = int(name), ctx.node.config.node_id
    if node_id != expected:
        raise InvalidRequest(
            f"Unexpected broker id, expected {expected} or empty string, but received {name}"
        )
    return str(node_id)


def alter(
    ctx: RequestContext,
    resources: Sequence[R],
    settings_of: Callable[[R], list[Setting]],
    *,
    replaces_all: bool,
    validate_only: bool,
) -> Later[list[KwireError | None]]:
    """Change the settings of each resource, and say of each in turn what became of it."""
    times = Counter((one.resource_type, one.resource_name) for one in resources)
    outcomes: list[KwireError | None] = [None] * len(resources)
    changes: dict[int, ConfigChange] = {}
    for position, resource in enumerate(resources):
        try:
            if times[resource.resource_type, resource.resource_name] > 1:
                raise InvalidRequest("Each resource must appear at most once.")
            settings = _checked(settings_of(resource))
            target = target_of(ctx, resource)
        except KwireError as error:
            outcomes[position] = error
        else:
            changes[position] = ConfigChange(target.scope, target.name, settings, replaces_all)

    def complete(results: list[KwireError | None]) -> list[KwireError | None]:
        for position, result in zip(changes, results, strict=True):
            outcomes[position] = result
        return outcomes

    altered = ctx.node.controller.alter_configs(list(changes.values()), validate_only=validate_only)
    return altered.map(complete)


def _checked(settings: list[Setting]) -> list[Setting]:
    names = {setting.name for setting in settings}
    if len(names) < len(settings):
        raise InvalidRequest("Error due to duplicate config keys")
    nulls = [
        setting.name
        for setting in settings
        if setting.value is None and setting.operation != Operation.DELETE
    ]
    if nulls:
        raise InvalidRequest(f"Null value not supported for : {', '.join(nulls)}")
    return settings
