"""How requests become samples, and outputs answers: one file per protocol that trainers speak."""

from plaudit.serving.protocols.native import NativeProtocol
from plaudit.serving.protocols.nemo_gym import NemoGymProtocol
from plaudit.serving.protocols.openrlhf import OpenRLHFProtocol
from plaudit.serving.protocols.protocol import ServingProtocol
from plaudit.serving.protocols.slime import SlimeProtocol

__all__ = ["PROTOCOLS"]

PROTOCOLS: dict[str, ServingProtocol] = {
    protocol.path: protocol for protocol in (NativeProtocol(), OpenRLHFProtocol(), SlimeProtocol(), NemoGymProtocol())
}
"""Every protocol by its path."""
