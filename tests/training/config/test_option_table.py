"""The guide's table of options names keys that exist, here and in TRL."""

import dataclasses
import re
from pathlib import Path

import pytest

from plaudit.training.advantages.estimators import ADVANTAGES
from plaudit.training.config.learning_keys import LOSSES
from plaudit.training.config.reading import KEYS

GUIDE = Path(__file__).parents[3] / "docs" / "guides" / "advantages.md"


def rows():
    table = GUIDE.read_text().partition("## Options here, in TRL and in verl")[2].partition("\n## ")[0]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines() if line[:1] == "|"]
    return cells[2:]


@pytest.mark.parametrize("row", rows(), ids=lambda row: row[0])
def test_a_row_names_keys_that_exist(row):
    _, here, in_trl, _ = row
    section, of_value = "", None
    for name in re.findall(r"`([^`]+)`", here):
        key, _, value = name.partition("=")
        if key in KEYS and "." in key:
            section = key.rpartition(".")[0]
        if key.startswith("."):
            key = section + key
        if key.endswith("*"):
            assert any(known.startswith(key[:-1]) for known in KEYS), name
        elif key not in KEYS:  # a further value of the key before it
            key, value = of_value, key
        of_value = key
        if value and key in ("advantage", "loss.name"):
            assert value in (ADVANTAGES if key == "advantage" else LOSSES), name
    from trl import GRPOConfig

    fields = {field.name for field in dataclasses.fields(GRPOConfig)}
    values = {"sapo", "cispo", "token_mask", "sequence_mask"}
    assert {name.partition("=")[0] for name in re.findall(r"`([^`]+)`", in_trl)} <= fields | values
