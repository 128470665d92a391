"""Who may send requests: tokens, and the protection of a loopback server against web pages.

A token comes in a header, or in the URL, because the clients of most trainers accept nothing but a URL. Several tokens
are valid at once, so that one can be replaced without a pause; a line `name: token` names the client of a token.
"""

import base64
import binascii
import functools
import hashlib
import hmac
import ipaddress
from collections.abc import Iterable
from pathlib import Path

from plaudit.errors import InvalidSettings
from plaudit.serving.settings import secret_of


def read_tokens(file: Path | None, listed: str = "") -> tuple[str, ...]:
    """The tokens of a file, one per line, and of a comma-separated list."""
    lines = [*(_lines_of(file) if file is not None else ()), *listed.split(",")]
    tokens = tuple(line.strip() for line in lines if line.strip() and not line.strip().startswith("#"))
    if file is not None and not tokens:
        raise InvalidSettings(f"{file} holds no token; write one per line, e.g. from `openssl rand -hex 32`")
    return tokens


def _lines_of(file: Path) -> list[str]:
    try:
        return file.read_text("utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise InvalidSettings(f"{file} is not a text file; write one token per line") from None


class Access:
    """The clients of a server, identified by their tokens."""

    def __init__(self, tokens: Iterable[str], host: str) -> None:
        self._digests = [_digest(secret_of(token).encode()) for token in tokens]
        self._host = host.lower()

    @property
    def needs_token(self) -> bool:
        """Whether clients must show a token."""
        return bool(self._digests)

    def is_allowed(self, headers: dict[bytes, bytes]) -> bool:
        """Whether a request shows a valid token, or needs none; takes the same time whichever token matches."""
        if not self._digests:
            return True
        shown = _digest(_shown_secret(headers.get(b"authorization", b"")))
        return sum(hmac.compare_digest(known, shown) for known in self._digests) > 0  # compares all of them

    def is_foreign_page(self, headers: dict[bytes, bytes]) -> bool:
        """Whether the request may come from a foreign web page, through a name that resolves to this server."""
        return not self._digests and self._is_foreign(headers.get(b"host", b""), b"origin" in headers)

    @functools.lru_cache(maxsize=64)  # noqa: B019 - a server has one instance
    def _is_foreign(self, header: bytes, from_page: bool) -> bool:
        host = header.decode("latin-1").lower()
        name = (host if host.endswith("]") else host.rpartition(":")[0] or host).strip("[]")
        if not name or name in ("localhost", self._host):
            return False
        try:
            address = ipaddress.ip_address(name)
        except ValueError:
            return True
        return from_page and not address.is_loopback


def _shown_secret(authorization: bytes) -> bytes:
    """The token of a header: a bearer token, or the password that a client took from its URL."""
    scheme, _, shown = authorization.partition(b" ")
    if scheme.lower() == b"bearer":
        return shown.strip()
    try:
        return base64.b64decode(shown.strip()).partition(b":")[2] if scheme.lower() == b"basic" else b""
    except binascii.Error:
        return b""


def _digest(secret: bytes) -> bytes:
    return hashlib.sha256(secret).digest()
