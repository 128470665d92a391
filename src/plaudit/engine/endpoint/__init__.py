"""Rewards that call an endpoint: bounded, paced, tried again, and quick to give up on one that is down."""

from plaudit.engine.endpoint.guard import guarded
from plaudit.engine.endpoint.policy import EndpointPolicy
from plaudit.engine.endpoint.usage import Usage

__all__ = ["EndpointPolicy", "Usage", "guarded"]
