"""The OpenAPI document of a server, as far as its rewards and protocols go."""

from typing import Any

from plaudit.version import __version__

__all__ = ["describe_api"]


def describe_api(rewards: dict[str, dict[str, Any]], needs_token: bool) -> dict[str, Any]:
    """The document, for rewards by their names."""
    return {"openapi": "3.1.0", "info": {"title": "plaudit", "version": __version__}, "paths": {}}
