"""Reward outputs as bytes that come back equal, for the cache.

Only plain data comes back as it was: a tuple or a Decimal in the metadata would return as something else, so such
outputs are not packed, and neither are failures, which may not happen again.
"""

import msgspec

from plaudit.contract.output import RewardOutput, Status
from plaudit.engine.caching.keys import is_plain

__all__ = ["packed", "unpacked"]

_LASTING = frozenset({Status.OK, Status.UNPARSED, Status.SKIPPED})
_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(RewardOutput)


def packed(output: RewardOutput) -> bytes | None:
    """The output as bytes, or None where it is not to be kept."""
    try:
        return _encoder.encode(output) if _is_lasting(output) else None
    except (OverflowError, UnicodeEncodeError, RecursionError):  # large numbers, lone surrogates, deep nesting
        return None


def unpacked(value: bytes) -> RewardOutput | None:
    """The output that was packed; None for bytes that hold none."""
    try:
        return _decoder.decode(value)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _is_lasting(output: RewardOutput) -> bool:
    return (
        output.status in _LASTING
        and type(output) is RewardOutput
        and type(output.reason) is str
        and (output.latency_s is None or type(output.latency_s) is float)
        and is_plain(output.metadata)
        and (not output.components or all(map(_is_lasting_part, output.components.items())))
    )


def _is_lasting_part(part: tuple[str, RewardOutput]) -> bool:
    return type(part[0]) is str and _is_lasting(part[1])
