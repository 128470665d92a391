"""The samples in a page: columns of values to filter and sort by, and the whole samples in blocks that are opened one
by one.

If the texts of a run do not fit, whole groups are left out: samples go to buckets by the hash of their group's name,
and the last buckets are dropped until the rest fits. Samples that were not scored stay, up to a quarter of the bytes.
If not even the columns fit, the last ones are left out.
"""

import json
import math
import zlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import msgspec

from plaudit import jsonline
from plaudit.columns import KEPT_MESSAGES
from plaudit.report.conversation import response_messages
from plaudit.report.table import DIGEST_BITS, group_digest
from plaudit.rollouts import ScoredRollout

Value = str | float | int | None
FIRST_COLUMNS = (
    "status", "reward", "score", "length", "training_step", "task", "group", "group_number", "id", "latency_s",
)  # fmt: skip
BUCKETS = 64
BLOCK_BYTES = 1 << 17
MAX_COLUMNS = 60
MAX_TEXT = 100
DIGITS, EXACT_DIGITS = 6, 10
_PINNED = -1


@dataclass(frozen=True, slots=True)
class Packed:
    """The content of a page: the columns with the rows of each block, and the blocks by name, all gzip."""

    head: bytes
    blocks: dict[str, bytes]
    columns: list[str]
    texts: int
    """The number of samples whose text is in a block."""


@dataclass(slots=True)
class _Block:
    """Samples of one bucket: their rows, and their JSON, compressed once there is enough of it."""

    number: int
    rows: list[int] = field(default_factory=list)
    texts: list[bytes] = field(default_factory=list)
    size: int = 0
    closed: bytes = b""

    @property
    def name(self) -> str:
        """Names differ for different contents: a block that is still open changes its name as it grows."""
        return str(self.number) if self.closed else f"{self.number}.{len(self.rows)}"

    def compress(self) -> bytes:
        return self.closed or _compress(b"[" + b",".join(self.texts) + b"]")


class PackedSamples:
    """Takes the samples of a run one by one, and keeps what fits into `max_bytes` bytes."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._blocks: dict[int, list[_Block]] = {}  # by bucket; the last block of each may be open
        self._limit = BUCKETS
        self._used = self._pinned = self._count = self._numbers = 0
        self._columns: dict[str, dict[int, Value]] = {name: {} for name in FIRST_COLUMNS}

    def add(self, rollout: ScoredRollout, group_number: int) -> None:
        """Take the next sample."""
        row, self._count = self._count, self._count + 1
        for name, value in _sample_values(rollout, group_number).items():
            if value is not None and (name in self._columns or len(self._columns) < MAX_COLUMNS):
                self._columns.setdefault(name, {})[row] = value
        bucket = group_digest(rollout.trajectory) * BUCKETS >> DIGEST_BITS
        if not rollout.output.ok and self._pinned < self._max_bytes // 4:
            bucket = _PINNED
        if bucket < self._limit:
            self._keep(bucket, row, jsonline.encode(_full_sample(rollout)))

    def pack(self, taken: int = 0) -> Packed:
        """Select the columns and blocks that fit; `taken` is the number of bytes of the other content."""
        left = self._max_bytes - taken
        columns: list[dict[str, Any]] = []
        for name, values in self._columns.items():
            column = _column(name, values, self._count)
            left -= len(_compress(encode_json(column))) if values else 0
            if left < 0:
                break
            columns += [column] if values else []
        rows: dict[str, list[int]] = {}
        blocks: dict[str, bytes] = {}
        for _, bucket in sorted(self._blocks.items()):
            compressed = {block.name: block.compress() for block in bucket}
            listed = {block.name: block.rows for block in bucket}
            left -= sum(map(len, compressed.values())) + len(_compress(encode_json(listed)))
            if left < 0:
                break
            blocks |= compressed
            rows |= listed
        head = _compress(encode_json({"columns": columns, "blocks": rows}))
        return Packed(head, blocks, [column["name"] for column in columns], sum(map(len, rows.values())))

    def _keep(self, bucket: int, row: int, text: bytes) -> None:
        blocks = self._blocks.setdefault(bucket, [])
        if not blocks or blocks[-1].closed:
            blocks.append(_Block(self._numbers))
            self._numbers += 1
        block = blocks[-1]
        block.rows.append(row)
        block.texts.append(text)
        block.size += len(text)
        if block.size < BLOCK_BYTES:
            return
        block.closed, block.texts = block.compress(), []
        self._used += len(block.closed)
        self._pinned += len(block.closed) if bucket == _PINNED else 0
        while self._used > self._max_bytes and self._limit > 0:
            self._limit -= 1
            self._used -= sum(len(block.closed) for block in self._blocks.pop(self._limit, []))


def encode_json(value: Any) -> bytes:
    """JSON in which NaN and infinities are null; lone surrogates become escapes."""
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        return json.dumps(jsonline.as_plain(value), separators=(",", ":")).encode()


def _compress(data: bytes) -> bytes:
    """Data as gzip, the same for the same data."""
    packer = zlib.compressobj(6, wbits=31)
    return packer.compress(data) + packer.flush()


def _column(name: str, values: dict[int, Value], count: int) -> dict[str, Any]:
    """A column: its values in order, or, of texts, their indices in the list of different ones."""
    if any(isinstance(value, str) for value in values.values()):
        texts = list(dict.fromkeys(values.values()))
        codes = {text: code for code, text in enumerate(texts)}
        coded = [codes[values[row]] if row in values else None for row in range(count)]
        return {"name": name, "texts": texts, "values": coded}
    return {"name": name, "values": [values.get(row) for row in range(count)]}


def _sample_values(rollout: ScoredRollout, group_number: int) -> dict[str, Value]:
    """The values of a sample by column: what is short enough to filter by; components, columns and metadata too."""
    trajectory, output = rollout.trajectory, rollout.output
    values: dict[str, Value] = {
        "status": output.status.value,
        "reward": _round(output.reward, EXACT_DIGITS),
        "score": _round(output.score, EXACT_DIGITS),
        "length": len(trajectory.response),
        "training_step": trajectory.training_step,
        "task": trajectory.task,
        "group": None if trajectory.group is None else str(trajectory.group),
        "group_number": group_number,
        "id": trajectory.id,
        "latency_s": _round(output.latency_s, 3),
    }
    for name, part in output.flat_components().items():
        values[f"component/{name}"] = _round(part.reward, DIGITS)
    for prefix, further in (("", trajectory.columns), ("metadata.", trajectory.metadata), ("note.", output.metadata)):
        for name, value in _short_values(further.items()):
            column = f"{prefix}{name}"
            is_taken = column in values or column == "sample"  # the page's name for the index of a sample
            values[f"column.{name}" if is_taken else column] = value
    return values


def _full_sample(rollout: ScoredRollout) -> dict[str, Any]:
    """Everything of a sample that the page shows; of tokens, their offsets in the response."""
    trajectory, output = rollout.trajectory, rollout.output
    plain: dict[str, Any] = {"prompt": trajectory.prompt, "response": trajectory.response}
    if trajectory.ground_truth is not None:
        plain["ground_truth"] = trajectory.ground_truth
    plain["reward_output"] = output.to_dict()
    if trajectory.steps:
        plain["steps"] = rollout.to_dict()["steps"]
    if output.token_rewards is not None and trajectory.tokens is not None and trajectory.tokens.offsets is not None:
        plain["offsets"] = trajectory.tokens.offsets
    further = {**trajectory.columns, **trajectory.metadata}
    if (messages := response_messages(trajectory)) is not None:
        plain["response_messages"] = messages
        del further[KEPT_MESSAGES]
    if long := {name: value for name, value in further.items() if value is not None and _short(value) is None}:
        plain["further"] = long
    return plain


def _short_values(items: Iterable[tuple[str, Any]]) -> Iterable[tuple[str, Value]]:
    return ((name, short) for name, value in items if (short := _short(value)) is not None)


def _short(value: Any) -> Value:
    """A value to filter by; None if it is empty, long, or made of others."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return value if abs(value) < 1 << 53 else str(value)
    if isinstance(value, float):
        return _round(value, DIGITS) if math.isfinite(value) else None
    return value if isinstance(value, str) and len(value) <= MAX_TEXT else None


def _round(value: float | None, digits: int) -> float | None:
    return None if value is None else float(f"{value:.{digits}g}")
