"""Settings from environment variables, by the rule of Kafka's own container image.

`KAFKA_` or `KWIRE_`, then the key in capitals with `.` written `_`, `_` written `__` and `-`
written `___`. KWIRE_ wins over KAFKA_. Without KAFKA_LISTENERS the advertised listeners are
listened on, at every address.
"""

from collections.abc import Mapping

from kwire.config.endpoints import Endpoint, endpoints
from kwire.config.keys import invalid_value

PREFIXES = ("KAFKA_", "KWIRE_")

# What scripts and images around Kafka set for themselves; none of it is a setting of the broker.
_NOT_SETTINGS = frozenset(
    {
        "BOOTSTRAP_SERVER",
        "CLUSTER_ID",
        "CREATE_TOPICS",
        "DEBUG",
        "GID",
        "HEAP_OPTS",
        "HOME",
        "OPTS",
        "PORT",
        "SERVICE_HOST",
        "SERVICE_PORT",
        "UID",
        "USER",
        "VERSION",
    }
)
_NOT_SETTINGS_PREFIXES = ("CFG_", "GC_LOG_", "JMX_", "JVM_", "LOG4J_", "PORT_", "SCALA_", "TOOLS_")


def from_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """The settings in an environment, by the key's name."""
    found: dict[str, str] = {}
    for prefix in PREFIXES:
        for variable, value in environ.items():
            rest = variable.removeprefix(prefix)
            if rest and rest != variable and not _is_about_something_else(rest):
                found[_key_name(rest)] = value
    if "listeners" not in found and found.get("advertised.listeners"):
        found["listeners"] = _everywhere(found["advertised.listeners"])
    return found


def _is_about_something_else(rest: str) -> bool:
    return rest in _NOT_SETTINGS or rest.startswith(_NOT_SETTINGS_PREFIXES)


def _key_name(rest: str) -> str:
    dashed = rest.replace("___", "-").replace("__", "\0").replace("_", ".")
    return dashed.replace("\0", "_").lower()


def _everywhere(advertised: str) -> str:
    try:
        found = endpoints().read(advertised)
    except ValueError as refused:
        raise invalid_value("advertised.listeners", advertised, str(refused)) from None
    return ",".join(str(Endpoint(one.name, "0.0.0.0", one.port)) for one in found)
