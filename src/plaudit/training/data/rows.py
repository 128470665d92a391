"""The rows of a data file: JSON lines, Parquet, CSV, or a folder that Hugging Face `datasets` wrote."""

import csv
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from plaudit.errors import DataError, RolloutsError, did_you_mean, require
from plaudit.jsonline import InvalidJSON
from plaudit.rollouts.sources import source_of

__all__ = ["Rows", "rows_of"]

Rows = Iterator[tuple[str, Mapping[str, Any]]]
"""Rows with how messages name them: file and line."""

FILES = (".jsonl", ".gz", ".parquet", ".csv")
_BEYOND = "\0beyond"


def rows_of(path: Path, split: str) -> Rows:
    """The rows of a data file or folder, each with how messages name it."""
    if path.is_dir():
        return _folder_rows(path, split)
    return _csv_rows(path) if path.suffix.lower() == ".csv" else _source_rows(path)


def _source_rows(path: Path) -> Rows:
    if not path.exists():
        beside = [entry.name for entry in path.parent.iterdir()] if path.parent.is_dir() else []
        raise DataError(f"no file {path}{did_you_mean(path.name, beside)}")
    if path.suffix.lower() not in FILES:
        raise DataError(f"{path}: data files end in {', '.join(FILES)}, or are a folder that `datasets` saved")
    try:
        source = source_of(path)
        for number, raw in source.raw_rows():
            name = f"{path}:{number}"
            try:
                yield name, source.decode(raw)
            except InvalidJSON as error:
                raise DataError(f"{name}: broken JSON: {error}") from None
    except RolloutsError as error:
        raise DataError(str(error)) from error


def _csv_rows(path: Path) -> Rows:
    try:
        with open(path, newline="", encoding="utf-8-sig") as file:
            reader = csv.DictReader(file, strict=True, restkey=_BEYOND)
            for row in reader:
                name = f"{path}:{reader.line_num}"
                if _BEYOND in row or None in row.values():
                    raise DataError(
                        f"{name}: the line has not as many cells as the first one ({len(reader.fieldnames or [])})"
                    )
                yield name, row
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"cannot read {path} as CSV: {error}") from error


def _folder_rows(folder: Path, split: str) -> Rows:
    """The rows of a saved dataset, or of the data files in a folder whose names begin with the split's."""
    saved = any((folder / name).exists() for name in ("dataset_dict.json", "state.json"))
    if saved:
        yield from _saved_rows(folder, split)
        return
    files = [file for file in sorted(folder.rglob("*")) if file.suffix.lower() in FILES and file.is_file()]
    if not files:
        raise DataError(
            f"{folder} holds no data: neither a dataset that `datasets` saved nor files in {', '.join(FILES)}"
        )
    chosen = [file for file in files if file.name.startswith(split)]
    if not chosen:
        raise DataError(
            f"{folder}: no file of the split {split!r}; there are {', '.join(file.name for file in files[:8])}"
        )
    for file in chosen:
        yield from rows_of(file, split)


def _saved_rows(folder: Path, split: str) -> Rows:
    datasets = require("datasets", extra="train", purpose="reading a dataset folder")
    found = datasets.load_from_disk(str(folder))
    if isinstance(found, datasets.DatasetDict):
        if split not in found:
            raise DataError(f"{folder} has no split {split!r}{did_you_mean(split, found)} (it has {', '.join(found)})")
        found = found[split]
    for number, row in enumerate(found):
        yield f"{folder}, row {number}", row
