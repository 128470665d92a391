"""Is a response data of a format, with the schema, the keys and the values that its row asks for?"""

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, ClassVar

from plaudit.errors import InvalidSettings, InvalidTrajectory
from plaudit.settings import NonNegative, as_text_tuple, check_choice, check_fields, set_field
from plaudit.trajectory import Trajectory
from plaudit.verify.patterns import compile_late
from plaudit.verify.rows import find_column, read_literal
from plaudit.verify.structured.data_formats import DATA_FORMATS, UNTYPED, MalformedData, parse_data, parse_json
from plaudit.verify.structured.fields import (
    MOST_FIELDS,
    MOST_PAIRS,
    Comparison,
    Field,
    compare_fields,
    count_leaves,
    has_path,
    read_path,
)
from plaudit.verify.structured.form import (
    Finding,
    check_code,
    check_markdown,
    check_schema,
    check_xml,
    find_misfit,
    make_strict,
    typed_by,
)
from plaudit.verify.verifier import Answer, Verdict, Verifier

FORMATS = (*DATA_FORMATS, "tool_call", "markdown", "code")
OPTIONS = {"required_tags": "xml", "required_headings": "markdown", "language": "code"}
SPELLINGS = {"yml": "yaml", "markdown table": "table", "tsv": "csv", "function_call": "tool_call", "md": "markdown"}
MOST_COMPONENTS = 200
_INDEX = compile_late(r"\[\+?\d+\]")
ROW_COLUMNS = ("schema_str", "schema_type", "raw_output_metric", "key_paths")


@dataclass(frozen=True, slots=True)
class StructuredTask:
    """The requirements for the data of a response."""

    format: str
    schema: Mapping[str, Any] | None
    paths: tuple[str, ...]
    expected: Any
    """The expected data; None where the row has none."""
    weights: Mapping[str, float]
    of_row: bool
    """Whether the row asks for something, not only the settings."""


@dataclass(frozen=True, repr=False)
class Structured(Verifier[StructuredTask]):
    """1.0 when the response is JSON or other data with all that is asked for, else the share of right fields, or 0.0.

    `format` is "json", "yaml", "toml", "csv", "table" (markdown), "xml", "tool_call", "markdown" or "code"; a row may
    name another one (`schema_type`, `output_type`). `schema` is a JSON Schema. `required_tags` (xml) and
    `required_headings` (markdown) must be there with text in them; `language` (code) is what the block must be marked
    as. `key_paths` must be in the data. If the ground truth is an object or a list, the score is the share of its leaf
    fields that are equal: lists in any order with `ordered=False`, numbers within the relative `tolerance`, fields
    weighted by `weights` (path → weight).
    """

    kind: ClassVar[str] = "structured"

    format: str = "json"
    schema: Mapping[str, Any] | None = field(default=None, hash=False)
    required_tags: Sequence[str] = ()
    required_headings: Sequence[str] = ()
    language: str | None = None
    key_paths: Sequence[str] = ()
    ordered: bool = True
    tolerance: NonNegative = 0.0
    weights: Mapping[str, float] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        check_fields(self)
        check_choice("format", self.format, FORMATS)
        for name in ("required_tags", "required_headings", "key_paths"):
            set_field(self, name, as_text_tuple(name, getattr(self, name)))
        for name, belongs in OPTIONS.items():
            if getattr(self, name) and belongs != self.format:
                raise InvalidSettings(f"{name} belongs to format={belongs!r}, got format={self.format!r}")
        if self.schema is not None:
            if self.format in ("markdown", "code"):
                raise InvalidSettings(f"schema belongs to format='json' and other data, got format={self.format!r}")
            check_schema(self.schema)
        try:
            _check_paths(self.key_paths)
            _check_weights(self.weights)
        except InvalidTrajectory as error:
            raise InvalidSettings(str(error)) from None

    def read(self, sample: Trajectory) -> StructuredTask:
        schema, paths = find_column(sample, "schema_str"), _read_paths(sample)
        format = self._format_of(sample)
        expected = _read_expected(sample, format)
        weights = find_column(sample, "field_weights")
        _check_weights(weights if weights is not None else {})
        return StructuredTask(
            format,
            self.schema if schema is None else _read_schema(schema),
            paths or tuple(self.key_paths),
            expected,
            weights or self.weights,
            schema is not None or bool(paths) or expected is not None,
        )

    def judge(self, task: StructuredTask, answer: Answer) -> Verdict:
        if (check := FORM_CHECKS.get(task.format)) is not None:
            finding = check(self, answer.text)
            if not finding.ok or task.format in ("markdown", "code"):
                return Verdict(float(finding.ok), finding.reason)
        try:
            data = parse_data(answer, task.format)
        except MalformedData as error:
            return Verdict(0.0, str(error))
        readings = [data, next(iter(data.values()))] if task.format == "xml" else [data]
        verdicts = [self._judge_data(task, reading) for reading in readings]
        return max(verdicts, key=lambda verdict: verdict.score or 0.0)

    def _judge_data(self, task: StructuredTask, data: Any) -> Verdict:
        untyped = task.format in UNTYPED
        if task.schema is not None and (
            misfit := find_misfit(task.schema, typed_by(task.schema, data) if untyped else data)
        ):
            return Verdict(0.0, f"{task.format} that breaks the schema at {misfit}")
        if task.expected is not None:
            leaves, expected_leaves = count_leaves(data), count_leaves(task.expected)
            if leaves > MOST_FIELDS:
                return Verdict(0.0, f"more than {MOST_FIELDS:,} fields")
            ordered = self.ordered or leaves * expected_leaves > MOST_PAIRS
            fields = compare_fields(task.expected, data, Comparison(ordered, self.tolerance, untyped))
            return _share_verdict(fields, task.weights, "fields are right")
        if task.paths:
            fields = [Field(path, has_path(data, read_path(path) or [])) for path in task.paths]
            return _share_verdict(fields, task.weights, "key paths are there")
        if task.schema is None and not (isinstance(data, dict | list) and data):
            return Verdict(0.0, f"{task.format}, but not a filled object or list")
        return Verdict(1.0, f"{task.format} {'that fits the schema' if task.schema else 'with data'}")

    def _format_of(self, sample: Trajectory) -> str:
        mode = find_column(sample, "response_mode")
        if isinstance(mode, str) and ("tool" in mode.lower() or "function" in mode.lower()):
            return "tool_call"
        named = find_column(sample, "schema_type", "output_type")
        if named is None:
            return self.format
        name = SPELLINGS.get(str(named).strip().lower(), str(named).strip().lower())
        if name not in FORMATS:
            raise InvalidTrajectory(f"no format named {named!r:.40} (there are {', '.join(FORMATS)})")
        return name


FORM_CHECKS: dict[str, Callable[[Structured, str], Finding]] = {
    "xml": lambda verifier, text: check_xml(text, verifier.required_tags),
    "markdown": lambda verifier, text: check_markdown(text, verifier.required_headings),
    "code": lambda verifier, text: check_code(text, verifier.language),
}


def _share_verdict(fields: list[Field], weights: Mapping[str, float], what: str) -> Verdict:
    listed = [_weight_of(each.path, weights) for each in fields]
    right = sum(weight for each, weight in zip(fields, listed, strict=True) if each.is_right)
    total = sum(listed)
    if not total:
        raise InvalidTrajectory("no field has a weight")
    wrong = next((each.path for each, weight in zip(fields, listed, strict=True) if weight and not each.is_right), None)
    reason = f"{sum(each.is_right for each in fields)} of {len(fields)} {what}"
    components = {each.path or "$": Verdict(float(each.is_right), "") for each in fields[:MOST_COMPONENTS]}
    if wrong is None:
        return Verdict(1.0, reason, components)
    return Verdict(right / total, f"{reason}, not {wrong or 'the value'!r:.80}", components)


def _weight_of(path: str, weights: Mapping[str, float]) -> float:
    """The weight of the longest path that the field is at or below; indices may be left out."""
    if not weights:
        return 1.0
    plain = _INDEX.sub("", path)
    above = [name for name in weights if plain == name or plain.startswith(f"{name}.") or path.startswith(name)]
    return float(weights[max(above, key=len)]) if above else 1.0


def _read_paths(sample: Trajectory) -> tuple[str, ...]:
    listed = read_literal(find_column(sample, "raw_output_metric", "key_paths"))
    if listed is None:
        return ()
    if not isinstance(listed, list) or not all(isinstance(each, str) for each in listed):
        raise InvalidTrajectory(f"key paths are a list of texts, got {listed!r:.60}")
    _check_paths(listed)
    return tuple(listed)


def _read_schema(written: Any) -> Mapping[str, Any]:
    try:
        schema = parse_json(written) if isinstance(written, str) else written
        if not isinstance(schema, dict):
            raise InvalidSettings(f"got {type(schema).__name__}")
        strict: dict[str, Any] = make_strict(schema)
        check_schema(strict)
    except (ValueError, RecursionError) as error:
        raise InvalidTrajectory(f"schema_str is a JSON Schema: {str(error)[:120]}") from None
    return strict


def _read_expected(sample: Trajectory, format: str) -> Any:
    """The expected data: an object or a list, or a text of one in JSON or in the format of the row."""
    truth = sample.ground_truth
    if isinstance(truth, dict) and truth.keys() & set(ROW_COLUMNS):
        truth = truth.get("ground_truth")
    if isinstance(truth, str):
        for name in ("json", format):
            with suppress(MalformedData, KeyError):
                read = parse_data(Answer(truth, truth), name)
                if isinstance(read, dict | list) and read:
                    return read
        return None
    return truth if isinstance(truth, dict | list) and truth else None


def _check_paths(paths: Sequence[str]) -> None:
    for path in paths:
        if read_path(path) is None:
            raise InvalidTrajectory(f"{path!r:.60} is not a key path such as authors[0].name")


def _check_weights(weights: Any) -> None:
    if not isinstance(weights, Mapping) or not all(
        isinstance(weight, int | float) and math.isfinite(weight) and weight >= 0 for weight in weights.values()
    ):
        raise InvalidTrajectory(f"weights are numbers from 0 on by key path, got {weights!r:.60}")
