"""Tests in the styles that data sets come in, each as a value that travels to the judge.

Arguments and expected values are any plain data; they travel in the sandbox's own encoding, so a tuple stays a tuple.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import msgspec

from plaudit.errors import InvalidTrajectory, did_you_mean
from plaudit.sandbox.judging.data_sets import decode_text, read_row
from plaudit.sandbox.values import NotPlain, to_text


class AssertSuite(msgspec.Struct, frozen=True, tag="assert"):
    """Python statements that assert; a `check(candidate)` among them is called with the function `entry_point`.

    `imports` run before the program and before the tests. `prompt` is the data set's own code: helpers that the tests
    use come from there, never from the program.
    """

    texts: list[str]
    entry_point: str | None = None
    imports: list[str] = []
    prompt: str = ""


class CallSuite(msgspec.Struct, frozen=True, tag="call"):
    """Calls of one function (or method of `class Solution`) with what they must return.

    `tolerance` compares numbers by relative and absolute difference; `in_place` looks at the first argument afterwards;
    `is_wrapped` says that the data set put each expected value into a list of one.
    """

    function: str
    cases: list[tuple[str, str]]  # arguments and expected value, in the sandbox's encoding
    tolerance: float | None = None
    in_place: bool = False
    imports: list[str] = []
    is_wrapped: bool = False


class StreamSuite(msgspec.Struct, frozen=True, tag="stream"):
    """Standard input and the output it must give.

    `compare` is "lines" (as many lines, each equal but for trailing blanks), "tokens" or "floats" (tokens, numbers
    within `tolerance`). `checker` is source text of `check(given, output, expected)`, which then decides instead.
    """

    inputs: list[str]
    outputs: list[str]
    compare: str = "lines"
    tolerance: float = 1e-6
    checker: str = ""


class FileSuite(msgspec.Struct, frozen=True, tag="file"):
    """The text of a test file as pytest or unittest would run it; `module` is the name it imports the program by."""

    text: str
    module: str | None = None
    prompt: str = ""
    entry_point: str | None = None


Suite: TypeAlias = AssertSuite | CallSuite | StreamSuite | FileSuite

TEST_FILE = re.compile(r"^\s*(?:(?:async )?def test|class Test|class \w+\(.*TestCase)", re.MULTILINE)
COMPARISONS = ("lines", "tokens", "floats")
_KEYS = {
    "tests", "test", "test_list", "entry_point", "test_imports", "imports", "prompt", "inputs", "outputs", "fn_name",
    "tolerance", "in_place", "compare", "checker", "module", "hidden_tests", "challenge_test_list", "reference",
    "input_output", "test_file", "canonical_solution", "code", "task_id", "test_setup_code", "source_file", "language",
}  # fmt: skip


def read_suite(truth: Any, prompt: str = "") -> Suite:
    """The suite that a ground truth describes, in any of the usual shapes; raises InvalidTrajectory for others."""
    if isinstance(truth, str) and truth.lstrip()[:1] in ("{", "["):
        truth = decode_text("ground truth", truth)
    if isinstance(truth, str):
        return _text_suite(truth, {}, prompt)
    if isinstance(truth, Sequence) and not isinstance(truth, bytes):
        truth = {"tests": list(truth)}  # asserts, or cases with an input and an output
    if not isinstance(truth, Mapping):
        raise InvalidTrajectory(f"tests are a text, a list of asserts or a dict, got {type(truth).__name__}")
    truth = read_row(truth)
    unknown = [key for key in truth if key not in _KEYS]
    prompt = str(truth.get("prompt") or prompt)
    for key in ("test_file", "tests", "test", "test_list"):
        if truth.get(key):
            return _read_asserts(key, truth[key], truth, prompt)
    if "inputs" in truth:
        return _read_pairs(truth)
    hint = did_you_mean(str(unknown[0]), _KEYS) if unknown else ""
    raise InvalidTrajectory(
        f"no tests among {sorted(map(str, truth)) or 'nothing'}{hint}; give 'tests' (text or list of asserts) or "
        "'inputs' with 'outputs'"
    )


def _read_asserts(key: str, tests: Any, truth: Mapping[str, Any], prompt: str) -> Suite:
    if isinstance(tests, str):
        return _text_suite(tests, truth, prompt, is_file=key == "test_file")
    if isinstance(tests, Mapping) or not isinstance(tests, Sequence):
        raise InvalidTrajectory(f"{key!r} is a text or a list of asserts, got {type(tests).__name__}")
    if wrong := next((test for test in tests if not isinstance(test, str)), None):
        raise InvalidTrajectory(f"{key!r} holds texts of Python, got {type(wrong).__name__} {wrong!r:.60}")
    return AssertSuite(list(tests), _name(truth), _imports(truth), prompt)


def _text_suite(text: str, truth: Mapping[str, Any], prompt: str, *, is_file: bool = False) -> Suite:
    if text.lstrip().startswith(">>>"):
        raise InvalidTrajectory("doctest examples are not supported: write them as asserts, `assert f(1) == 2`")
    if is_file or (TEST_FILE.search(text) and "def check(" not in text):
        imports = "\n".join([*_imports(truth), ""])
        return FileSuite(imports + text, truth.get("module"), prompt, _name(truth))
    return AssertSuite([text], _name(truth), _imports(truth), prompt)


def _name(truth: Mapping[str, Any]) -> str | None:
    name = truth.get("entry_point") or truth.get("fn_name")
    if name is not None and not isinstance(name, str):
        raise InvalidTrajectory(f"'entry_point' is the name of a function, got {name!r:.60}")
    return name


def _imports(truth: Mapping[str, Any]) -> list[str]:
    imports = truth.get("test_imports") or truth.get("imports") or []
    return [imports] if isinstance(imports, str) else [str(line) for line in imports]


def _read_pairs(truth: Mapping[str, Any]) -> Suite:
    inputs, outputs = truth["inputs"], truth.get("outputs")
    if not isinstance(inputs, Sequence) or not isinstance(outputs, Sequence) or isinstance(inputs, str):
        raise InvalidTrajectory("'inputs' and 'outputs' are lists, one entry per test")
    if len(inputs) != len(outputs) or not inputs:
        raise InvalidTrajectory(f"{len(inputs)} inputs but {len(outputs)} outputs; give one output per input")
    name = truth.get("fn_name") or truth.get("entry_point")
    if name:
        cases = [
            (_encode(_arguments(entry)), _encode(_read_expected(entry, output)))
            for entry, output in zip(inputs, outputs, strict=True)
        ]
        return CallSuite(
            str(name), cases, truth.get("tolerance"), bool(truth.get("in_place")), _imports(truth),
            is_wrapped="input_output" in truth and all(isinstance(out, list) and len(out) == 1 for out in outputs),
        )  # fmt: skip
    return _streams(inputs, outputs, truth)


def _streams(inputs: Sequence[Any], outputs: Sequence[Any], truth: Mapping[str, Any]) -> StreamSuite:
    compare = truth.get("compare", "lines")
    if compare not in COMPARISONS:
        hint = did_you_mean(str(compare), COMPARISONS)
        raise InvalidTrajectory(f"no comparison named {compare!r}{hint} (there are {', '.join(COMPARISONS)})")
    texts = [
        ["\n".join(map(str, one)) if isinstance(one, list) else str(one) for one in side] for side in (inputs, outputs)
    ]
    return StreamSuite(
        texts[0], texts[1], compare, float(truth.get("tolerance") or 1e-6), str(truth.get("checker") or "")
    )


def _arguments(entry: Any) -> list[Any]:
    """The arguments of a call: a list as it is; a text holds one JSON value per line, as in LiveCodeBench."""
    if isinstance(entry, str):
        return [decode_text("inputs", line) for line in entry.split("\n") if line.strip()]
    if not isinstance(entry, list | tuple):
        raise InvalidTrajectory(f"an input of a function is the list of its arguments, got {type(entry).__name__}")
    return list(entry)


def _read_expected(entry: Any, output: Any) -> Any:
    return decode_text("outputs", output) if isinstance(entry, str) and isinstance(output, str) else output


def _encode(value: Any) -> str:
    try:
        return to_text(value)
    except NotPlain as error:
        raise InvalidTrajectory(f"inputs and outputs of a function are plain data: {error}") from None
