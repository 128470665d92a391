"""Plain data to one JSON line and back, without loss.

The fast encoders write NaN as null and sets as lists; here that is an error which says where the value sits, because a
rollouts file that changes what it stores is worse than one that refuses. Tuples are written as lists.
"""

import json
import math
from typing import Any

import msgspec

__all__ = ["InvalidJSON", "NotPlain", "TruncatedJSON", "decode", "encode"]


class NotPlain(ValueError):
    """A value that JSON cannot hold without changing it."""


class InvalidJSON(ValueError):
    """Bytes that are not one JSON value."""


class TruncatedJSON(InvalidJSON):
    """The beginning of a JSON value whose end is missing."""


_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder()


def encode(value: Any) -> bytes:
    """One line of JSON without its newline; raises `NotPlain` for what would not come back equal."""
    try:
        _check(value, "")
        return _encoder.encode(value)
    except UnicodeEncodeError:  # lone surrogates: only \\u escapes can carry them
        return json.dumps(value, separators=(",", ":")).encode()
    except RecursionError:
        raise NotPlain("it is nested too deeply") from None


def decode(line: bytes) -> Any:
    """The value a line of JSON holds."""
    try:
        return _decoder.decode(line)
    except UnicodeDecodeError as error:
        raise InvalidJSON(f"not UTF-8: byte 0x{error.object[error.start]:02x} ({error.reason})") from None
    except RecursionError:
        raise InvalidJSON("nested too deeply") from None
    except msgspec.DecodeError as error:
        if b"\\ud" in line.lower():
            return _decode_surrogates(line)
        if "truncated" in str(error):
            raise TruncatedJSON("the line ends in the middle of a value") from None
        raise InvalidJSON(_in_our_words(error)) from None


def _decode_surrogates(line: bytes) -> Any:
    """The standard library accepts the lone surrogates that msgspec refuses."""
    try:
        return json.loads(line, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        rest = len(error.doc.rstrip()) - error.pos
        if rest <= 0 or "Unterminated" in error.msg or ("escape" in error.msg and rest < len(r"\uXXXX\uXXXX")):
            raise TruncatedJSON("the line ends in the middle of a value") from None
        raise InvalidJSON(f"{error.msg} (character {error.pos})") from None


def _refuse_constant(name: str) -> Any:
    raise InvalidJSON(f"{name} is not JSON")


def _in_our_words(error: msgspec.DecodeError) -> str:
    return str(error).removeprefix("JSON is malformed: ")


def _check(value: Any, path: str) -> None:
    kind = type(value)
    if kind is str or kind is int or kind is bool or value is None:
        return
    if kind is float:
        if not math.isfinite(value):
            raise NotPlain(f"{path or 'it'} is {value}, which JSON cannot hold; use None for a missing number")
    elif kind is dict:
        for key, item in value.items():
            if type(key) is not str:
                raise NotPlain(f"{path or 'it'} has the key {key!r}; JSON keys are text, so use {str(key)!r}")
            _check(item, f"{path}.{key}" if path else key)
    elif kind is list or kind is tuple:
        for index, item in enumerate(value):
            _check(item, f"{path}[{index}]")
    else:
        raise NotPlain(
            f"{path or 'it'} is a {kind.__name__}; JSON holds text, numbers, true/false, null, lists and objects"
        )
