"""Where each setting comes from: default < file < environment < flags < dynamic.

The first four are settled at start and called static. Dynamic ones are set by clients, for one
broker or as a default for all, and kept by the controller.
"""

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import IntEnum

from kwire.config.broker import BROKER_KEYS, BrokerConfig, resolve_broker
from kwire.config.unsupported import REFUSED_AT_START, why_unsupported
from kwire.errors import InvalidConfig, InvalidRequest

_log = logging.getLogger(__name__)


class Source(IntEnum):
    """The numbers DescribeConfigs uses for sources."""

    UNKNOWN = 0
    DYNAMIC_TOPIC = 1
    DYNAMIC_BROKER = 2
    DYNAMIC_DEFAULT_BROKER = 3
    STATIC_BROKER = 4
    DEFAULT = 5


@dataclass(frozen=True, slots=True)
class Layers:
    """The texts of every layer, and the configuration they amount to."""

    broker: BrokerConfig = field(default_factory=lambda: resolve_broker({}))
    static: Mapping[str, str] = field(default_factory=dict)
    dynamic_default: Mapping[str, str] = field(default_factory=dict)
    dynamic_broker: Mapping[str, str] = field(default_factory=dict)

    def with_dynamic(
        self, *, default: Mapping[str, str] | None = None, broker: Mapping[str, str] | None = None
    ) -> "Layers":
        """The same with other dynamic settings; what is not given stays."""
        defaults = self.dynamic_default if default is None else default
        own = self.dynamic_broker if broker is None else broker
        resolved = resolve_broker({**self.static, **defaults, **own})
        return replace(self, broker=resolved, dynamic_default=defaults, dynamic_broker=own)

    def in_order(self) -> tuple[tuple[Source, Mapping[str, str]], ...]:
        """The layers that hold texts, the strongest first."""
        return (
            (Source.DYNAMIC_BROKER, self.dynamic_broker),
            (Source.DYNAMIC_DEFAULT_BROKER, self.dynamic_default),
            (Source.STATIC_BROKER, self.static),
        )


def load(
    *,
    file: Mapping[str, str] | None = None,
    environment: Mapping[str, str] | None = None,
    flags: Mapping[str, str] | None = None,
) -> Layers:
    """Settle the static layers. Keys that are not there are named in a warning and left out."""
    given = {**(file or {}), **(environment or {}), **(flags or {})}
    for name, why in REFUSED_AT_START.items():
        if given.get(name, "").strip():
            raise InvalidConfig(f"{name} is set, but not supported: {why}")
    static = {name: value for name, value in given.items() if name in BROKER_KEYS}
    _warn_of_what_is_left_out(name for name in given if name not in BROKER_KEYS)
    return Layers(broker=resolve_broker(static), static=static)


def _warn_of_what_is_left_out(names: Iterable[str]) -> None:
    without_effect, unsupported, unknown = [], [], []
    for name in sorted(names):
        why = why_unsupported(name)
        if why is None:
            unknown.append(name)
        elif why.startswith("has no effect"):
            without_effect.append(name)
        else:
            unsupported.append(name)
    if unsupported:
        _log.warning("configuration keys not supported: %s", ", ".join(unsupported))
    if without_effect:
        _log.warning("configuration keys without effect in kwire: %s", ", ".join(without_effect))
    if unknown:
        _log.warning("configuration keys unknown: %s", ", ".join(unknown))


def check_dynamic(layers: Layers, texts: Mapping[str, str]) -> None:
    """Refuse what a client may not set on a running broker, with Kafka's codes and words."""
    for name in texts:
        if name not in BROKER_KEYS:
            why = why_unsupported(name)
            if why is None:
                raise InvalidConfig(f"Unknown broker config name: {name}")
            raise InvalidConfig(f"Broker config {name} is not supported by kwire: {why}")
    fixed = sorted(name for name in texts if not BROKER_KEYS[name].dynamic)
    if fixed:
        names = ", ".join(fixed)
        raise InvalidRequest(f"Cannot update these configs dynamically: [{names}]")
    try:
        layers.with_dynamic(broker={**layers.dynamic_broker, **texts})
    except InvalidConfig as refused:
        # KAFKA-13609: Kafka answers INVALID_REQUEST here, and clients have come to rely on it.
        raise InvalidRequest(refused.message) from None
