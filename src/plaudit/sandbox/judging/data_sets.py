"""Convert unmodified rows of popular data sets to the few formats of suites.

The columns of a row decide, never the name of the data set: HumanEval, MBPP and KodCode have tests already; APPS and
TACO keep pairs in `input_output`, CodeContests in `public_tests` and the like, LiveCodeBench in JSON texts of cases of
which the private ones are packed; AceCode has `test_cases`, LeetCode-style rows an entry point `Solution().f`.
"""

import ast
import base64
import binascii
import contextlib
import json
import pickletools
import zlib
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from plaudit.errors import InvalidTrajectory

MOST_UNPACKED = 1 << 29
# What a program finds imported on the sites whose starter code is `class Solution`.
SITE_IMPORTS = [
    *(f"from {name} import *" for name in ("collections", "heapq", "bisect", "itertools", "functools", "math")),
    "from builtins import *",  # `pow` is not that of math
    "from typing import *",
    "import bisect, collections, copy, datetime, functools, heapq, itertools, json, math, operator, random, re, string",
]
# The columns that tests may be in, those of the data set's own choice first.
GIVEN = ("test_file", "tests", "test", "test_list", "inputs")
PACKED = ("input_output", "verification_info")
BY_TOKENS = ("public_tests", "private_tests", "generated_tests")  # CodeContests compares word by word
CASES = (*BY_TOKENS, "public_test_cases", "private_test_cases", "official_tests", "test_cases")
PLAIN_OPCODES = {
    "PROTO", "FRAME", "BINUNICODE", "SHORT_BINUNICODE", "BINUNICODE8", "UNICODE", "MEMOIZE", "BINPUT", "LONG_BINPUT",
    "PUT", "STOP",
}  # fmt: skip


def has_tests(row: Mapping[str, Any]) -> bool:
    """Whether a row has a column that tests may be in."""
    values = [row.get(column) for column in (*GIVEN, *PACKED, *CASES)]
    return any(isinstance(value, str | Sequence | Mapping) and len(value) > 0 for value in values)


def read_row(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """A row with `tests`, or `inputs` and `outputs`, whatever its columns; InvalidTrajectory if it is damaged."""
    for column in PACKED:
        inner = _decode(column, row.get(column))
        if isinstance(inner, Mapping):
            row = {**row, **inner}
    row = _with_code_prompt(_with_set_up(row))
    tests_column = next((column for column in GIVEN if row.get(column)), None)
    if tests_column is not None:
        return _with_decoded_tests(row, tests_column)
    columns = [column for column in CASES if row.get(column)]
    return _with_cases(row, columns) if columns else row


def _with_set_up(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """MBPP: code that its tests need is imported along with what they import."""
    code = row.get("test_setup_code")
    if not isinstance(code, str) or not code.strip():
        return row
    imports = row.get("test_imports") or []
    return {**row, "test_imports": [*([imports] if isinstance(imports, str) else imports), code]}


def _with_code_prompt(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """A prompt in words, as MBPP has it, is no code that helps the tests."""
    prompt = row.get("prompt")
    if not isinstance(prompt, str) or _is_code(prompt) or prompt.rstrip().endswith(":"):
        return row
    return {**row, "prompt": ""}


def _is_code(text: str) -> bool:
    try:
        return bool(ast.parse(text).body)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False


def _with_decoded_tests(row: Mapping[str, Any], column: str) -> Mapping[str, Any]:
    """Tests that are a JSON text, or a list of cases, as what they hold."""
    tests = row[column]
    if isinstance(tests, str) and tests.lstrip()[:1] in ("{", "["):
        with contextlib.suppress(InvalidTrajectory):  # a text of Python may begin so, too
            tests = _decode(column, tests)
    if isinstance(tests, Mapping) and "inputs" in tests:
        return {**_without(row, column), **tests}
    if column != "inputs" and _are_cases(tests):
        return _with_pairs(_without(row, column), list(tests))
    return {**row, column: tests}


def _with_cases(row: Mapping[str, Any], columns: list[str]) -> Mapping[str, Any]:
    if file := row.get("input_file"):
        raise InvalidTrajectory(f"these programs read the file {file!r:.60}, not standard input")
    cases: list[Any] = []
    for column in columns:
        cases += _cases(column, row[column])
    if not cases:
        raise InvalidTrajectory(f"no tests in {', '.join(columns)}")
    rest = {key: value for key, value in row.items() if key not in columns}
    if set(columns) & set(BY_TOKENS):
        rest = {"compare": "tokens", **rest}
    if all(isinstance(case, str) for case in cases):
        return {**rest, "tests": cases}
    return _with_pairs(rest, cases)


def _cases(column: str, value: Any) -> list[Any]:
    """The cases of one column: a list of them, lists of inputs and outputs, or either as a text."""
    cases = _decode(column, value)
    if isinstance(cases, Mapping) and {"input", "output"} <= cases.keys():
        inputs, outputs = cases["input"], cases["output"]
        if not isinstance(inputs, Sequence) or not isinstance(outputs, Sequence) or len(inputs) != len(outputs):
            raise InvalidTrajectory(f"{column!r} needs as many outputs as inputs")
        return [{"input": text, "output": out} for text, out in zip(inputs, outputs, strict=True)]
    if isinstance(cases, Sequence) and not isinstance(cases, str | bytes):
        return list(cases)
    raise InvalidTrajectory(f"{column!r} holds a list of cases, got {type(cases).__name__}")


def _are_cases(tests: Any) -> bool:
    is_list = isinstance(tests, Sequence) and not isinstance(tests, str | bytes) and len(tests) > 0
    return is_list and all(isinstance(case, Mapping) and {"input", "output"} <= case.keys() for case in tests)


def _with_pairs(row: Mapping[str, Any], cases: list[Any]) -> Mapping[str, Any]:
    """Cases with an input and an output as pairs; those of a function need its name."""
    if not _are_cases(cases):
        raise InvalidTrajectory("each test has an 'input' and an 'output'")
    kinds = {str(case.get("testtype") or case.get("type") or "") for case in cases}
    names = {name for case in cases if (name := case.get("fn_name"))} | {name for name in (_function(row),) if name}
    pairs = {"inputs": [case["input"] for case in cases], "outputs": [case["output"] for case in cases]}
    if not any("func" in kind for kind in kinds):
        return {**row, **pairs, "fn_name": None, "entry_point": None}
    if len(names) != 1:
        raise InvalidTrajectory(f"tests of a function need its name, found {sorted(names) or 'none'}")
    return {**row, **pairs, "fn_name": names.pop(), "test_imports": SITE_IMPORTS}


def _function(row: Mapping[str, Any]) -> str | None:
    """The function that is tested, as LiveCodeBench keeps it in a JSON text of its own."""
    metadata = _decode("metadata", row.get("metadata")) if row.get("metadata") else None
    named = metadata.get("func_name") if isinstance(metadata, Mapping) else None
    name = row.get("fn_name") or row.get("entry_point") or named
    return name if isinstance(name, str) else None


def _without(row: Mapping[str, Any], column: str) -> dict[str, Any]:
    return {key: value for key, value in row.items() if key != column}


def _decode(column: str, value: Any) -> Any:
    """The value of a column, decoded if it is JSON text, packed or not."""
    if isinstance(value, bytes):
        value = value.decode(errors="replace")
    if not isinstance(value, str) or not value.strip():
        return value
    return decode_text(column, value)


@lru_cache(maxsize=32)
def decode_text(column: str, text: str) -> Any:
    """The decoded JSON text of a column, packed or not."""
    for read in _READERS:
        try:
            return json.loads(read(text))  # not msgspec, which makes floats of long integers
        except (ValueError, RecursionError, zlib.error):
            continue
    raise InvalidTrajectory(f"{column!r} holds {text!r:.60}, which is neither JSON nor packed JSON")


def _unpack(text: str) -> str:
    """LiveCodeBench packs JSON: pickled, compressed, in base 64. The pickle is read, never run."""
    try:
        packed = base64.b64decode(text, validate=True)
    except binascii.Error as error:
        raise ValueError("no base 64") from error
    opened = zlib.decompressobj()
    content = opened.decompress(packed, MOST_UNPACKED)
    if opened.unconsumed_tail:
        raise ValueError("too large")
    return _pickled_text(content)


def _pickled_text(content: bytes) -> str:
    """The one text that a pickle holds; ValueError if it holds anything else, as that could run code."""
    texts = []
    for operation, argument, _ in pickletools.genops(content):
        if operation.name not in PLAIN_OPCODES:
            raise ValueError(f"a pickle with {operation.name}")
        if isinstance(argument, str):
            texts.append(argument)
    if len(texts) != 1:
        raise ValueError(f"a pickle of {len(texts)} texts")
    return texts[0]


_READERS: tuple[Callable[[str], str], ...] = (str, _unpack)
