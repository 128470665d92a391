"""The token of a client, from the environment or from a URL; it is hidden in all output, files and logs."""

import os
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

from plaudit.errors import RewardNotLoaded

TOKEN = "PLAUDIT_TOKEN"
HIDDEN = "***"
_IN_URL = re.compile(r"(https?://(?:(?!,https?://)[^\s/:])*):(?:(?!,https?://)[^\s/])*@", re.IGNORECASE)
_PORT = re.compile(r".*:\d*|[^:]*|\[.*\]")
_SENDABLE = re.compile("[!-~]*")


def environment_token() -> str | None:
    """The token of the environment; white space around it comes from the file that it was read from."""
    token = os.environ.get(TOKEN, "").strip()
    if _SENDABLE.fullmatch(token) is None:
        raise RewardNotLoaded(f"{TOKEN} holds what no token does: white space, or characters beyond ASCII")
    return token or None


def split_token(url: str) -> tuple[str, str | None]:
    """A URL without its token, which is the password in `http://any:TOKEN@host:8000/name`, and that token.

    The token is None if the URL has none or if `hide_tokens` replaced it.
    """
    scheme, _, rest = url.partition("://")
    authority, slash, path = rest.partition("/")
    credentials, at, host = authority.rpartition("@")
    if not at and "@" in path and _PORT.fullmatch(authority) is None:
        bare = f"{scheme}://{path.rpartition('@')[2]}"
        raise RewardNotLoaded(f"the token before {bare} holds a slash; write it as %2F")
    if not at:
        return url, None
    token = unquote(credentials.partition(":")[2])
    if _SENDABLE.fullmatch(token) is None:
        raise RewardNotLoaded(f"the token before {scheme}://{host} holds white space, or characters beyond ASCII")
    return f"{scheme}://{host}{slash}{path}", token if token and token != HIDDEN else None


def hide_tokens(value: Any) -> Any:
    """A text, or plain values that hold texts, with the tokens in URLs hidden, for files and logs that stay."""
    match value:
        case str():
            return _IN_URL.sub(rf"\1:{HIDDEN}@", value)
        case Mapping():
            return {name: hide_tokens(each) for name, each in value.items()}
        case list():
            return [hide_tokens(each) for each in value]
    return value
