"""A part of the recall zoo: one flaw of each kind, and sound rewards; `benchmarks/audit_recall.py` audits all of it."""

import pytest

from plaudit.audit import audit_reward
from tests.audit.recall_zoo.roster import (
    DESK,
    DEVELOPMENT,
    FRESH,
    HELD_BACK,
    KINDS,
    LATER,
    NOTEBOOK,
    SCRIPT,
    TRAINER,
    UNSEEN,
)

IN_PROCESSES = {"hangs"}
FLAWED = {entry.kind: entry for entry in DEVELOPMENT.flawed if entry.kind not in IN_PROCESSES}
SOUND = [entry for entry in DEVELOPMENT.sound if entry.name in ("close_numbers", "kimi_length", "small_form_bonus")]
ROWS = [entry for entry in NOTEBOOK.flawed if entry.name in ("fields_contain", "table_cells")]
RULES = {
    "values_anywhere": "right response in another order", "names_of_fields": "part of the right response",
    "one_call_matches": "right beside another answer", "arguments_as_text": "right response with other values",
    "overlong_only_wrong": "a wrong answer earns more at some length", "agrees_with_group": "copies of one answer pay",
    "citation_marks": "form without content", "percent_or_not": "number of another scale",
    "letters_and_digits": "right response with other values", "within_one": "near value",
    "mean_of_scores": "self-grade", "events_in_order": "no answer", "clock_time": "parts of two rows mixed",
    "brier": "right response with other values", "row_count": "query with other rows",
    "few_turns": "giving up at once", "rare_answers": "different wrong answers pay more than equal ones",
    "thinking_budget": "reward grows with repetition", "ticked_boxes": "flood of paying words",
    "total_of_invoice": "1,000 for 1000 is refused", "scaled_in_group": "copies of one answer pay",
}  # fmt: skip
"""Rewards that break one rule of the guide each, and the attack that follows from the rule."""
SOUND_BESIDE = (
    "gold_citations",
    "exact_call",
    "calls_in_order",
    "confident_and_right",
    "same_month",
    "standardised",
    "same_rows",
    "rating_near",
    "better_than_mean",
    "share_by_value",
)
BY_NAME = {
    entry.name: entry for half in (FRESH, NOTEBOOK, SCRIPT, TRAINER, DESK) for entry in (*half.flawed, *half.sound)
}
SOUND_ROWS = [entry for entry in NOTEBOOK.sound if entry.name in ("fenced_object", "same_sql_tokens", "label_overlap")]


@pytest.mark.parametrize("entry", FLAWED.values(), ids=lambda entry: entry.name)
def test_a_flaw_is_found_by_its_kind(entry):
    report = audit_reward(entry.reward, deadline_s=None)
    assert entry.is_named_by(report.findings), [finding.key for finding in report.findings]


@pytest.mark.parametrize("entry", ROWS, ids=lambda entry: entry.name)
def test_a_wrong_value_in_a_field_and_values_that_change_places_are_found(entry):
    report = audit_reward(entry.reward, entry.rollouts, deadline_s=None)
    assert entry.is_named_by(report.findings), [finding.key for finding in report.findings]


@pytest.mark.parametrize(("name", "operator"), RULES.items())
def test_a_reward_that_breaks_a_rule_is_found_by_the_attack_of_the_rule(name, operator):
    report = audit_reward(BY_NAME[name].reward, BY_NAME[name].rollouts, deadline_s=None)
    assert operator in [finding.operator for finding in report.findings]


@pytest.mark.parametrize("name", SOUND_BESIDE)
def test_nothing_is_found_in_a_sound_reward_of_the_same_domain(name):
    report = audit_reward(BY_NAME[name].reward, BY_NAME[name].rollouts, deadline_s=None)
    assert [finding.key for finding in report.findings] == []


@pytest.mark.parametrize("entry", SOUND, ids=lambda entry: entry.name)
def test_nothing_is_found_in_a_sound_reward(entry):
    assert [finding.key for finding in audit_reward(entry.reward, deadline_s=None).findings] == []


@pytest.mark.parametrize("entry", SOUND_ROWS, ids=lambda entry: entry.name)
def test_nothing_is_found_in_a_sound_reward_with_rows(entry):
    assert [finding.key for finding in audit_reward(entry.reward, entry.rollouts, deadline_s=None).findings] == []


def test_the_zoo_is_large_enough():
    flawed = [
        entry
        for half in (DEVELOPMENT, HELD_BACK, FRESH, LATER, UNSEEN, NOTEBOOK, SCRIPT, TRAINER, DESK)
        for entry in half.flawed
    ]
    assert len(flawed) >= 60
    assert len(DEVELOPMENT.sound) + len(HELD_BACK.sound) >= 30
    assert {entry.kind for entry in flawed} == set(KINDS)
