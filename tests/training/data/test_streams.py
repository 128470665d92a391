"""Streams of prompts: plain, by a curriculum, of several tasks; and that each goes on where it was."""

import json
import random
from collections import Counter

import pytest

from plaudit import Trajectory
from plaudit.errors import DataError
from plaudit.training.config.schema import CurriculumConfig
from plaudit.training.data.curriculum import CurriculumStream, Levels, Stages, SuccessRates
from plaudit.training.data.prompts import MixedStream, Prompts, PromptStream, StreamPart

TEN = Prompts.of([f"prompt {index}" for index in range(10)])
RATED = Prompts(
    tuple(Trajectory(f"prompt {at}", "", columns={"difficulty": 1 + at // 10}) for at in range(30))
)  # three levels of ten


def curriculum(prompts=RATED, **settings):
    return CurriculumStream(prompts, Levels.of(prompts), CurriculumConfig(**{"by": "difficulty", **settings}), seed=1)


def mixture():
    own = curriculum(stages=True, stage_samples=8)
    parts = {"a": StreamPart(0.75, range(30), own), "b": StreamPart(0.25, range(30, 40), PromptStream(TEN, seed=1))}
    return MixedStream(Prompts((*RATED, *TEN)), parts)


STREAMS = {
    "plain": lambda: PromptStream(RATED, seed=1),
    "by difficulty": curriculum,
    "in stages": lambda: curriculum(stages=True, stage_samples=8),
    "mixed": mixture,
}


def run(stream, steps, first=0):
    """Take batches, and answer them as a policy would that is good at the first prompts."""
    taken = []
    for step in range(first, first + steps):
        chance = random.Random(step)
        indices = stream.indices(6)
        stream.observe([[float(chance.random() > index / 40) for _ in range(4)] for index in indices])
        taken.append(indices)
    return taken


@pytest.mark.parametrize("name", STREAMS)
def test_a_stream_that_is_restored_takes_what_an_uninterrupted_one_takes(name):
    whole, first, rest = (STREAMS[name]() for _ in range(3))
    expected = run(whole, 20)
    assert run(first, 9) == expected[:9]
    state = json.loads(json.dumps(first.state()))  # a checkpoint holds plain data
    rest.restore(state)
    assert rest.position == first.position == 54
    assert run(rest, 11, first=9) == expected[9:]
    assert rest.metrics() == whole.metrics()


def test_an_epoch_takes_every_prompt_once():
    stream = PromptStream(TEN, seed=1)
    assert sorted(index for count in (3, 3, 4) for index in stream.indices(count)) == list(range(10))
    assert stream.position == 10


def test_epochs_have_different_orders_and_seeds_too():
    first, other = PromptStream(TEN, seed=1), PromptStream(TEN, seed=2)
    epochs = [first.indices(10), first.indices(10), other.indices(10)]
    assert len({tuple(epoch) for epoch in epochs}) == 3


def test_without_shuffling_the_order_is_that_of_the_data():
    assert PromptStream(TEN, seed=1, shuffle=False).indices(12) == [*range(10), 0, 1]


@pytest.mark.parametrize("build", [lambda none: PromptStream(none, seed=1), curriculum])
def test_no_prompts_are_an_error(build):
    with pytest.raises(DataError, match="no prompts"):
        build(Prompts(()))


def test_solved_and_impossible_prompts_are_drawn_less_than_learnable_ones():
    stream, counts = curriculum(), Counter()
    for step in range(60):
        indices = stream.indices(6)
        if step >= 30:
            counts.update(index // 10 for index in indices)
        scores = {0: [1.0] * 4, 1: [1.0, 0.0] * 2, 2: [0.0] * 4}
        stream.observe([scores[index // 10] for index in indices])
    assert counts[1] > 1.5 * max(counts[0], counts[2])
    assert min(counts[0], counts[2]) > 0  # abilities change, so nothing is given up


def test_draws_go_with_the_weights():
    stream = curriculum(epsilon=0.05)
    for _ in range(40):  # p is 1, 1/2 and 0 now, so weights are about 0.05, 0.3 and 0.05
        stream.observe([{0: [1.0], 1: [0.5], 2: [0.0]}[index // 10] * 50 for index in stream.indices(6)])
    drawn = Counter(index // 10 for index in stream.indices(4000))
    assert [drawn[level] / 4000 for level in range(3)] == pytest.approx([0.125, 0.75, 0.125], abs=0.03)


def test_tasks_come_in_their_shares_from_the_first_batch_on():
    stream = mixture()
    for _ in range(5):
        indices = stream.indices(8)
        assert sum(index >= 30 for index in indices) == 2
        stream.observe([[1.0]] * 8)
    assert stream.state()["parts"]["b"] == {"position": 10}


def test_a_prompt_that_was_never_tried_counts_as_half_and_what_is_new_counts_more():
    rates = SuccessRates(memory=0.5)
    assert rates.rate("a") == 0.5
    rates.observe("a", [])
    assert rates.rate("a") == 0.5
    rates.observe("a", [0.0] * 8)
    rates.observe("a", [1.0] * 8)
    assert rates.rate("a") == pytest.approx((8 + 0.5) / (12 + 1))


def test_stages_open_and_close_with_hysteresis():
    stages = Stages(3, CurriculumConfig(stage_up=0.7, stage_down=0.2, stage_samples=10))
    stages.observe(0, [1.0] * 9)
    assert stages.stage == 0  # too few to tell
    stages.observe(0, [1.0])
    assert stages.stage == 1
    stages.observe(0, [0.0] * 50)
    assert stages.stage == 1  # only the hardest open level decides
    for _ in range(20):
        stages.observe(1, [1.0, 0.0] * 5)
    assert stages.stage == 1  # between the bounds nothing moves
    stages.observe(1, [0.0] * 30)
    assert stages.stage == 0
    for _ in range(9):
        stages.observe(stages.stage, [1.0] * 10)
    assert stages.stage == 2


def test_a_closed_level_is_not_drawn():
    stream = curriculum(stages=True, stage_samples=64)
    assert {index // 10 for index in stream.indices(50)} == {0}
    stream.observe([[1.0] * 4] * 50)
    assert {index // 10 for index in stream.indices(50)} == {0, 1}
    assert stream.metrics()["curriculum/stage"] == 2.0


def test_a_prompt_without_a_difficulty_is_named():
    mixed = Prompts((*RATED, Trajectory("how hard?", "", id="x")))
    with pytest.raises(DataError, match=r"sample 30 \(id 'x'\) has no difficulty .*data.difficulty_key"):
        curriculum(mixed)


def rows(*values, task=None):
    return [Trajectory(f"{at}", "", task=task, columns={"difficulty": value}) for at, value in enumerate(values)]


@pytest.mark.parametrize(
    ("values", "names"),
    [
        ((10, 2, 9), ("2", "9", "10")),
        (("hard", "easy", "medium"), ("easy", "medium", "hard")),
        (("Level 10", "Level 2"), ("Level 2", "Level 10")),
        (("b", "a"), ("a", "b")),
        (range(100), ("0–19", "20–39", "40–59", "60–79", "80–99")),
        ([0.5] * 90 + [n / 20 for n in range(20)], ("0–0.5", "0.55–0.95")),
    ],
)
def test_levels_go_from_easy_to_hard(values, names):
    levels = Levels.of(rows(*values))
    assert tuple(levels.all) == names
    assert {levels.label(row) for row in rows(*values)} == set(names)


def test_levels_carry_their_task_and_can_be_ordered_by_the_user():
    levels = Levels.of([*rows(1, 2, task="a"), *rows("x", task="b"), Trajectory("?", "", task="c")])
    assert levels.all == ["a/1", "a/2", "b/x"]
    assert levels.label(Trajectory("?", "", task="c")) is None
    assert Levels.of(rows("low", "high"), order=("low", "high")).all == ["low", "high"]


@pytest.mark.parametrize(
    ("values", "order", "said"),
    [
        (("low", "odd"), ("low", "high"), "also has the difficulty 'odd'"),
        ([f"word {n}" for n in range(11)], (), "11 different difficulties"),
        (([1],), (), "a number or a word, got"),
        ((float("nan"),), (), "a number or a word, got nan"),
    ],
)
def test_difficulties_that_make_no_levels_are_errors(values, order, said):
    with pytest.raises(DataError, match=said):
        Levels.of(rows(*values), order)
    if not order:  # a run without a curriculum trains on them all the same
        assert Levels.of_usable(rows(*values)).label(rows(*values)[0]) is None
