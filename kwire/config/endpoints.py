"""Where the broker listens, and what it tells clients to connect to.

`NAME://host:port`, comma separated. The name is the protocol, unless
`listener.security.protocol.map` says which protocol it stands for. An empty host
listens everywhere. Only PLAINTEXT is served.
"""

import re
import socket
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from kwire.config.keys import ConfigType, Parser, split_list
from kwire.errors import InvalidConfig

PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
_ENDPOINT = re.compile(r"([^:/]*)://\[?([0-9a-zA-Z\-%._:]*?)\]?:([0-9]+)", re.ASCII)


class Endpoint(NamedTuple):
    """One listener. Port 0 is a free port that the operating system picks."""

    name: str
    host: str
    port: int

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.name}://{host}:{self.port}"


def endpoints() -> Parser[tuple[Endpoint, ...]]:
    return Parser(ConfigType.STRING, _read_endpoints, _show_endpoints, "NAME://host:port, ...")


def _read_endpoints(text: str) -> tuple[Endpoint, ...]:
    found = tuple(_read_endpoint(item) for item in split_list(text))
    names = [endpoint.name for endpoint in found]
    if len(set(names)) != len(names):
        raise ValueError("Each listener must have a different name")
    return found


def _read_endpoint(text: str) -> Endpoint:
    matched = _ENDPOINT.fullmatch(text)
    if matched is None or int(matched[3]) > 65535:
        raise ValueError(f"Unable to parse {text} to a broker endpoint")
    return Endpoint(matched[1].upper(), matched[2], int(matched[3]))


def _show_endpoints(found: Sequence[Endpoint]) -> str:
    return ",".join(map(str, found))


def protocol_map() -> Parser[Mapping[str, str]]:
    """`NAME:PROTOCOL,...`; names that no listener uses may stand for anything."""
    return Parser(ConfigType.STRING, _read_protocols, _show_protocols, "NAME:PROTOCOL, ...")


def _read_protocols(text: str) -> Mapping[str, str]:
    protocols: dict[str, str] = {}
    for item in split_list(text):
        name, _, protocol = item.rpartition(":")
        if not name or protocol.strip().upper() not in PROTOCOLS:
            raise ValueError(f"No security protocol in {item!r}")
        protocols[name.strip().upper()] = protocol.strip().upper()
    return protocols


def _show_protocols(protocols: Mapping[str, str]) -> str:
    return ",".join(f"{name}:{protocol}" for name, protocol in protocols.items())


def connection_limits() -> Parser[Mapping[str, int]]:
    """`address:count,...`; a name would have to be looked up, so addresses only."""
    return Parser(ConfigType.STRING, _read_limits, _show_limits, "address:count, ...")


def _read_limits(text: str) -> Mapping[str, int]:
    limits: dict[str, int] = {}
    for item in split_list(text):
        host, _, count = item.rpartition(":")
        address = host.strip().strip("[]")
        if not _is_address(address) or not (count.isascii() and count.strip().isdigit()):
            raise ValueError(f"{item} is not of the form address:count")
        limits[address] = int(count)
    return limits


def _is_address(text: str) -> bool:
    for family in (socket.AF_INET, socket.AF_INET6):
        try:
            socket.inet_pton(family, text)
        except OSError:
            continue
        return True
    return False


def _show_limits(limits: Mapping[str, int]) -> str:
    return ",".join(f"{host}:{count}" for host, count in limits.items())


def check_listeners(
    listeners: Sequence[Endpoint], advertised: Sequence[Endpoint], protocols: Mapping[str, str]
) -> None:
    """Refuse what cannot be served or could not be reached."""
    if not listeners:
        raise InvalidConfig("listeners must name at least one listener")
    names = {endpoint.name for endpoint in listeners}
    for endpoint in listeners:
        protocol = protocols.get(endpoint.name)
        if protocol is None:
            raise InvalidConfig(f"No security protocol defined for listener {endpoint.name}")
        if protocol != "PLAINTEXT":
            raise InvalidConfig(
                f"listener {endpoint.name} asks for {protocol}: only PLAINTEXT is supported yet"
            )
    for endpoint in advertised:
        if endpoint.name not in names:
            raise InvalidConfig(
                "advertised.listeners listener names must be equal to or a subset of the ones"
                f" defined in listeners. Found {endpoint.name}."
            )
        if endpoint.host in ("0.0.0.0", "::"):
            raise InvalidConfig(
                f"advertised.listeners cannot use the nonroutable meta-address {endpoint.host}."
                " Use a routable IP address."
            )


def reachable(
    advertised: Sequence[Endpoint], bound_ports: Mapping[str, int], host_name: str
) -> tuple[Endpoint, ...]:
    """What to tell clients once the sockets are bound: no empty host, no port 0."""
    return tuple(
        Endpoint(name, host or host_name, port or bound_ports[name])
        for name, host, port in advertised
    )
