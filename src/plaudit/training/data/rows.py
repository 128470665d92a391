"""The rows of a data set: a JSON lines, Parquet or CSV file, a folder that `datasets` wrote, or a name on the hub."""

import csv
import re
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
_HUB_NAME = re.compile(r"(?P<name>[\w.-]+(?:/[\w.-]+)?)(?:@(?P<subset>[\w.-]+))?")
"""`gsm8k`, `openai/gsm8k`, or `openai/gsm8k@main` with the subset that is meant."""


def rows_of(path: Path, split: str) -> Rows:
    """The rows of a data set, each with how messages name it; what is neither file nor folder is a name on the hub."""
    if path.is_dir():
        return _folder_rows(path, split)
    name = _HUB_NAME.fullmatch(path.as_posix())
    if name and not path.exists() and path.suffix.lower() not in FILES and not did_you_mean(path.name, _beside(path)):
        return _hub_rows(name["name"], name["subset"], split)
    return _csv_rows(path) if path.suffix.lower() == ".csv" else _source_rows(path)


def _source_rows(path: Path) -> Rows:
    if not path.exists():
        raise DataError(f"no file {path}{did_you_mean(path.name, _beside(path))}")
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


def _beside(path: Path) -> list[str]:
    return [entry.name for entry in path.parent.iterdir()] if path.parent.is_dir() else []


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


def _hub_rows(name: str, subset: str | None, split: str) -> Rows:
    """The rows of a data set of the Hugging Face hub, or of its copy in the cache of `datasets`."""
    purpose = f"there is no file {name}; reading it as a data set of the Hugging Face hub"
    datasets = require("datasets", extra="train", purpose=purpose)
    asked = ", ".join(repr(each) for each in (name, subset) if each)
    try:
        found = datasets.load_dataset(name, subset, split=split)
    except ValueError as error:  # no such split, or one of several subsets has to be chosen
        raise DataError(
            f"the data set {name}: {' '.join(str(error).split()):.300} (data.split names the split, {name}@SUBSET the "
            "subset)"
        ) from error
    except OSError as error:
        raise DataError(
            f"there is no file {name}, and no data set of that name could be loaded from the Hugging Face hub "
            f"({' '.join(str(error).split()):.200}). Without a network, make a local copy where there is one, "
            f"datasets.load_dataset({asked}).save_to_disk({name.rpartition('/')[2]!r}), and give the path of that "
            "folder; or give a .jsonl, .parquet or .csv file"
        ) from error
    for number, row in enumerate(found):
        yield f"{name}, row {number}", row
