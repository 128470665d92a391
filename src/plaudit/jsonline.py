"""Plain data to one JSON line and back, without loss.

The fast encoders write NaN as null and sets as lists; here that is an error which says where the value sits, because a
rollouts file that changes what it stores is worse than one that refuses. Tuples are written as lists.
"""

import codecs
import json
import math
import re
from typing import Any

import msgspec

MAX_DEPTH = 50


class NotPlain(ValueError):
    """A value that JSON cannot hold without changing it."""


class InvalidJSON(ValueError):
    """Bytes that are not one JSON value."""


class TruncatedJSON(InvalidJSON):
    """The beginning of a JSON value whose end is missing."""


def as_plain(value: Any, depth: int = 0) -> Any:
    """`value` as JSON can hold it, for notes to people: tensors as lists, everything else unknown as text."""
    kind = type(value)
    if kind is str or kind is int or kind is bool or value is None:
        return value
    if kind is float:
        return value if math.isfinite(value) else str(value)
    if depth > MAX_DEPTH:
        return str(value)
    if isinstance(value, dict):
        return {str(key): as_plain(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [as_plain(item, depth + 1) for item in value]
    if hasattr(value, "tolist"):  # numpy and torch, without importing either
        return as_plain(value.tolist(), depth + 1)
    return str(value)


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
        raise _diagnose(line, _in_our_words(error)) from None


def _decode_surrogates(line: bytes) -> Any:
    """The standard library accepts the lone surrogates that msgspec refuses."""
    try:
        return _standard_decode(line.decode())
    except UnicodeDecodeError as error:
        raise _diagnose(line, f"not UTF-8: byte 0x{line[error.start]:02x} ({error.reason})") from None
    except RecursionError:
        raise InvalidJSON("nested too deeply") from None
    except json.JSONDecodeError as error:
        raise _diagnose(line, f"{error.msg} (character {error.pos})") from None


def _standard_decode(text: str) -> Any:
    return json.loads(text, parse_constant=_refuse_constant, parse_float=_finite)


def _diagnose(line: bytes, reason: str) -> InvalidJSON:
    if _is_beginning(line):
        return TruncatedJSON("the line ends in the middle of a value")
    return InvalidJSON(reason)


_PIECE = re.compile(rb'"(?:[^"\\]++|\\.)*+("?)|[\[\]{}]', re.DOTALL)
_OPEN_STRING = re.compile(r'("(?:[^"\\]++|\\u[0-9a-fA-F]{4}|\\[^u])*+)(?:\\(?:u[0-9a-fA-F]{0,3})?)?', re.DOTALL)
_CLOSERS = {b"{": "}", b"[": "]"}
_ENDINGS = ("", "0", ":0", '"":0', "rue", "ue", "e", "alse", "lse", "se", "ull", "ll", "l")


def _is_beginning(line: bytes) -> bool:
    """Whether something put behind `line` would make it one JSON value."""
    closers, body = "", line
    for piece in _PIECE.finditer(line):
        if piece[0] in _CLOSERS:
            closers = _CLOSERS[piece[0]] + closers
        elif piece[0] in (b"}", b"]"):
            closers = closers[1:]
        elif not piece[1]:  # a string without its closing quote: always the last piece
            body = line[: piece.start()]
    try:
        text = body.decode() + _close_string(line[len(body) :])
    except UnicodeDecodeError:
        return False
    return any(_is_json(text + ending + closers) for ending in _ENDINGS)


def _close_string(opened: bytes) -> str:
    """A string that was cut off anywhere, without its last half character or escape and with its closing quote."""
    text = codecs.getincrementaldecoder("utf-8")().decode(opened)
    whole = _OPEN_STRING.fullmatch(text)
    return f'{whole[1]}"' if whole else text


def _is_json(text: str) -> bool:
    try:
        _standard_decode(text)
    except (ValueError, RecursionError):
        return False
    return True


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise InvalidJSON(f"the number {digits:.40} is out of range")
    return number


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
