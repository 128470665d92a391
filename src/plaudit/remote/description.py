"""What reward servers say about the reward they serve."""

import contextlib
from collections.abc import Sequence
from typing import Any

import msgspec

from plaudit.endpoint.policy import EndpointPolicy
from plaudit.endpoint.refusal import HttpRefusal
from plaudit.errors import RewardNotLoaded, TransientError
from plaudit.remote.servers import ServerLink
from plaudit.remote.tokens import split_token

__all__ = ["ask_description", "describe_servers"]

DESCRIBE_S = 10.0
NOT_ALLOWED, NOT_READY = 405, (429, 502, 503, 504)


def describe_servers(urls: Sequence[str], policy: EndpointPolicy) -> dict[str, Any] | None:
    """The description of the reward; None where the servers are not plaudit's. At least one server must answer."""
    found: dict[str, dict[str, Any] | None] = {}
    silent: list[str] = []
    for url in urls:
        link = ServerLink(url, policy)
        try:
            found[url] = ask_description(link)
        except (OSError, TransientError) as error:
            silent.append(str(error))
        finally:
            link.close()
    if not found:
        raise RewardNotLoaded(
            f"no reward server answers: {'; '.join(silent)}; start one by `plaudit serve REWARD`, or check the URL"
        )
    if len({about and about["key"] for about in found.values()}) > 1:
        served = ", ".join(
            f"{split_token(url)[0]} ({about['key'] if about else 'not plaudit'})" for url, about in found.items()
        )
        raise RewardNotLoaded(f"these servers do not serve the same reward: {served}")
    return next(iter(found.values()))


def ask_description(link: ServerLink) -> dict[str, Any] | None:
    """The description of the reward at one URL; None where the server is not plaudit's."""
    try:
        reply = link.ask(None, {}, timeout_s=DESCRIBE_S)
        return _read_description(link.url, reply.body) if "x-plaudit-version" in reply.headers else None
    except HttpRefusal as refused:
        if refused.status in NOT_READY:  # it starts or stops, or a proxy cannot reach it
            raise TransientError(str(refused)) from None
        if "x-plaudit-version" not in refused.headers:
            return None
        if refused.status != NOT_ALLOWED:
            raise RewardNotLoaded(str(refused)) from None
        if link.url.endswith("/get_reward"):
            return None
        raise RewardNotLoaded(f"{link.url} is the path of a protocol; a reward is http://host:8000/name") from None


def _read_description(url: str, body: bytes) -> dict[str, Any]:
    """The reward of a page of plaudit; the page `/` lists all of them, the first counts."""
    with contextlib.suppress(msgspec.DecodeError):
        about = msgspec.json.decode(body)
        if isinstance(about, dict) and isinstance(about.get("rewards"), list):
            about = next(iter(about["rewards"]), None)
        if isinstance(about, dict) and "score" in about.get("protocols", ()):
            return about
    raise RewardNotLoaded(f"{url} is a page of plaudit, not a reward; a reward is http://host:8000/name")
