"""Every verifier has a card, and the card says what is measured."""

import pytest

from plaudit.errors import InvalidSettings
from plaudit.rewards import BUILT_INS, VerifierReward
from plaudit.verify import load_card
from tests.verify.catalogue import GUIDE, KINDS, LINES, guide_rows, judge_lines, read_lines

every_kind = pytest.mark.parametrize("kind", KINDS)
MOST_FALSE_PASSES = 0.005
MOST_FALSE_FAILS = 0.01


def test_every_verifier_reward_has_a_card_and_every_card_a_reward():
    rewards = {name for name in BUILT_INS if isinstance(BUILT_INS[name], type)}
    assert {name for name in rewards if issubclass(BUILT_INS[name], VerifierReward)} == set(KINDS)


def test_every_card_has_labelled_lines():
    assert {path.stem for path in LINES.glob("*.yaml")} == set(KINDS)


@every_kind
def test_the_card_is_complete(kind):
    card = load_card(kind)
    assert card.inputs
    assert card.rules
    assert card.attacks
    assert card.measured is not None


@every_kind
def test_the_card_says_what_is_measured(kind):
    measured = judge_lines(kind, read_lines(kind)).measurement(f"python benchmarks/catalogue.py {kind}")
    card = load_card(kind).measured
    for name in card.__struct_fields__:
        if name != "microseconds":
            assert getattr(card, name) == getattr(measured, name), name


@every_kind
def test_the_rates_are_within_the_targets(kind):
    measured = load_card(kind).measured
    assert measured.false_passes <= MOST_FALSE_PASSES * measured.wrong
    assert measured.false_fails <= MOST_FALSE_FAILS * measured.right
    assert measured.misjudged_declines <= MOST_FALSE_FAILS * (measured.right + measured.wrong + measured.declined)


def test_the_guide_has_the_rates_of_the_cards_and_a_section_for_each_kind():
    guide = GUIDE.read_text()
    assert guide_rows() in guide
    headings = " ".join(line for line in guide.splitlines() if line.startswith("#"))
    assert [kind for kind in KINDS if f"`{kind}`" not in headings] == []


def test_the_readme_names_every_kind():
    readme = (GUIDE.parents[2] / "README.md").read_text()
    assert [kind for kind in KINDS if f"`{kind}`" not in readme] == []


def test_an_unknown_kind_is_named_with_a_suggestion():
    with pytest.raises(InvalidSettings, match="no verifier named 'regx'; did you mean 'regex'"):
        load_card("regx")
