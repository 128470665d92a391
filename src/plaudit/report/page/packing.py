"""Samples made small enough to lie in one page: columns of values, and texts in blocks that are opened one by one.

Where the texts of a run do not fit, whole groups are left out: samples go to buckets by the hash of their group's name,
and the last buckets are let go until the rest fits. Samples that were not scored stay, up to a quarter of the room.
"""

import json
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import msgspec

from plaudit import jsonline
from plaudit.report.groups import DIGEST_BITS, group_digest
from plaudit.report.page.sample_data import FIRST_COLUMNS, Value, full_sample, sample_values
from plaudit.rollouts import ScoredRollout

__all__ = ["PackedSamples", "encode_json", "pack"]

BUCKETS = 64
BLOCK_BYTES = 1 << 17
MAX_COLUMNS = 60
_PINNED = -1


@dataclass(slots=True)
class _Block:
    """Samples of one bucket: their rows, and their JSON, packed once there is enough of it."""

    rows: list[int] = field(default_factory=list)
    texts: list[bytes] = field(default_factory=list)
    size: int = 0
    packed: bytes = b""

    def close(self) -> None:
        self.packed = pack(b"[" + b",".join(self.texts) + b"]")
        self.texts = []


class PackedSamples:
    """Takes the samples of a run one by one, and holds what of them goes into the page: at most `room` bytes."""

    def __init__(self, room: int) -> None:
        self._room = room
        self._open: dict[int, _Block] = {}
        self._blocks: dict[int, list[_Block]] = {}
        self._limit = BUCKETS
        self._used = self._pinned = 0
        self._count = 0
        self._columns: dict[str, dict[int, Value]] = {name: {} for name in FIRST_COLUMNS}

    def add(self, rollout: ScoredRollout, group_number: int) -> None:
        """Take the next sample."""
        row, self._count = self._count, self._count + 1
        for name, value in sample_values(rollout, group_number).items():
            if value is not None and (name in self._columns or len(self._columns) < MAX_COLUMNS):
                self._columns.setdefault(name, {})[row] = value
        bucket = group_digest(rollout.trajectory) * BUCKETS >> DIGEST_BITS
        if not rollout.output.ok and self._pinned < self._room // 4:
            bucket = _PINNED
        if bucket < self._limit:
            self._keep(bucket, row, jsonline.encode(full_sample(rollout)))

    def columns(self) -> list[str]:
        """The names of the columns that hold anything."""
        return [name for name, values in self._columns.items() if values]

    def pack(self, taken: int = 0) -> tuple[bytes, list[bytes], int]:
        """The packed columns with the rows of each block, the packed blocks, and how many samples have their text.

        `taken` is how many bytes of the room other things take.
        """
        for block in self._open.values():
            if block.rows:
                self._close(block)
        columns = [_column(name, values, self._count) for name, values in self._columns.items() if values]
        head = pack(encode_json({"columns": columns, "blocks": [block.rows for _, block in self._kept()]}))
        self._shrink(self._room - len(head) - taken)
        kept = [block for _, block in self._kept()]
        head = pack(encode_json({"columns": columns, "blocks": [block.rows for block in kept]}))
        return head, [block.packed for block in kept], sum(len(block.rows) for block in kept)

    def _keep(self, bucket: int, row: int, text: bytes) -> None:
        block = self._open.get(bucket)
        if block is None:
            block = self._open[bucket] = _Block()
            self._blocks.setdefault(bucket, []).append(block)
        block.rows.append(row)
        block.texts.append(text)
        block.size += len(text)
        if block.size >= BLOCK_BYTES:
            self._close(block)
            del self._open[bucket]
            if bucket == _PINNED:
                self._pinned += len(block.packed)
            self._shrink(self._room)

    def _close(self, block: _Block) -> None:
        block.close()
        self._used += len(block.packed)

    def _shrink(self, room: int) -> None:
        """Let go of the last buckets until the rest fits."""
        while self._used > room and self._limit > 0:
            self._limit -= 1
            self._open.pop(self._limit, None)
            self._used -= sum(len(block.packed) for block in self._blocks.pop(self._limit, []))

    def _kept(self) -> Iterator[tuple[int, _Block]]:
        return ((bucket, block) for bucket, blocks in sorted(self._blocks.items()) for block in blocks)


def pack(data: bytes) -> bytes:
    """Data as gzip, the same for the same data."""
    packer = zlib.compressobj(6, wbits=31)
    return packer.compress(data) + packer.flush()


def encode_json(value: Any) -> bytes:
    """JSON in which a number that is none (NaN, infinity) is null; lone surrogates become escapes."""
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        return json.dumps(jsonline.as_plain(value), separators=(",", ":")).encode()


def _column(name: str, values: dict[int, Value], count: int) -> dict[str, Any]:
    """A column: its values in order, or, of texts, their places in the list of different ones."""
    if any(isinstance(value, str) for value in values.values()):
        texts = list(dict.fromkeys(values.values()))
        codes = {text: code for code, text in enumerate(texts)}
        return {
            "name": name,
            "texts": texts,
            "values": [codes[values[r]] if r in values else None for r in range(count)],
        }
    return {"name": name, "values": [values.get(row) for row in range(count)]}
