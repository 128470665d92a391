"""How requests become samples, and outputs answers: one file per protocol that trainers speak."""

from plaudit.serving.protocols.native import NativeProtocol
from plaudit.serving.protocols.openrlhf import OpenRLHFProtocol
from plaudit.serving.protocols.protocol import ServingProtocol

__all__ = ["PROTOCOLS"]

PROTOCOLS: dict[str, ServingProtocol] = {protocol.path: protocol for protocol in (NativeProtocol(), OpenRLHFProtocol())}
"""Every protocol by its path."""
