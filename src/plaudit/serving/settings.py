"""Settings of a server: the rewards, the address, the tokens and the limits."""

import ipaddress
import re
from dataclasses import dataclass, field
from pathlib import Path

from plaudit.errors import InvalidSettings
from plaudit.exports.exported import OnUnscored

MIN_TOKEN_LENGTH = 16
_POLICIES = (OnUnscored.RAISE, OnUnscored.MEAN, OnUnscored.NAN, OnUnscored.NONE)
_POSITIVE = (
    "workers",
    "most_samples",
    "queue_requests",
    "queue_bytes",
    "body_bytes",
    "connections",
    "body_s",
    "idle_s",
)


@dataclass(frozen=True, slots=True)
class ReplicaScale:
    """The number of Ray Serve replicas, and the Ray cluster; address None starts Ray on this machine."""

    least: int = 1
    most: int = 2
    address: str | None = None

    def __post_init__(self) -> None:
        if not 1 <= self.least <= self.most:
            raise InvalidSettings(f"need 1 <= least <= most replicas, got {self.least} and {self.most}")


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """Settings of a server of rewards: `ServerSettings(rewards=("math",), port=0)`; port 0 takes a free one.

    A reward is a spec or `name=spec`. It is served below its name, the first one also without a name. Tokens are
    required unless the host is a loopback address.
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
    judge_certificates: tuple[Path, ...] = ()
    """Every judge in a reward needs a valid one of these; none is required where there are none."""
    most_samples: int = 4096
    queue_requests: int = 1024
    queue_bytes: int = 256 << 20
    body_bytes: int = 64 << 20
    connections: int = 2048
    body_s: float = 60.0
    """Seconds a client may take to send a body."""
    idle_s: float = 30.0
    """Seconds an idle connection stays open."""
    drain_s: float = 30.0

    def __post_init__(self) -> None:
        _check_positive(self, *_POSITIVE, *(n for n in ("deadline_s", "memory_mb") if getattr(self, n) is not None))
        if not self.rewards and not self.sandbox:
            raise InvalidSettings("nothing to serve: name a reward, or --sandbox")
        if not 0 <= self.port < 1 << 16:
            raise InvalidSettings(f"a port is a number from 0 to 65535, got {self.port}")
        if self.on_unscored == OnUnscored.MASK:
            raise InvalidSettings("on_unscored=mask: no protocol of a server can mark a sample; use nan or mean")
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
        """Whether only this machine can reach the server."""
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"


def secret_of(token: str) -> str:
    """The secret of a token line, which may begin with the name of a client: `name: token`."""
    return token.rpartition(":")[2].strip()


def _check_secret(secret: str) -> None:
    if len(secret) < MIN_TOKEN_LENGTH:
        raise InvalidSettings(f"a token has at least {MIN_TOKEN_LENGTH} characters; use `openssl rand -hex 32`")
    if re.fullmatch("[!-~]+", secret) is None:
        raise InvalidSettings("a token may hold only printable ASCII without spaces; use `openssl rand -hex 32`")


def _check_positive(settings: object, *names: str) -> None:
    for name in names:
        if not getattr(settings, name) > 0:
            raise InvalidSettings(f"{name} must be positive, got {getattr(settings, name)!r}")
