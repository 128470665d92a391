"""Rewards that call an endpoint, by the names under which the engine offers them."""

from plaudit.endpoint.channel import EndpointPolicy
from plaudit.endpoint.guard import Usage, guarded

__all__ = ["EndpointPolicy", "Usage", "guarded"]
