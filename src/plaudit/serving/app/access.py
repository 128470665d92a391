"""Who may ask: tokens, compared in constant time, and the defences of a server on loopback against web pages.

A token comes in a header, or in the URL, since the clients of most trainers can be told nothing but a URL.
Several tokens are valid at once, so that one can be replaced without a pause; a line `name: token` names a client.
"""

import base64
import binascii
import contextlib
import functools
import hashlib
import hmac
import ipaddress
from collections.abc import Iterable
from pathlib import Path

from plaudit.errors import InvalidSettings
from plaudit.serving.settings import secret_of

__all__ = ["Access", "read_tokens"]


def read_tokens(file: Path | None, listed: str = "") -> tuple[str, ...]:
    """The tokens of a file, one a line, and of a comma-separated list."""
    lines = [*(_lines_of(file) if file is not None else ()), *listed.split(",")]
    tokens = tuple(line.strip() for line in lines if line.strip() and not line.strip().startswith("#"))
    if file is not None and not tokens:
        raise InvalidSettings(f"{file} holds no token; write one a line, e.g. from `openssl rand -hex 32`")
    return tokens


def _lines_of(file: Path) -> list[str]:
    try:
        return file.read_text("utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise InvalidSettings(f"{file} is not a text file; write one token a line") from None


class Access:
    """The clients of a server, known by their tokens."""

    def __init__(self, tokens: Iterable[str], host: str) -> None:
        self._digests = [
            (_digest(secret_of(token).encode()), _name_of(token, place)) for place, token in enumerate(tokens)
        ]
        self._host = host.lower()

    @property
    def needs_token(self) -> bool:
        """Whether clients must show a token."""
        return bool(self._digests)

    def client_of(self, headers: dict[bytes, bytes], peer: str) -> str | None:
        """The name of the client that a request comes from; None where it shows no valid token."""
        if not self._digests:
            named = headers.get(b"x-client")
            return peer if named is None else named.decode("latin-1")[:100]
        digest = _digest(_shown_secret(headers.get(b"authorization", b"")))
        found = None
        for known, name in self._digests:  # all of them, whichever fits
            if hmac.compare_digest(known, digest):
                found = name
        return found

    def is_foreign_page(self, headers: dict[bytes, bytes]) -> bool:
        """Whether a web page of somebody else may be asking, through a name that leads to this machine."""
        return not self._digests and self._is_foreign(headers.get(b"host", b""), b"origin" in headers)

    @functools.lru_cache(maxsize=64)  # noqa: B019 - there is one of these for a server
    def _is_foreign(self, header: bytes, from_page: bool) -> bool:
        host = header.decode("latin-1").lower()
        name = (host if host.endswith("]") else host.rpartition(":")[0] or host).strip("[]")
        if not name or name in ("localhost", self._host):
            return False
        return not _is_loopback(name) if from_page else not _is_address(name)


def _shown_secret(authorization: bytes) -> bytes:
    """The token that a header shows: as a bearer's, or as the password that a client took from its URL."""
    scheme, _, shown = authorization.partition(b" ")
    match scheme.lower():
        case b"bearer":
            return shown.strip()
        case b"basic":
            with contextlib.suppress(binascii.Error):
                return base64.b64decode(shown.strip()).partition(b":")[2]
    return b""


def _digest(secret: bytes) -> bytes:
    return hashlib.sha256(secret).digest()


def _name_of(token: str, place: int) -> str:
    return token.rpartition(":")[0].strip() or f"token {place + 1}"


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _is_loopback(name: str) -> bool:
    return _is_address(name) and ipaddress.ip_address(name).is_loopback
