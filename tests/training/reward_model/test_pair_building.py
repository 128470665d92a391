"""Pairs within the groups of scored rollouts: who is compared with whom, what is left out, and that it is counted."""

import pytest

from plaudit import RewardOutput, Status, Trajectory
from plaudit.errors import InvalidSettings, RolloutsError
from plaudit.rollouts import Rollout
from plaudit.training import PairSettings, build_pairs


def scored(response, reward, *, prompt="2+2?", score=None, **fields):
    output = RewardOutput.unscored(Status.TIMEOUT, "slow") if reward is None else RewardOutput(reward, score=score)
    return Rollout(Trajectory(prompt=prompt, response=response, **fields), output)


def texts(built):
    return [(pair.chosen.response, pair.rejected.response) for pair in built.pairs]


def test_the_higher_reward_is_chosen_within_a_prompt_and_never_across_prompts():
    built = build_pairs(
        [scored("5", 0.0), scored("4", 1.0), scored("6", 1.0, prompt="3+3?"), scored("no", 0.2, prompt="3+3?")]
    )
    assert texts(built) == [("4", "5"), ("6", "no")]
    assert [pair.margin for pair in built.pairs] == [1.0, 0.8]


@pytest.mark.parametrize(
    ("other", "count"),
    [
        ({"training_step": 2}, 0),
        ({"group": "b"}, 0),
        ({"prompt": [{"role": "user", "content": "2+2?"}]}, 0),
        ({}, 1),
    ],
    ids=["other step", "other group", "other form of the prompt", "same"],
)
def test_only_responses_of_one_group_prompt_and_step_are_compared(other, count):
    first = scored("4", 1.0, group="a", training_step=1)
    second = scored("5", 0.0, **{"group": "a", "training_step": 1, **other})
    assert build_pairs([first, second]).counts.pairs == count


def test_left_out_rollouts_and_pairs_are_counted():
    rollouts = [
        scored("a", 1.0, prompt="p"), scored("b", 0.0, prompt="p"), scored("c", 0.4, prompt="p"),  # three pairs
        scored("d", None, prompt="p"), scored(" ", 1.0, prompt="p"), scored("a", 1.0, prompt="p"),
        scored("x", 0.5, prompt="tied"), scored("y", 0.5, prompt="tied"),
        scored("x", 0.5, prompt="close"), scored("y", 0.6, prompt="close"),
        scored("x", 0.5, prompt="alone"), scored("y", None, prompt="alone"),
    ]  # fmt: skip
    counts = build_pairs(rollouts, PairSettings(margin=0.3, per_group=2)).counts.to_dict()
    assert counts == {
        "samples": 12, "unscored": 2, "empty": 1, "copies": 1, "thinned": 0, "groups": 4, "single": 1, "tied": 1,
        "close": 1, "beyond": 1, "pairs": 2,
    }  # fmt: skip


def test_a_text_with_several_rewards_counts_once_with_their_mean():
    built = build_pairs([scored("noisy", 1.0), scored("noisy", 0.0), scored("steady", 0.6)])
    assert texts(built) == [("steady", "noisy")]
    assert built.pairs[0].margin == pytest.approx(0.1)


def test_the_seed_decides_which_pairs_are_kept():
    rollouts = [scored(f"answer {place}", float(place)) for place in range(12)]
    picks = [texts(build_pairs(rollouts, PairSettings(per_group=3, seed=seed))) for seed in (0, 0, 1)]
    assert picks[0] == picks[1] != picks[2]
    assert all(int(better.split()[1]) > int(worse.split()[1]) for better, worse in picks[0])


def test_a_group_of_thousands_is_thinned_and_not_compared_in_full():
    built = build_pairs([scored(f"{place}", float(place)) for place in range(5000)], PairSettings(per_group=None))
    assert built.counts.thinned == 5000 - 256
    assert built.counts.pairs == 256 * 255 // 2


def test_pairs_can_be_ordered_by_the_score():
    rollouts = [scored("long", 0.9, score=0.0), scored("right", 0.5, score=1.0), scored("style", 0.7)]
    built = build_pairs(rollouts, PairSettings(by="score"))
    assert texts(built) == [("right", "long")]
    assert built.counts.unscored == 1


def test_rows_are_of_one_kind_as_trl_wants_them():
    chat = [{"role": "user", "content": "2+2?"}]
    [text, messages] = build_pairs(
        [scored("4", 1.0, id=7), scored("5", 0.0, id=8), scored("4", 1.0, prompt=chat), scored("5", 0.0, prompt=chat)]
    ).pairs
    assert text.to_row() == {
        "prompt": "2+2?", "chosen": "4", "rejected": "5", "chosen_reward": 1.0, "rejected_reward": 0.0,
        "chosen_id": 7, "rejected_id": 8,
    }  # fmt: skip
    assert messages.to_row()["chosen"] == [{"role": "assistant", "content": "4"}]


def test_a_file_that_is_not_scored_is_an_error_with_a_remedy():
    with pytest.raises(RolloutsError, match=r"sample 0 \(id 3\) is not scored; score the file first: plaudit score"):
        build_pairs([Rollout(Trajectory(prompt="p", response="r", id=3))])


@pytest.mark.parametrize("settings", [{"margin": -1.0}, {"margin": float("nan")}, {"per_group": 0}])
def test_settings_without_meaning_are_refused(settings):
    with pytest.raises(InvalidSettings, match=next(iter(settings))):
        PairSettings(**settings)
