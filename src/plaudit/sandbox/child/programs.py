"""The service that runs Python programs."""

from plaudit.sandbox.child.protocol import Service
from plaudit.sandbox.child.runtime import make_service

__all__ = ["SERVICE"]

SERVICE = Service(make_service)
