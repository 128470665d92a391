"""What a server is told: what to serve, where, to whom, and how much at once."""

import ipaddress
import re
from dataclasses import dataclass, field
from pathlib import Path

from plaudit.dialects.export import OnUnscored
from plaudit.errors import InvalidSettings

__all__ = ["HttpLimits", "ReplicaScale", "ServerSettings", "secret_of"]

SHORTEST = 16  # characters of a token
_POLICIES = (OnUnscored.RAISE, OnUnscored.MEAN, OnUnscored.NAN, OnUnscored.NONE)


@dataclass(frozen=True, slots=True)
class HttpLimits:
    """What one client may send, and how long it may take."""

    body_bytes: int = 64 << 20
    head_bytes: int = 32 << 10
    connections: int = 1024
    head_s: float = 15.0
    body_s: float = 60.0
    write_s: float = 60.0
    idle_s: float = 120.0

    def __post_init__(self) -> None:
        _check_positive(self, "body_bytes", "head_bytes", "connections", "head_s", "body_s", "write_s", "idle_s")


@dataclass(frozen=True, slots=True)
class ReplicaScale:
    """Between how many replicas Serve may choose, and which cluster they run on; None is a Ray of this machine."""

    least: int = 1
    most: int = 2
    address: str | None = None

    def __post_init__(self) -> None:
        if not 1 <= self.least <= self.most:
            raise InvalidSettings(f"need 1 <= least <= most replicas, got {self.least} and {self.most}")


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """A server of rewards: `ServerSettings(rewards=("math",), port=0)`; port 0 takes a free one.

    A reward is a spec, or `name=spec`, and is asked below its name; the first also without. Off loopback there must be
    tokens.
    """

    rewards: tuple[str, ...] = ()
    host: str = "127.0.0.1"
    port: int = 8000
    workers: int = 1
    deadline_s: float | None = 10.0
    memory_mb: int | None = None
    sandbox: bool = False
    allow_weak_sandbox: bool = False
    tokens: tuple[str, ...] = field(default=(), repr=False)
    tls_certificate: Path | None = None
    tls_key: Path | None = None
    on_unscored: str = OnUnscored.RAISE
    most_samples: int = 4096
    queue_requests: int = 2048
    queue_bytes: int = 256 << 20
    drain_s: float = 30.0
    replicas: ReplicaScale | None = None  # on Ray Serve; `workers` are then those of a replica
    http: HttpLimits = field(default_factory=HttpLimits)

    def __post_init__(self) -> None:
        _check_positive(self, "workers", "most_samples", "queue_requests", "queue_bytes")
        if not self.rewards and not self.sandbox:
            raise InvalidSettings("nothing to serve: name a reward, or --sandbox")
        if not 0 <= self.port < 1 << 16:
            raise InvalidSettings(f"a port is a number from 0 to 65535, got {self.port}")
        for name in ("deadline_s", "memory_mb"):
            if getattr(self, name) is not None:
                _check_positive(self, name)
        if self.on_unscored == OnUnscored.MASK:
            raise InvalidSettings("on_unscored=mask: no protocol of a server can mark a sample; take nan or mean")
        if self.on_unscored not in _POLICIES:
            raise InvalidSettings(f"on_unscored is one of {', '.join(_POLICIES)}, got {self.on_unscored!r}")
        if (self.tls_certificate is None) != (self.tls_key is None):
            raise InvalidSettings("TLS needs both files: --tls-cert and --tls-key")
        for token in self.tokens:
            _check_secret(secret_of(token))
        if not self.on_loopback and not self.tokens:
            raise InvalidSettings(
                f"{self.host} can be reached from other machines, so clients must show a token: give --token-file, "
                "or set PLAUDIT_TOKENS"
            )

    @property
    def on_loopback(self) -> bool:
        """Whether only this machine can reach it."""
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"


def secret_of(token: str) -> str:
    """What a client shows of a token, which may stand behind the name of the client: `name: token`."""
    return token.rpartition(":")[2].strip()


def _check_secret(secret: str) -> None:
    if len(secret) < SHORTEST:
        raise InvalidSettings(f"a token has at least {SHORTEST} characters; make one by `openssl rand -hex 32`")
    if re.fullmatch("[!-~]+", secret) is None:
        raise InvalidSettings(
            "a token is made of letters, digits and signs of ASCII, which every client can put into a header; "
            "make one by `openssl rand -hex 32`"
        )


def _check_positive(settings: object, *names: str) -> None:
    for name in names:
        if not getattr(settings, name) > 0:
            raise InvalidSettings(f"{name} must be positive, got {getattr(settings, name)!r}")
