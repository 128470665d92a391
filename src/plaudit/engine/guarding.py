"""Rewards that call an endpoint, by the names under which the engine offers them."""

from plaudit.endpoint.guard import guarded
from plaudit.endpoint.policy import EndpointPolicy
from plaudit.endpoint.usage import Usage

__all__ = ["EndpointPolicy", "Usage", "guarded"]
