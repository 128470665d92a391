"""A part of the recall zoo: one flaw of each kind, and sound rewards; `benchmarks/audit_recall.py` audits all of it."""

import pytest

from plaudit.audit import audit_reward
from tests.audit.recall_zoo.roster import DEVELOPMENT, FRESH, HELD_BACK, KINDS, LATER, NOTEBOOK, SCRIPT, TRAINER, UNSEEN

IN_PROCESSES = {"hangs"}
FLAWED = {entry.kind: entry for entry in DEVELOPMENT.flawed if entry.kind not in IN_PROCESSES}
SOUND = [entry for entry in DEVELOPMENT.sound if entry.name in ("close_numbers", "kimi_length", "small_form_bonus")]
ROWS = [entry for entry in NOTEBOOK.flawed if entry.name in ("fields_contain", "table_cells")]
SOUND_ROWS = [entry for entry in NOTEBOOK.sound if entry.name in ("fenced_object", "same_sql_tokens", "label_overlap")]


@pytest.mark.parametrize("entry", FLAWED.values(), ids=lambda entry: entry.name)
def test_a_flaw_is_found_by_its_kind(entry):
    report = audit_reward(entry.reward, deadline_s=None)
    assert entry.is_named_by(report.findings), [finding.key for finding in report.findings]


@pytest.mark.parametrize("entry", ROWS, ids=lambda entry: entry.name)
def test_a_wrong_value_in_a_field_and_values_that_change_places_are_found(entry):
    report = audit_reward(entry.reward, entry.rollouts, deadline_s=None)
    assert entry.is_named_by(report.findings), [finding.key for finding in report.findings]


@pytest.mark.parametrize("entry", SOUND, ids=lambda entry: entry.name)
def test_nothing_is_found_in_a_sound_reward(entry):
    assert [finding.key for finding in audit_reward(entry.reward, deadline_s=None).findings] == []


@pytest.mark.parametrize("entry", SOUND_ROWS, ids=lambda entry: entry.name)
def test_nothing_is_found_in_a_sound_reward_with_rows(entry):
    assert [finding.key for finding in audit_reward(entry.reward, entry.rollouts, deadline_s=None).findings] == []


def test_the_zoo_is_large_enough():
    flawed = [
        entry
        for half in (DEVELOPMENT, HELD_BACK, FRESH, LATER, UNSEEN, NOTEBOOK, SCRIPT, TRAINER)
        for entry in half.flawed
    ]
    assert len(flawed) >= 60
    assert len(DEVELOPMENT.sound) + len(HELD_BACK.sound) >= 30
    assert {entry.kind for entry in flawed} == set(KINDS)
