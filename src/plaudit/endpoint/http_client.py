"""A model on a server with OpenAI's protocol: judges, samplers and users of worlds share its declaration and client.

The key is sent in a header and removed from the answers of the server. Proxies and keys of the environment are not
used. Rate limits, retries and time limits are those of the channel that calls `post`.
"""

import functools
import os
import ssl
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec

from plaudit.endpoint.channel import Channel, EndpointPolicy
from plaudit.endpoint.transient import HttpRefusal
from plaudit.errors import InvalidSettings, require
from plaudit.settings import read_settings, set_field

MAX_BODY = 8 << 20
MAX_CHARACTERS = 300


@dataclass(frozen=True, eq=False)
class ModelServer:
    """A model on a server with OpenAI's protocol; all calls share the limits of `policy`.

    A key is named by where it is: an environment variable, or a file. The key itself is kept in no object. It is read
    when it is sent, so it is never printed, logged or pickled, and a worker on another machine reads its own.
    """

    url: str
    model: str
    _: KW_ONLY
    policy: EndpointPolicy | Mapping[str, Any] = field(default_factory=EndpointPolicy)
    api_key_env: str | None = None
    """The environment variable that holds the key."""
    api_key_file: str | None = None
    """The file that holds the key."""
    channel: Channel = field(init=False, repr=False)

    def __post_init__(self) -> None:
        set_field(self, "url", check_url(self.url))
        if not isinstance(self.model, str) or not self.model:
            raise InvalidSettings(f"model is the name under which the server knows the model, got {self.model!r}")
        if self.api_key_env is not None and self.api_key_file is not None:
            raise InvalidSettings("give api_key_env or api_key_file, not both")
        policy = read_settings(EndpointPolicy, self.policy, "policy")
        set_field(self, "policy", policy)
        set_field(self, "channel", Channel(policy))

    def read_key(self) -> str | None:
        """The key, or an error that names where it was looked for; None if no place is named."""
        if self.api_key_env is not None:
            key = os.environ.get(self.api_key_env, "").strip()
            if not key:
                raise InvalidSettings(
                    f"the environment variable {self.api_key_env} holds no key; set it, or api_key_file"
                )
        elif self.api_key_file is not None:
            try:
                key = Path(self.api_key_file).expanduser().read_text(encoding="utf-8").strip()
            except (OSError, UnicodeDecodeError) as error:
                raise InvalidSettings(f"cannot read the key in {self.api_key_file}: {type(error).__name__}") from None
            if not key:
                raise InvalidSettings(f"the file {self.api_key_file} holds no key")
        else:
            return None
        if not key.isascii() or not key.isprintable() or " " in key:
            place = self.api_key_env or self.api_key_file
            raise InvalidSettings(f"{place} does not hold a key: a key is one printable word")
        return key


class HttpClient:
    """Connections to one server, for the calls of one batch.

    Each connection has an httpx client of its own: one client looks through all its connections for every request,
    which takes longer than all the rest when there are 32 of them.
    """

    def __init__(self, url: str, key: str | None, *, purpose: str) -> None:
        self._url, self._key = url, key
        self._httpx: Any = require("httpx2", extra="endpoints", purpose=purpose)
        self._clients: list[Any] = []
        self._idle: list[Any] = []

    async def post(self, path: str, body: Any) -> bytes:
        """The body of an answer with status 200; HttpRefusal for any other status."""
        client = self._idle.pop() if self._idle else self._open_client()
        try:
            response, content = await self._exchange(client, f"{self._url}{path}", msgspec.json.encode(body))
        finally:
            self._idle.append(client)
        if response.status_code != 200:
            text = " ".join(content[:MAX_CHARACTERS].decode("utf-8", "replace").split())
            message = f"HTTP {response.status_code}: {text}{_remedy(response.status_code)}"
            raise HttpRefusal(response.status_code, message, dict(response.headers))
        return content

    async def close(self) -> None:
        """Close all connections."""
        for client in self._clients:
            await client.aclose()

    def _open_client(self) -> Any:
        client = self._httpx.AsyncClient(
            trust_env=False,
            verify=_tls(),
            timeout=None,  # the channel ends an attempt that takes too long
            headers={"authorization": f"Bearer {self._key}"} if self._key else {},
        )
        self._clients.append(client)
        return client

    async def _exchange(self, client: Any, address: str, body: bytes) -> tuple[Any, bytes]:
        content = bytearray()
        headers = {"content-type": "application/json"}
        async with client.stream("POST", address, content=body, headers=headers) as response:
            async for part in response.aiter_bytes():
                content += part
                if len(content) > MAX_BODY:
                    raise HttpRefusal(413, f"the answer is larger than {MAX_BODY >> 20} MB", {})
        return response, bytes(content).replace(self._key.encode(), b"(key)") if self._key else bytes(content)


def check_url(url: Any) -> str:
    """The address of a server without a trailing slash; raises InvalidSettings for anything else."""
    try:
        parts = urlsplit(url)
        valid = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except (ValueError, AttributeError, TypeError):
        valid, parts = False, urlsplit("")
    if not valid:
        raise InvalidSettings(f"the url of an endpoint is like 'http://127.0.0.1:8000/v1', got {url!r:.80}")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise InvalidSettings("the url of an endpoint holds no key, no query and no fragment; see api_key_env")
    return str(url).rstrip("/").removesuffix("/chat/completions")


def _remedy(status: int) -> str:
    if status in (401, 403):
        return "; name where its key is, by api_key_env or api_key_file"
    return "; the url ends where /chat/completions begins, most often in /v1" if status == 404 else ""


@functools.cache
def _tls() -> ssl.SSLContext:
    """One context for all connections: making one takes longer than a call."""
    return ssl.create_default_context()
