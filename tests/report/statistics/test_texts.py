"""What is read from responses: phrases that pay, near-duplicates, and which texts are kept."""

import random

import pytest

from plaudit.report.statistics.duplicates import near_duplicates
from plaudit.report.statistics.phrases import paying_phrases
from plaudit.report.table import KeptTexts, group_digest
from tests.report.statistics.runs import rollout, table_of

WORDS = [f"word{number}" for number in range(40)]


def phrases_of(run):
    table = table_of(run)
    return paying_phrases(table.samples(), table.texts)


def duplicates_of(run):
    table = table_of(run)
    return near_duplicates(table.samples(), table.texts)


def run_with(flattery: bool, seed: int = 3):
    """Groups of eight about a topic each; the reward pays for "great question" where `flattery` says so."""
    draw = random.Random(seed)
    rollouts = []
    for group in range(60):
        ease = group / 60
        for _ in range(8):
            right, flatters = draw.random() < ease, draw.random() < 0.3
            text = " ".join([f"topic{group}", *draw.choices(WORDS, k=12), *(["Great question!"] if flatters else [])])
            rollouts.append(rollout(right + (flattery and flatters) * 0.5, group=group, response=text, step=group + 1))
    return rollouts


def test_a_phrase_that_the_reward_pays_for_is_found():
    found = phrases_of(run_with(flattery=True))
    assert found.paying[0].text == "great question"
    assert found.paying[0].high > 2 * found.paying[0].low
    assert "Great question" in run_with(flattery=True)[found.paying[0].row].trajectory.response
    assert [one.text for one in found.paying[1:]] == []
    assert found.costing == ()


@pytest.mark.parametrize("seed", range(3))
def test_no_phrase_is_found_where_none_pays_though_some_prompts_are_easier(seed):
    found = phrases_of(run_with(flattery=False, seed=seed))
    assert found.paying == found.costing == ()


def test_the_z_of_a_phrase_is_the_one_of_mantel_and_haenszel():
    tables = [(3, 1, 1, 3), (2, 2, 0, 4), (4, 0, 2, 2), (3, 1, 2, 2)]  # with and without it, among high and among low
    run = [
        rollout(reward, group=group, response=text)
        for group, (a, b, c, d) in enumerate(tables * 6)
        for reward, text, count in ((1.0, "magic", a), (1.0, "x", b), (0.0, "magic", c), (0.0, "x", d))
        for _ in range(count)
    ]
    observed = expected = variance = 0.0
    for a, b, c, d in tables * 6:
        n = a + b + c + d
        observed += a
        expected += (a + c) * (a + b) / n
        variance += (a + b) * (c + d) * (a + c) * (b + d) / (n * n * (n - 1))
    magic = next(one for one in phrases_of(run).paying if one.text == "magic")
    assert magic.z == pytest.approx((observed - expected) / variance**0.5)
    assert (magic.count, magic.groups) == (6 * 17, 24)


def jaccard(one, other):
    runs = [{tuple(text.split()[i : i + 3]) for i in range(len(text.split()) - 2)} for text in (one, other)]
    return len(runs[0] & runs[1]) / len(runs[0] | runs[1])


def test_near_duplicates_are_counted_within_and_across_groups():
    draw = random.Random(1)
    base = " ".join(draw.choices(WORDS, k=60))
    near = base.rsplit(" ", 2)[0] + " changed end"
    assert 0.8 < jaccard(base, near) < 1
    others = [" ".join(draw.choices(WORDS, k=60)) for _ in range(4)]
    run = [
        rollout(1.0, group="a", response=base),
        rollout(1.0, group="a", response=near),
        rollout(1.0, group="b", response=base.upper()),
        *(rollout(1.0, group="b", response=text) for text in others),
        rollout(1.0, group="c", response="  "),
    ]
    found = duplicates_of(run)
    assert found.responses == 7
    assert found.within_group == pytest.approx(2 / 7)
    assert found.across_groups == pytest.approx(3 / 7)
    assert found.distinct == pytest.approx(6 / 7)
    assert (found.most_common, found.most_common_count, found.row) == (base[:200], 2, 0)


def test_near_duplicates_agree_with_the_exact_overlap_of_all_pairs():
    draw = random.Random(2)
    texts = []
    for _ in range(30):
        words = draw.choices(WORDS, k=80)
        texts.append(" ".join(words))
        changed = [word if draw.random() > 0.02 else "other" for word in words]
        texts.append(" ".join(changed))
    run = [rollout(1.0, group="g", response=text) for text in texts]
    exact = sum(any(jaccard(a, b) >= 0.8 for b in texts if b is not a) for a in texts) / len(texts)
    assert duplicates_of(run).within_group == pytest.approx(exact, abs=0.1)


def test_whole_groups_are_dropped_if_texts_exceed_the_budget():
    texts = KeptTexts(characters=60_000)
    for row in range(400):
        one = rollout(1.0, group=row // 8, response="w" * 500)
        texts.add(row, group_digest(one.trajectory), one)
    kept = [row for row, _ in texts]
    assert 0 < len(kept) <= 60
    assert len(kept) == 8 * len({row // 8 for row in kept})
